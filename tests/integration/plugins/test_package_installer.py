"""Tests the package installer in its sandbox: which files a package's build sees and which hosts it reaches."""

import asyncio
import base64
import contextlib
import functools
import json
import os
import stat
import sys
import tarfile
import threading
import zipfile
from collections.abc import AsyncIterator, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from parlour.plugin_runtime.environments.environment import MARKER, EnvironmentFailed, EnvironmentRules, Environments
from parlour.plugin_runtime.packages.requirements import Requirements
from tests.support.wheels import write_wheel

REQUIREMENTS = Requirements(("lodger",))
BACKEND = """\
import json, os, socket, urllib.request, zipfile
from glob import glob

WHEEL = "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"

def attempt(work):
    try:
        return work()
    except Exception as error:
        return type(error).__name__

def spy():
    staging = os.path.dirname(os.environ["UV_CACHE_DIR"])
    fresh = os.path.join(staging, "environment")
    proxy = urllib.request.ProxyHandler({"http": os.environ["HTTP_PROXY"]})
    asked = urllib.request.build_opener(proxy).open
    facts = {
        "secret": attempt(lambda: open(@SECRET@).read()),
        "data": attempt(lambda: sorted(os.listdir(@DATA@))),
        "environments": attempt(lambda: [n for n in os.listdir(os.path.dirname(staging)) if n[0] != "."]),
        "written": attempt(lambda: open(@VICTIM@ + ".new", "w").close()),
        "connected": attempt(lambda: socket.create_connection(("127.0.0.1", @PORT@), 5).close()),
        "proxied": attempt(lambda: asked("http://127.0.0.1:@PORT@/").status),
        "environment": sorted(n for n in os.environ if n.startswith("PARLOUR")),
    }
    @DEED@
    return facts

def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = "lodger-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as packed:
        packed.writestr("lodger.json", json.dumps(spy()))
        packed.writestr("lodger-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: lodger\\nVersion: 1.0\\n")
        packed.writestr("lodger-1.0.dist-info/WHEEL", WHEEL)
        packed.writestr("lodger-1.0.dist-info/RECORD", "")
    return name
"""
PYPROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
PYPROJECT += '[project]\nname = "lodger"\nversion = "1.0"\n'


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Creates a data directory with a secret."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "secret.key").write_text("the key of all secrets")
    (data / "environments").mkdir()
    (data / "environments" / "neighbour").mkdir()
    return data


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[ThreadingHTTPServer]:
    """Runs an HTTP server on loopback that serves a folder. `paths` are the requested ones."""
    (tmp_path / "served").mkdir()
    with serving(tmp_path / "served") as server:
        yield server


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[ThreadingHTTPServer]:
    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *arguments: Any) -> None:
            paths.append(self.path)

    paths: list[str] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder))) as server:
        server.paths = paths  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
    thread.join(5)


def write_source(folder: Path, deed: str = "pass", **places: object) -> Path:
    """Writes a source distribution whose build looks around, runs code and puts its findings into the wheel."""
    backend = BACKEND.replace("@DEED@", deed)
    for name, value in places.items():
        backend = backend.replace(f"@{name.upper()}@", repr(value) if isinstance(value, str) else str(value))
    inside = folder / "lodger-1.0"
    inside.mkdir(parents=True)
    (inside / "backend.py").write_text(backend)
    (inside / "pyproject.toml").write_text(PYPROJECT)
    (inside / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: lodger\nVersion: 1.0\n")
    packed = folder / "lodger-1.0.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(inside, "lodger-1.0")
    return packed


def environments(data: Path, **rules: Any) -> Environments:
    return Environments(data / "environments", EnvironmentRules(sandbox="required", hidden=(data,), **rules))


def site_packages(python: Path) -> Path:
    [folder] = (python.parent.parent / "lib").glob("python*/site-packages")
    return folder


def port_of(server: ThreadingHTTPServer) -> int:
    return int(server.server_address[1])


async def test_a_packages_build_sees_no_secret_and_no_network_and_writes_nothing_outside(
    data: Path, tmp_path: Path, elsewhere: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    places = {"secret": str(data / "secret.key"), "data": str(data), "victim": str(victim), "port": port_of(elsewhere)}
    link = f"os.symlink({str(victim)!r}, os.path.join(fresh, {MARKER!r}))"
    write_source(tmp_path / "sources", link, **places)
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / "sources"))
    monkeypatch.setenv("PARLOUR__SECRET", "secret")

    python = await environments(data, allow_building=True).ensure_environment(REQUIREMENTS)

    assert json.loads((site_packages(python) / "lodger.json").read_text()) == {
        "secret": "FileNotFoundError",
        "data": ["environments"],
        "environments": [],
        "written": None,  # to a temporary folder that belongs to the sandbox
        "connected": "ConnectionRefusedError",
        "proxied": "HTTPError",
        "environment": [],
    }
    assert victim.read_text() == "untouched"
    assert not victim.with_name("victim.new").exists()
    assert not (python.parent.parent / MARKER).is_symlink()
    assert elsewhere.paths == []  # type: ignore[attr-defined]
    assert not (data / "environments" / ".cache").exists()


