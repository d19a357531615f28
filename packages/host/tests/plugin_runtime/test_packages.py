"""A folder or a zip becomes a checked plugin or is refused with a reason."""

import builtins
import errno
import io
import os
from pathlib import Path
from typing import Any

import pytest

from parlour.plugin_runtime.packages import file_tree
from parlour.plugin_runtime.packages.archive import SizeLimits
from parlour_sdk.plugin import PluginInvalid

from .plugin_files import deep, load, names, write_plugin, write_zip

ONE_FILE = """
from parlour_sdk import plugin, tool

plugin("acme/hello", version="1.0", requirements=["six"])


@tool
async def greet(name: str) -> str:
    \"\"\"Greets somebody.\"\"\"
    return f"Hello {name}"
"""
FILES = {"manifest.yaml", "runner.yaml", "runner.py"}


async def test_a_folder_is_copied_without_development_files(tmp_path: Path, staging: Path) -> None:
    source = write_plugin(tmp_path / "source")
    for waste in ("__pycache__", ".git", ".venv", "tests"):
        (source / waste).mkdir()
        (source / waste / "x").write_text("")

    package = await load(source, staging)

    assert (package.plugin_id, package.version, package.source) == ("acme/hello", "1.0", str(source))
    assert names(package.plugin.folder) == FILES


@pytest.mark.parametrize("inside", ["", "hello-1.0/"])
async def test_a_zip_may_have_the_plugin_at_its_top_or_in_a_folder(tmp_path: Path, staging: Path, inside: str) -> None:
    file = write_zip(tmp_path / "hello.zip", write_plugin(tmp_path / "source"), inside)

    package = await load(file, staging)

    assert (package.plugin_id, package.source) == ("acme/hello", str(file))
    assert names(package.plugin.folder) == FILES


async def test_a_plugin_of_one_file_becomes_a_folder(tmp_path: Path, staging: Path) -> None:
    file = tmp_path / "hello.py"
    file.write_text(ONE_FILE)

    package = await load(file, staging)

    assert (package.plugin_id, package.version, package.source) == ("acme/hello", "1.0", str(file))
    assert package.requirements.lines == ("six",)
    assert names(package.plugin.folder) == {"manifest.yaml", "main.py", "requirements.txt"}


async def test_an_unknown_key_is_a_warning(tmp_path: Path, staging: Path) -> None:
    source = write_plugin(tmp_path / "source")
    with (source / "manifest.yaml").open("a") as manifest:
        manifest.write("colour: red\n")

    [warning] = (await load(source, staging)).warnings

    assert warning.startswith("manifest.yaml")
    assert "colour" in warning


async def test_the_same_plugin_has_the_same_digest_from_every_source(tmp_path: Path, staging: Path) -> None:
    source = write_plugin(tmp_path / "source")
    file = write_zip(tmp_path / "hello.zip", source, "top/")
    (staging / "1").mkdir()
    (staging / "2").mkdir()
    (staging / "3").mkdir()

    from_folder = await load(source, staging / "1")
    from_zip = await load(file, staging / "2")
    (source / "runner.py").write_text("VERSION = 'other'\n")
    changed = await load(source, staging / "3")

    assert from_folder.sha256 == from_zip.sha256 != changed.sha256


async def test_a_missing_source_is_refused_with_the_accepted_forms(tmp_path: Path, staging: Path) -> None:
    with pytest.raises(PluginInvalid, match=r"nowhere is not there; name a folder, .* or a git address"):
        await load(tmp_path / "nowhere", staging)


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("~nobody-of-that-name/plugin", "names a user who is not there; write the whole path"),
        ("/plug\0in", "has a character that no path and no address may have"),
        ("git+https://example.org/\0", "has a character that no path and no address may have"),
    ],
)
async def test_an_invalid_source_is_refused_with_a_reason(staging: Path, source: str, named: str) -> None:
    with pytest.raises(PluginInvalid, match=named):
        await load(source, staging)


