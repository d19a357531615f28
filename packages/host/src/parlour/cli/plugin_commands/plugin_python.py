"""Which Python runs a plugin for its author: one with what the plugin requires, built as the Host would build it."""

import asyncio
import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from parlour.app.installation import environment_rules
from parlour.app.settings import Settings
from parlour.plugin_runtime.environments.environment import EnvironmentFailed, Environments
from parlour.plugin_runtime.packages.requirements import Requirements, read_requirements
from parlour.plugin_runtime.process.launcher import ENVIRONMENT
from parlour_sdk.plugin import Plugin, PluginInvalid, packaged, read_plugin

from ..main import CommandFailed

TESTING = ("pytest>=8", "pytest-asyncio>=1")
TESTING_MODULES = ("pytest", "pytest_asyncio")


class Interpreters:
    def __init__(self, environments: Environments) -> None:
        self._environments = environments

    def of(self, plugin: Plugin) -> Path:
        return self._with(requirements_of(plugin))

    def for_tests(self, plugin: Plugin) -> Path:
        """This one, where it has everything (in a clone, say); otherwise one that is made to have it."""
        required = requirements_of(plugin)
        if not required.lines and all(find_spec(name) for name in TESTING_MODULES):
            return Path(sys.executable)
        return self._with(Requirements(tuple(sorted({*required.lines, *TESTING}))))

    def _with(self, required: Requirements) -> Path:
        if not self._environments.has(required):
            print(f"building an environment with {', '.join(required.lines)}", file=sys.stderr)
        try:
            return asyncio.run(self._environments.python(required))
        except EnvironmentFailed as error:
            raise CommandFailed(str(error)) from error


def authors(settings: Settings) -> Interpreters:
    """In a folder of the user's: an author may have no data directory."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return at(settings, cache / "parlour" / "environments")


def at(settings: Settings, folder: Path) -> Interpreters:
    return Interpreters(Environments(folder, environment_rules(settings)))


def requirements_of(plugin: Plugin) -> Requirements:
    """Of one file as well as of a folder: those that it is installed with."""
    try:
        return read_requirements(plugin) if plugin.file is None else _of_file(plugin.file)
    except PluginInvalid as error:
        raise CommandFailed(str(error)) from error


def _of_file(file: Path) -> Requirements:
    with tempfile.TemporaryDirectory() as made:
        for name, content in packaged(file).items():
            Path(made, name).write_bytes(content)
        return read_requirements(read_plugin(Path(made)))


def environment() -> dict[str, str]:
    """What a plugin's code sees of ours: no more than in a Host. It leaves nothing behind in the author's folder."""
    allowed = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
    return {**allowed, "PYTHONDONTWRITEBYTECODE": "1"}
