"""Package indexes are read from the variables and configuration files of uv and pip."""

from pathlib import Path

import pytest

from parlour.plugin_runtime.environments import index_settings
from parlour.plugin_runtime.environments.index_settings import netrc_for, without_proxies
from parlour.plugin_runtime.environments.installer import parse_index_host

PYPI = {("pypi.org", 443), ("files.pythonhosted.org", 443)}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / ".config" / "uv").mkdir(parents=True)
    (home / ".config" / "pip").mkdir()
    return home


def read(home: Path, **variables: str) -> tuple[set[Path], set[tuple[str, int]]]:
    """Returns local paths and hosts, except those in this machine's own configuration of pip."""
    own = index_settings.read({"HOME": "/no/such/home"})
    settings = index_settings.read({"HOME": str(home), **variables})
    return set(settings.paths) - set(own.paths), set(settings.hosts)


def folder(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def test_the_default_is_the_public_index(home: Path) -> None:
    assert read(home) == (set(), PYPI)


@pytest.mark.parametrize("name", ["UV_DEFAULT_INDEX", "UV_INDEX_URL"])
def test_another_default_index_replaces_the_public_one(home: Path, name: str) -> None:
    assert read(home, **{name: "https://u:p@mirror.example:8443/simple"}) == (set(), {("mirror.example", 8443)})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("UV_FIND_LINKS", "{0}"),
        ("UV_FIND_LINKS", "https://files.example/,{0}"),
        ("UV_INDEX", "ours=file://{1}"),
        ("UV_INDEX", "https://more.example/simple theirs={0}"),
        ("PIP_FIND_LINKS", "{0}"),
        ("PIP_EXTRA_INDEX_URL", "file://{1}"),
        ("UV_CONSTRAINT", "{0}/constraints.txt"),
    ],
)
def test_local_paths_in_variables_are_found(home: Path, tmp_path: Path, name: str, value: str) -> None:
    place = folder(tmp_path / ("wheels" if "theirs" in value or "{0}" not in value else "some wheels"))
    (place / "constraints.txt").touch()

    paths, _ = read(home, **{name: value.format(place, str(place).replace(" ", "%20"))})

    assert paths == {place / "constraints.txt" if "CONSTRAINT" in name else place}


def test_paths_and_hosts_in_configuration_files_are_found(home: Path, tmp_path: Path) -> None:
    wheels, more = folder(tmp_path / "wheels"), folder(home / ".config" / "uv" / "more")
    uv, pip = home / ".config" / "uv" / "uv.toml", home / ".config" / "pip" / "pip.conf"
    uv.write_text(
        f'find-links = ["{wheels}", "./more"]\nhttps-proxy = "http://proxy.example:3128"\n'
        '[[index]]\nurl = "http://ours.example/simple"\ndefault = true\n'
    )
    pip.write_text(f"[global]\nextra-index-url =\n    file://{wheels}\n    https://pips.example/simple\n")

    settings = index_settings.read({"HOME": str(home)})

    assert {uv, pip} <= set(settings.files)
    assert {wheels, more} <= set(settings.paths)
    assert set(settings.hosts) == {("ours.example", 80), ("pips.example", 443)}
    assert settings.proxies == {"https": "http://proxy.example:3128"}
    assert "proxy" not in (without_proxies(uv) or "proxy")
    assert without_proxies(pip) is None


def test_folders_beside_a_local_index_that_its_pages_link_to_are_found(home: Path, tmp_path: Path) -> None:
    index = folder(tmp_path / "mirror" / "simple")
    files = folder(tmp_path / "mirror" / "packages" / "ab" / "cd")
    (folder(index / "lodger") / "index.html").write_text(
        '<a href="../../packages/ab/cd/lodger-1.0.whl#sha256=0">1</a><a href="lodger-2.0.whl">2</a>'
        '<a href="https://cdn.example/lodger-3.0.whl">3</a>'
    )

    paths, hosts = read(home, UV_INDEX=index.as_uri())

    assert paths == {index, files.parent.parent}
    assert hosts == PYPI | {("cdn.example", 443)}


def test_write_only_folders_and_the_root_are_left_out(home: Path, tmp_path: Path) -> None:
    written = str(folder(tmp_path / "written"))

    assert read(home, UV_CACHE_DIR=written, PIP_TARGET=written, UV_TOOL_DIR=written, UV_FIND_LINKS="/") == (set(), PYPI)
    assert read(home, UV_INDEX_OURS_PASSWORD=written, UV_INDEX_OURS_USERNAME="etc", UV_INDEX="etc") == (set(), PYPI)


def test_a_damaged_configuration_file_is_ignored(home: Path) -> None:
    (home / ".config" / "uv" / "uv.toml").write_text("index = [")
    (home / ".config" / "pip" / "pip.conf").write_text("no section")

    assert read(home) == (set(), PYPI)


def test_only_logins_of_indexes_are_read_from_the_netrc_file(home: Path) -> None:
    entries = [
        "ours.example login ann password one",
        'more.example login "a b" password "c\\"d"',
        "bank login b password t",
    ]
    (home / ".netrc").write_text("".join(f"machine {entry}\n" for entry in entries))
    (home / ".netrc").chmod(0o600)

    taken = netrc_for(frozenset({("ours.example", 443), ("more.example", 80)}), {"HOME": str(home)})

    assert taken.splitlines() == [f"machine {entry}" for entry in reversed(entries[:2])]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Files.example", [("files.example", 443), ("files.example", 80)]),
        ("files.example:8080", [("files.example", 8080)]),
    ],
)
def test_a_host_in_the_setting_means_the_usual_ports_unless_it_names_one(
    written: str, meant: list[tuple[str, int]]
) -> None:
    assert parse_index_host(written) == meant
