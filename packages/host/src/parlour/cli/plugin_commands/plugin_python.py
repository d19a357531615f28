"""Chooses the Python that runs a plugin for its author, in an environment that is built like the Host's."""

import asyncio
import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from parlour.app.installation import environment_rules
from parlour.app.settings import HostSettings
from parlour.plugin_runtime.environments.environment import EnvironmentFailed, Environments
from parlour.plugin_runtime.packages.requirements import Requirements, read_requirements
from parlour.plugin_runtime.process.launcher import FORWARDED_VARIABLES
from parlour_sdk.plugin import PluginDefinition, PluginInvalid, package_files, read_plugin

from ..main import CommandError

TESTING = ("pytest>=8", "pytest-asyncio>=1")
"""Packages that are added to the environment in which tests run."""
TESTING_MODULES = ("pytest", "pytest_asyncio")
"""Modules of these packages."""


class PluginInterpreters:
    """Finds or builds environments with the packages that a plugin requires."""

    def __init__(self, environments: Environments) -> None:
        self._environments = environments

    def for_plugin(self, plugin: PluginDefinition) -> Path:
        return self._environment_python(plugin_requirements(plugin))

    def for_tests(self, plugin: PluginDefinition) -> Path:
        """Returns this process's Python if it has everything, as in a clone; otherwise one with pytest added."""
        required = plugin_requirements(plugin)
        if not required.lines and all(find_spec(name) for name in TESTING_MODULES):
            return Path(sys.executable)
        return self._environment_python(Requirements(tuple(sorted({*required.lines, *TESTING}))))

    def _environment_python(self, required: Requirements) -> Path:
        if not self._environments.is_built(required):
            print(f"building an environment with {', '.join(required.lines)}", file=sys.stderr)
        try:
            return asyncio.run(self._environments.ensure_environment(required))
        except EnvironmentFailed as error:
            raise CommandError(str(error)) from error


def author_interpreters(settings: HostSettings) -> PluginInterpreters:
    """Returns interpreters that are stored in the user's cache folder, since an author may have no data directory."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return interpreters_in(settings, cache / "parlour" / "environments")


def interpreters_in(settings: HostSettings, folder: Path) -> PluginInterpreters:
    return PluginInterpreters(Environments(folder, environment_rules(settings)))


def plugin_requirements(plugin: PluginDefinition) -> Requirements:
    """Returns the requirements that a plugin is installed with, for a folder or a single file."""
    try:
        return read_requirements(plugin) if plugin.file is None else _of_file(plugin.file)
    except PluginInvalid as error:
        raise CommandError(str(error)) from error


def _of_file(file: Path) -> Requirements:
    with tempfile.TemporaryDirectory() as folder:
        for name, content in package_files(file).items():
            Path(folder, name).write_bytes(content)
        return read_requirements(read_plugin(Path(folder)))


def environment() -> dict[str, str]:
    """Returns the environment variables for a plugin's code: those that it gets in a Host.

    Python writes no bytecode, so that nothing is left behind in the author's folder.
    """
    allowed = {name: os.environ[name] for name in FORWARDED_VARIABLES if name in os.environ}
    return {**allowed, "PYTHONDONTWRITEBYTECODE": "1"}