async def test_a_build_that_puts_a_link_in_place_of_the_packages_folder_is_refused(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = "[folder] = glob(fresh + '/lib/python*/site-packages'); "
    link += "os.rename(folder, folder + '.away'); os.symlink(folder + '.away', folder)"
    places = {"secret": "", "data": "", "victim": str(tmp_path / "no" / "victim"), "port": 1}
    write_source(tmp_path / "sources", link, **places)
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / "sources"))

    with pytest.raises(EnvironmentFailed, match="site-packages is no folder of its own"):
        await environments(data, allow_building=True).ensure_environment(REQUIREMENTS)


async def test_without_a_sandbox_no_package_is_built_even_if_building_is_allowed(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_source(tmp_path / "sources", secret="", data="", victim="", port=1)
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / "sources"))
    unboxed = Environments(data / "environments", EnvironmentRules(sandbox="off", allow_building=True))

    with pytest.raises(EnvironmentFailed, match=r"'lodger' can't be installed.*there is no sandbox to do it in"):
        await unboxed.ensure_environment(REQUIREMENTS)


@pytest.mark.parametrize("sandbox", ["required", "off"])
@pytest.mark.parametrize(
    "setting",
    ['[pip]\nno-binary = ["lodger"]', 'no-binary-package = ["lodger"]', '[pip]\nonly-binary = [":none:"]'],
)
async def test_a_configuration_that_makes_uv_build_is_refused_while_building_is_off(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, sandbox: Any
) -> None:
    """A setting that names packages makes uv ignore the option to install wheels only for them."""
    ran = data / "environments" / ".cache" / "ran"
    write_source(tmp_path / "sources", secret="", data="", victim=str(ran), port=1)
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / "sources"))
    (tmp_path / "uv.toml").write_text(setting + "\n")
    monkeypatch.setenv("UV_CONFIG_FILE", str(tmp_path / "uv.toml"))
    rules = EnvironmentRules(sandbox=sandbox, hidden=(data,))

    with pytest.raises(EnvironmentFailed, match=r"binary.* in .*uv\.toml makes uv build packages from source"):
        await Environments(data / "environments", rules).ensure_environment(REQUIREMENTS)

    assert not list(ran.parent.glob("sdists*"))


@pytest.mark.parametrize(
    "member",
    [
        "../../../../../../victim",
        "{tmp}/victim",
        f"lodger-1.0.data/data/{MARKER}",
        "lodger-1.0.data/data/pyvenv.cfg",
        "lodger-1.0.data/scripts/python",
        "link to the secret",
    ],
)
async def test_a_wheel_with_hostile_members_reads_and_changes_no_file_outside(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, member: str
) -> None:
    """Installs or refuses the wheel; uv decides which of the two."""
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    member = member.format(tmp=tmp_path)
    wheel = write_wheel(tmp_path / "wheels", "lodger", {member: str(data / "secret.key")})
    if member.startswith("link"):
        make_link(wheel, member)
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / "wheels"))

    with contextlib.suppress(EnvironmentFailed):
        python = await environments(data).ensure_environment(REQUIREMENTS)
        assert leads_to_our_python(python)
        assert json.loads((python.parent.parent / MARKER).read_text())["requirements"] == ["lodger"]
        found = site_packages(python) / member
        assert not found.is_symlink()

    assert victim.read_text() == "untouched"
    assert (data / "secret.key").read_text() == "the key of all secrets"


