"""`parlour plugin test`: validates a plugin, then runs its tests with pytest in an environment for the plugin."""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from parlour.app.settings import HostSettings
from parlour_sdk.plugin import PluginDefinition

from ..main import CommandError
from . import plugin_python
from .validate import validate_plugin

OPTIONS = ("-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function")
"""Options for tests as the documentation shows them, so that a plugin needs no pytest configuration."""


def run(settings: HostSettings, path: Path, pytest: Sequence[str]) -> None:
    """Replaces this process by pytest, so that its exit status becomes that of the command."""
    pythons = plugin_python.author_interpreters(settings)
    plugin = validate_plugin(settings, path, pythons).plugin
    tests = [str(each) for each in _tests(plugin)]
    if not tests:
        raise CommandError(f"there are no tests: write {_suggested_test_file(plugin)}, see docs/plugins/testing.md")
    python = pythons.for_tests(plugin)
    os.chdir(plugin.folder)
    sys.stdout.flush()
    os.execv(python, [str(python), "-m", "pytest", *OPTIONS, *tests, *pytest])


def _tests(plugin: PluginDefinition) -> Iterator[Path]:
    """Yields the tests of a plugin: of a folder those inside, of a single file those that are named after it."""
    if plugin.file is None:
        if any(plugin.folder.rglob("test_*.py")) or any(plugin.folder.rglob("*_test.py")):
            yield plugin.folder
        return
    for pattern in (f"test_{plugin.file.stem}*.py", f"{plugin.file.stem}_test.py"):
        yield from sorted(plugin.folder.glob(pattern))


def _suggested_test_file(plugin: PluginDefinition) -> Path:
    name = Path("tests", "test_agent.py") if plugin.file is None else Path(f"test_{plugin.file.name}")
    return plugin.folder / name
