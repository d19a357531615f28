"""Preparation of a plugin's start, and the reason if it fails."""

from pathlib import Path

import pytest

from parlour.plugin_runtime.environments.build_tracker import BuildTracker
from parlour.plugin_runtime.environments.environment import EnvironmentRules, Environments
from parlour.plugin_runtime.start_preparation import StartPreparer
from parlour.plugin_runtime.store import InstalledVersion, PluginStore

from .plugin_files import write_plugin


async def test_a_data_folder_that_can_not_be_created_is_reported_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    builds = BuildTracker(Environments(tmp_path / "environments", EnvironmentRules()))
    prepare = StartPreparer(PluginStore(tmp_path / "plugins"), builds, tmp_path / "data")

    with pytest.raises(
        OSError, match=r"^its data folder can't be made: Not a directory; let the user that runs Parlour"
    ):
        await prepare(InstalledVersion("acme/hello", "1.0", write_plugin(tmp_path / "code"), 1))
