"""Prepares the start of a plugin's process: its data folder, its environment and its granted permissions."""

from pathlib import Path

from parlour_sdk.plugin import PluginInvalid

from . import disk_errors
from .environments.build_tracker import BuildTracker
from .environments.environment import EnvironmentFailed
from .install_hints import with_hint
from .packages.requirements import Requirements, read_requirements
from .process.launcher import LaunchSpec
from .store import InstalledVersion, PluginStore


class StartPreparer:
    def __init__(self, folder: PluginStore, builds: BuildTracker, data: Path) -> None:
        self._store = folder
        self._builds = builds
        self._data = data

    async def __call__(self, plugin: InstalledVersion) -> LaunchSpec:
        """Returns what the launcher needs. Raises OSError with a readable message if something can't be created."""
        data = self._data / plugin.plugin_id
        try:
            data.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OSError(disk_errors.disk_error(error, "its data folder can't be made").message) from error
        requirements = self._requirements(plugin)
        try:
            python = await self._builds.ensure_environment(plugin.plugin_id, requirements)
        except EnvironmentFailed as error:
            raise EnvironmentFailed(with_hint(error, self._builds.lines(plugin.plugin_id))) from error
        return LaunchSpec(plugin.plugin_id, plugin.folder, data, python, plugin.limits, tuple(plugin.granted.network))

    def _requirements(self, plugin: InstalledVersion) -> Requirements:
        loaded = self._store.load_plugin(plugin.folder)
        try:
            return read_requirements(loaded) if loaded else Requirements()
        except PluginInvalid as error:
            raise EnvironmentFailed(str(error)) from error
