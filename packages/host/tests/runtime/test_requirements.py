"""Requirements files: packages by name and nothing else."""

from pathlib import Path

import pytest

from parlour.runtime.packages.requirements import MOST_BYTES, Requirements, read_requirements
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
        (
            "six @ https://example.org/six-1.0-py3-none-any.whl#x\n",
            ("six @ https://example.org/six-1.0-py3-none-any.whl#x",),
        ),
    ],
)
def test_comments_order_and_repeats_make_no_difference(tmp_path: Path, text: str, lines: tuple[str, ...]) -> None:
    assert read(tmp_path, text).lines == lines


@pytest.mark.parametrize(
    "line",
    [
        "-r other.txt",
        "-e .",
        "--index-url https://evil.example",
        "./local.whl",
        "/abs/local.whl",
        "../x",
        "a/b.whl",
        "six @ file:///tmp/six.whl",
        "https://example.org/x.whl",
        "[extra]",
        "=1.0",
    ],
)
def test_what_is_no_package_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    with pytest.raises(PluginInvalid, match=r"requirements\.txt, line 2"):
        read(tmp_path, f"six\n{line}\n")


def test_a_plugin_that_names_no_file_requires_nothing(tmp_path: Path) -> None:
    assert read_requirements(read_plugin(write_plugin(tmp_path))) == Requirements()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
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


@pytest.mark.parametrize("content", [b"\xff\xfe", b"#" * (MOST_BYTES + 1)])
def test_a_file_that_is_no_list_of_packages_is_refused(tmp_path: Path, content: bytes) -> None:
    write_plugin(tmp_path, requirements="")
    (tmp_path / "requirements.txt").write_bytes(content)

    with pytest.raises(PluginInvalid, match=r"^requirements\.txt"):
        read_requirements(read_plugin(tmp_path))


def test_the_requirement_that_a_message_is_about_is_found_however_its_name_is_spelled() -> None:
    requirements = Requirements(("Some_Package>=1", "six"))

    assert requirements.named_in("because some-package has no version") == "Some_Package>=1"
    assert requirements.named_in("because nothing fits") == ""