@pytest.mark.parametrize("kind", ["folder", "zip"])
async def test_an_unreadable_file_is_named_with_the_remedy(
    tmp_path: Path, staging: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_plugin(tmp_path / "source")
    source = write_zip(tmp_path / "source.zip", source) if kind == "zip" else source
    closed = source if kind == "zip" else source / "runner.py"

    def opened(
        path: object, *arguments: object, **options: object
    ) -> Any:  # root may read everything, so the error is simulated
        if str(path) == str(closed):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return open_file(path, *arguments, **options)

    open_file: Any = io.open
    monkeypatch.setattr(io, "open", opened)
    monkeypatch.setattr(builtins, "open", opened)
    with pytest.raises(PluginInvalid, match=f"{closed} can't be read: Permission denied; let the user that runs"):
        await load(source, staging)


async def test_an_identity_that_is_too_long_for_a_file_is_refused(tmp_path: Path, staging: Path) -> None:
    with pytest.raises(PluginInvalid, match=r"can't be part of a plugin's identity; .* at most 100 and 200 bytes"):
        await load(write_plugin(tmp_path / "source", name="\u540d" * 70), staging)


async def test_a_file_that_is_not_a_zip_is_refused(tmp_path: Path, staging: Path) -> None:
    (tmp_path / "file.txt").write_text("hello")

    with pytest.raises(PluginInvalid, match="neither a folder nor a zip"):
        await load(tmp_path / "file.txt", staging)


async def test_a_zip_without_a_manifest_is_refused(tmp_path: Path, staging: Path) -> None:
    source = write_plugin(tmp_path / "source")
    (source / "manifest.yaml").unlink()

    with pytest.raises(PluginInvalid, match=r"no manifest\.yaml"):
        await load(write_zip(tmp_path / "x.zip", source), staging)


async def test_a_problem_in_a_zip_is_named_by_its_path_in_the_zip(tmp_path: Path, staging: Path) -> None:
    source = write_plugin(tmp_path / "source")
    (source / "runner.yaml").write_text("kind: Nonsense")

    with pytest.raises(PluginInvalid, match=r"^runner\.yaml"):
        await load(write_zip(tmp_path / "x.zip", source), staging)


async def test_invalid_requirements_are_refused_before_anything_is_built(tmp_path: Path, staging: Path) -> None:
    with pytest.raises(PluginInvalid, match=r"requirements\.txt, line 1"):
        await load(write_plugin(tmp_path / "source", requirements="-r more.txt"), staging)


@pytest.mark.parametrize("target", ["/etc/passwd", "nowhere", "runner.py"])
async def test_a_link_in_a_folder_is_refused(tmp_path: Path, staging: Path, target: str) -> None:
    source = write_plugin(tmp_path / "source")
    (source / "link").symlink_to(target)

    with pytest.raises(PluginInvalid, match="link"):
        await load(source, staging)


@pytest.mark.parametrize(("limits", "named"), [(SizeLimits(files=2), "2 files"), (SizeLimits(bytes=200), "200 bytes")])
async def test_a_folder_over_the_limits_is_refused(
    tmp_path: Path, staging: Path, limits: SizeLimits, named: str
) -> None:
    with pytest.raises(PluginInvalid, match=named):
        await load(write_plugin(tmp_path / "source"), staging, sizes=limits)


async def test_a_folder_that_is_too_deep_is_refused_with_a_reason(tmp_path: Path, staging: Path) -> None:
    source = write_plugin(tmp_path / "source")
    deep(source, 1200)

    with pytest.raises(PluginInvalid, match="lies too deep: a path may have 1000 bytes; move it up"):
        await load(source, staging)

    file_tree.delete(source)
    assert not source.exists()


def test_an_unreadable_folder_and_a_link_are_deleted_without_the_target_of_the_link(tmp_path: Path) -> None:
    beyond = tmp_path / "beyond"
    beyond.mkdir()
    (beyond / "file.txt").write_text("not mine")
    closed = tmp_path / "closed"
    (closed / "inner").mkdir(parents=True)
    (closed / "inner" / "link").symlink_to(beyond)
    (closed / "inner").chmod(0)
    (tmp_path / "link").symlink_to(beyond)

    for name in ("closed", "link", "not there"):
        file_tree.delete(tmp_path / name)

    assert [path.name for path in tmp_path.iterdir()] == ["beyond"]
    assert (beyond / "file.txt").read_text() == "not mine"


async def test_a_fairly_deep_folder_is_accepted(tmp_path: Path, staging: Path) -> None:
    source = write_plugin(tmp_path / "source")
    deep(source, 400)

    package = await load(source, staging)

    assert (package.plugin.folder / "/".join(["d"] * 401) / "file.txt").read_text() == "deep"


async def test_folders_count_as_files(tmp_path: Path, staging: Path) -> None:
    source = write_plugin(tmp_path / "source")
    for number in range(10):
        (source / f"empty{number}").mkdir()

    with pytest.raises(PluginInvalid, match="more than 10 files and folders"):
        await load(source, staging, sizes=SizeLimits(files=10))


async def test_a_plugin_folder_that_contains_the_data_directory_is_refused_with_a_reason(tmp_path: Path) -> None:
    source = write_plugin(tmp_path / "source")
    staging = source / "data" / "plugins" / ".staging" / "x"
    staging.mkdir(parents=True)

    with pytest.raises(PluginInvalid, match=r"the data directory lies in the plugin's folder .*: choose another one"):
        await load(source, staging)

    assert names(staging) == set()


async def test_a_data_directory_in_an_excluded_folder_is_accepted(tmp_path: Path) -> None:
    source = write_plugin(tmp_path / "source")
    staging = source / ".venv" / "data" / "staging"
    staging.mkdir(parents=True)

    assert names((await load(source, staging)).plugin.folder) == FILES


@pytest.mark.parametrize("version", ["", "1" * 5000, "1.0\\n2"])
async def test_a_version_of_invalid_length_is_refused(tmp_path: Path, staging: Path, version: str) -> None:
    source = write_plugin(tmp_path / "source")
    manifest = (source / "manifest.yaml").read_text()
    (source / "manifest.yaml").write_text(manifest.replace("version: '1.0'", f'version: "{version}"'))

    with pytest.raises(PluginInvalid, match=r"metadata\.version has \d+ characters; use 1 to 100"):
        await load(source, staging)
