"""Installing a plugin: validated first, then there wholly or not at all."""

import os
from pathlib import Path

import pytest

from parlour.runtime.folder import PluginFolder
from parlour_sdk.plugin import PluginInvalid

RUNNER = """
apiVersion: parlour/v1
kind: AgentRunner
metadata: {name: default}
execution: {python: {path: runner.py, attr: Runner}}
"""


def write_plugin(folder: Path, author: str = "acme", name: str = "hello", version: str = "1.0") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.yaml").write_text(
        f"apiVersion: parlour/v1\nkind: Plugin\n"
        f"metadata: {{author: '{author}', name: '{name}', version: '{version}'}}\n"
        f"spec: {{components: [runner.yaml]}}\n"
    )
    (folder / "runner.yaml").write_text(RUNNER)
    (folder / "runner.py").write_text(f"VERSION = {version!r}\n")
    return folder


@pytest.fixture
def plugins(tmp_path: Path) -> PluginFolder:
    return PluginFolder(tmp_path / "plugins")


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_an_installed_plugin_is_found_by_its_identity(plugins: PluginFolder, tmp_path: Path) -> None:
    assert plugins.installed() == {}
    plugins.install(write_plugin(tmp_path / "source"))
    [found] = plugins.installed().values()
    assert (found.plugin_id, found.version) == ("acme/hello", "1.0")
    assert names(found.folder) == {"manifest.yaml", "runner.yaml", "runner.py"}


@pytest.mark.parametrize("name", ["hello", "old", "new"])
def test_a_new_version_replaces_the_old_one_wholly(plugins: PluginFolder, tmp_path: Path, name: str) -> None:
    source = write_plugin(tmp_path / "source", name=name)
    (source / "gone.txt").write_text("was here")
    plugins.install(source)
    before = plugins.installed()[f"acme/{name}"]
    (source / "gone.txt").unlink()
    plugins.install(write_plugin(source, name=name, version="2.0"))
    after = plugins.installed()[f"acme/{name}"]
    assert after.version == "2.0"
    assert after.stamp != before.stamp
    assert names(tmp_path / "plugins") == {
        "acme",
        f"acme/{name}",
        *(f"acme/{name}/{file}" for file in ("manifest.yaml", "runner.yaml", "runner.py")),
    }


def test_what_belongs_to_a_workshop_is_left_behind(plugins: PluginFolder, tmp_path: Path) -> None:
    source = write_plugin(tmp_path / "source")
    for waste in ("__pycache__", ".git", ".venv"):
        (source / waste).mkdir()
        (source / waste / "x").write_text("")
    plugins.install(source)
    assert names(tmp_path / "plugins" / "acme" / "hello") == {"manifest.yaml", "runner.yaml", "runner.py"}


@pytest.mark.parametrize("part", ["..", ".hidden", "a/b", "", "a b", "a\\b", "na\u0000me"])
@pytest.mark.parametrize("field", ["author", "name"])
def test_an_identity_that_could_leave_its_folder_is_refused(
    plugins: PluginFolder, tmp_path: Path, field: str, part: str
) -> None:
    identity = {"author": "acme", "name": "hello", field: part.replace("\0", "\\0")}
    with pytest.raises(PluginInvalid):
        plugins.install(write_plugin(tmp_path / "source", **identity))
    assert not (tmp_path / "plugins").exists() or names(tmp_path / "plugins") == set()


def test_an_invalid_plugin_changes_nothing(plugins: PluginFolder, tmp_path: Path) -> None:
    source = write_plugin(tmp_path / "source")
    plugins.install(source)
    before = plugins.installed()
    (source / "runner.yaml").write_text("kind: Nonsense")
    with pytest.raises(PluginInvalid):
        plugins.install(source)
    assert plugins.installed() == before


def test_a_copy_that_fails_changes_nothing(plugins: PluginFolder, tmp_path: Path) -> None:
    source = write_plugin(tmp_path / "source")
    plugins.install(source)
    before = plugins.installed()
    (source / "dangling").symlink_to("nowhere")
    with pytest.raises(OSError, match=r"nowhere|dangling"):
        plugins.install(source)
    assert plugins.installed() == before
    assert [path.name for path in (tmp_path / "plugins" / "acme").iterdir()] == ["hello"]


def test_a_swap_that_fails_half_way_keeps_the_old_one(
    plugins: PluginFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_plugin(tmp_path / "source")
    plugins.install(source)
    before = plugins.installed()
    rename, seen = os.rename, []

    def failing(old: Path, new: Path) -> None:
        seen.append(old)
        if len(seen) == 2:
            raise OSError("the disk is full")
        rename(old, new)

    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(OSError, match="the disk is full"):
        plugins.install(write_plugin(source, version="2.0"))
    assert plugins.installed() == before
    assert [path.name for path in (tmp_path / "plugins" / "acme").iterdir()] == ["hello"]


def test_a_plugin_that_was_spoiled_after_its_installation_is_found_without_a_version(
    plugins: PluginFolder, tmp_path: Path
) -> None:
    plugins.install(write_plugin(tmp_path / "source"))
    (tmp_path / "plugins" / "acme" / "hello" / "manifest.yaml").write_text("]")
    assert plugins.installed()["acme/hello"].version == ""