def leads_to_our_python(python: Path) -> bool:
    return os.path.realpath(python) == os.path.realpath(sys.executable)


def make_link(wheel: Path, member: str) -> None:
    """Marks the member as a symbolic link to the path in its content."""
    with zipfile.ZipFile(wheel) as packed:
        content = {each.filename: packed.read(each) for each in packed.infolist()}
    with zipfile.ZipFile(wheel, "w") as packed:
        for name, written in content.items():
            entry = zipfile.ZipInfo(name)
            entry.create_system = 3
            entry.external_attr = (stat.S_IFLNK | 0o777 if name == member else stat.S_IFREG | 0o644) << 16
            packed.writestr(entry, written)


async def test_an_index_in_the_data_directory_is_hidden_and_logged(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_wheel(data / "wheels", "lodger", {"lodger.py": ""})
    monkeypatch.setenv("UV_FIND_LINKS", str(data / "wheels"))
    said: list[str] = []

    with pytest.raises(EnvironmentFailed):
        await environments(data).ensure_environment(REQUIREMENTS, said.append)

    assert any(f"{data / 'wheels'} lies in the data directory" in line for line in said)


async def test_nothing_is_installed_if_a_required_sandbox_is_missing(data: Path) -> None:
    rules = EnvironmentRules(sandbox="required", bubblewrap=Path("/no/such/bwrap"))

    with pytest.raises(EnvironmentFailed, match=r"in a sandbox only, and the setting plugins\.bubblewrap names"):
        await Environments(data / "environments", rules).ensure_environment(REQUIREMENTS)


async def test_an_index_on_loopback_is_reached_and_its_file_host_if_index_hosts_lists_it(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: ThreadingHTTPServer
) -> None:
    wheel = write_wheel(tmp_path / "served", "lodger", {"lodger.py": "WORD = 'from elsewhere'\n"})
    files = f"localhost:{port_of(elsewhere)}"
    page = tmp_path / "index" / "simple" / "lodger" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text(f'<!DOCTYPE html><html><body><a href="http://{files}/{wheel.name}">{wheel.name}</a></body></html>')
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    with serving(tmp_path / "index") as index:
        monkeypatch.setenv("UV_INDEX", f"http://127.0.0.1:{port_of(index)}/simple")

        with pytest.raises(EnvironmentFailed, match=rf"{files} is none of the package indexes.*plugins\.index_hosts"):
            await environments(data).ensure_environment(REQUIREMENTS)
        assert elsewhere.paths == []  # type: ignore[attr-defined]

        python = await environments(data, index_hosts=(files,)).ensure_environment(REQUIREMENTS)

    assert (site_packages(python) / "lodger.py").read_text() == "WORD = 'from elsewhere'\n"


async def test_a_configured_proxy_on_loopback_is_used_with_its_login(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads: list[bytes] = []
    async with forwarding(heads) as port:
        monkeypatch.setenv("HTTPS_PROXY", f"http://ann:p%40ss@127.0.0.1:{port}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)

        await environments(data).ensure_environment(Requirements(("six==1.17.0",)))

    login = base64.b64encode(b"ann:p@ss")
    targets = {head.split(b" ")[1] for head in heads}
    assert targets == {b"pypi.org:443", b"files.pythonhosted.org:443"}
    assert all(b"Proxy-Authorization: Basic " + login in head for head in heads)


@contextlib.asynccontextmanager
async def forwarding(heads: list[bytes]) -> AsyncIterator[int]:
    """Runs a proxy for HTTPS that records the heads of its requests."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        heads.append(head)
        host, _, port = head.split(b" ")[1].decode().rpartition(":")
        upstream = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(pump(reader, upstream[1]), pump(upstream[0], writer))

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while chunk := await reader.read(65536):
                writer.write(chunk)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield int(server.sockets[0].getsockname()[1])
