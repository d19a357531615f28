"""Plugins of the first release, whose code was stored at the path of today's record, are imported."""

import shutil
from pathlib import Path

from parlour.plugin_runtime import legacy_import
from parlour.plugin_runtime.store import PluginStore

ECHO = Path(__file__).parents[4] / "plugins" / "echo-agent"


def test_a_plugin_of_the_first_release_is_imported_once_with_its_code(tmp_path: Path) -> None:
    shutil.copytree(ECHO, tmp_path / "parlour" / "echo-agent", ignore=shutil.ignore_patterns("tests", "__pycache__"))
    folder = PluginStore(tmp_path)
    legacy_import.import_v01_plugins(tmp_path, folder, 5)
    legacy_import.import_v01_plugins(tmp_path, folder, 6)
    folder.delete_unused()
    installed = folder.all_desired()["parlour/echo-agent"]
    assert installed.stamp == 5
    assert (installed.folder / "components/runners/default.py").is_file()
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".earlier")] == []


def test_an_unreadable_plugin_is_left_unchanged(tmp_path: Path) -> None:
    broken = tmp_path / "acme" / "broken" / "manifest.yaml"
    broken.parent.mkdir(parents=True)
    broken.write_text("[")
    legacy_import.import_v01_plugins(tmp_path, PluginStore(tmp_path), 5)
    assert broken.read_text() == "["
