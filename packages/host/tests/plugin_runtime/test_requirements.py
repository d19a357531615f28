"""Requirements files: packages by name and nothing else."""

from pathlib import Path

import pytest

from parlour.plugin_runtime.packages.requirements import MAX_FILE_BYTES, Requirements, read_requirements
from parlour_sdk.plugin import PluginInvalid, read_plugin

from .plugin_files import write_plugin


def read(folder: Path, text: str) -> Requirements:
    return read_requirements(read_plugin(write_plugin(folder, requirements=text)))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", ()),
        ("# nothing\n\n   # at all\n", ()),
        ("six\n", ("six",)),
        ("six  >=1.0   # why\r\nhttpx\n", ("httpx", "six >=1.0")),
        ("six\nsix\n", ("six",)),
        ("six \\\n  --hash=sha256:abc\n", ("six --hash=sha256:abc",)),
        ("six \\\n", ("six",)),
        ("httpx[http2]>=0.28 ; python_version >= '3.11'\n", ("httpx[http2]>=0.28 ; python_version >= '3.11'",)),
        ("six (>=1.0, !=1.5.*)\n", ("six (>=1.0, !=1.5.*)",)),
        ("a.b-c_d [x, y] ~=1!2.0+local ; os_name == 'posix'\n", ("a.b-c_d [x, y] ~=1!2.0+local ; os_name == 'posix'",)),
    ],
)
def test_comments_order_and_repeats_make_no_difference(tmp_path: Path, text: str, lines: tuple[str, ...]) -> None:
    assert read(tmp_path, text).lines == lines


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("-r other.txt", "an option"),
        ("-e .", "an option"),
        ("--index-url https://evil.example", "an option"),
        ("six --index-url=https://evil.example", "an option"),
        ("six ; os_name == 'posix' --no-binary", "an option"),
        ("six --hash=sha256:abc -i evil", "an option"),
        ("six @ http://127.0.0.1:21901/six.whl", "an address"),
        ("six@http://127.0.0.1:21901/six.whl", "an address"),
        ("six[extra] @ git+https://example.org/six.git@main", "an address"),
        ("six @ https://example.org/six-1.0-py3-none-any.whl ; os_name == 'posix'", "an address"),
        ("six @ file:///tmp/six.whl", "an address"),
        ("six @ ${HOME}/six.whl", "an address"),
        ("https://example.org/x.whl", "an address"),
        ("git+ssh://example.org/x", "an address"),
        ("./local.whl", "a path"),
        ("/abs/local.whl", "a path"),
        ("../x", "a path"),
        ("a/b.whl", "a path"),
        ("a\\\\b", "a path"),
        ("local-1.0-py3-none-any.whl", "a path"),
        ("[extra]", "not a package's name"),
        ("=1.0", "not a package's name"),
        ("six 1.0", "not a package's name"),
        ("${NAME}", "not a package's name"),
        (".", "not a package's name"),
    ],
)
def test_a_line_that_is_not_a_package_is_refused_with_its_number_and_the_remedy(
    tmp_path: Path, line: str, what: str
) -> None:
    with pytest.raises(
        PluginInvalid, match=rf"requirements\.txt, line 2: .* {what}; list packages by name only, such as"
    ):
        read(tmp_path, f"six\n{line}\n")


def test_a_plugin_that_names_no_file_requires_nothing(tmp_path: Path) -> None:
    assert read_requirements(read_plugin(write_plugin(tmp_path))) == Requirements()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    plugin = read_plugin(write_plugin(tmp_path, requirements="six"))
    (tmp_path / "requirements.txt").unlink()

    with pytest.raises(PluginInvalid, match=r"requirements\.txt, which can't be read"):
        read_requirements(plugin)


def test_a_file_outside_the_plugin_is_refused(tmp_path: Path) -> None:
    write_plugin(tmp_path / "plugin", requirements="six")
    (tmp_path / "plugin" / "requirements.txt").unlink()
    (tmp_path / "elsewhere.txt").write_text("six")
    (tmp_path / "plugin" / "requirements.txt").symlink_to(tmp_path / "elsewhere.txt")

    with pytest.raises(PluginInvalid, match="leaves the plugin's folder"):
        read_requirements(read_plugin(tmp_path / "plugin"))


@pytest.mark.parametrize("content", [b"\xff\xfe", b"#" * (MAX_FILE_BYTES + 1)])
def test_a_file_that_is_not_a_list_of_packages_is_refused(tmp_path: Path, content: bytes) -> None:
    write_plugin(tmp_path, requirements="")
    (tmp_path / "requirements.txt").write_bytes(content)

    with pytest.raises(PluginInvalid, match=r"^requirements\.txt"):
        read_requirements(read_plugin(tmp_path))


def test_the_requirement_in_a_message_is_found_in_every_spelling_of_its_name() -> None:
    requirements = Requirements(("Some_Package>=1", "six"))

    assert requirements.find_in("because some-package has no version") == "Some_Package>=1"
    assert requirements.find_in("because nothing fits") == ""
