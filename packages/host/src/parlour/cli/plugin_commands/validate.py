"""`parlour plugin validate`: reads a plugin and imports it in a sandbox. Reports the problems that a Host would."""

import asyncio
import contextlib
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from parlour.app.data_directory import DataDirectory
from parlour.app.settings import HostSettings
from parlour.core.model.ids import PluginId
from parlour.isolation.sandbox_spec import SandboxedCommand
from parlour.isolation.sandboxed_process import SIGNAL_STATUS_OFFSET
from parlour.plugin_runtime.process.launcher import LaunchSpec
from parlour.plugin_runtime.process.sandbox import choose_launcher
from parlour.plugin_runtime.process.sandboxed_launcher import BubblewrapLauncher
from parlour_sdk.plugin import PluginDefinition, PluginInvalid, read_plugin
from parlour_sdk.values import dataclass

from ..main import CommandError
from . import plugin_python
from .plugin_python import PluginInterpreters

CHECK = ("-m", "parlour_sdk.authoring.check")
"""Arguments for Python that import a plugin and print the result as JSON."""


@dataclass(frozen=True, slots=True)
class ValidPlugin:
    """A plugin that was read and imported without errors."""

    plugin: PluginDefinition
    components: tuple[tuple[str, str], ...]
    """Kind and name of each component."""

    @property
    def title(self) -> str:
        return f"{self.plugin.manifest.identity} {self.plugin.manifest.metadata.version}"


def run(settings: HostSettings, path: Path) -> None:
    valid = validate_plugin(settings, path, plugin_python.author_interpreters(settings))
    print(f"{valid.title} is in order: {', '.join(' '.join(each) for each in valid.components) or 'no components'}")


def validate_plugin(settings: HostSettings, path: Path, pythons: PluginInterpreters) -> ValidPlugin:
    """Reads and imports a plugin and prints warnings about it. Raises CommandError with what is wrong."""
    plugin = read(path)
    for warning in plugin.warnings:
        print(f"  note: {warning}", flush=True)
    verdict = _import_plugin(settings, plugin, pythons.for_plugin(plugin))
    for warning in verdict["warnings"]:
        if warning not in plugin.warnings:
            print(f"  note: {warning}", flush=True)
    return ValidPlugin(plugin, tuple((kind, name) for kind, name in verdict["components"]))


def read(path: Path) -> PluginDefinition:
    try:
        return read_plugin(path.expanduser().absolute())
    except PluginInvalid as error:
        raise CommandError(str(error)) from error


def _import_plugin(settings: HostSettings, plugin: PluginDefinition, python: Path) -> dict[str, Any]:
    """Imports the plugin in a process and returns its result. It may take as long as a start in a Host."""
    path, seconds = plugin.file or plugin.folder, settings.plugins.start_seconds
    try:
        with _sandboxed_command(settings, plugin, python, [str(python), *CHECK, str(path)]) as (command, environment):
            child = subprocess.run(
                command.arguments,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                env=environment,
                timeout=seconds,
                check=False,
                pass_fds=command.descriptors,
            )
        verdict = json.loads(child.stdout or "null")
    except subprocess.TimeoutExpired:
        raise CommandError(f"{path}: importing its code took longer than {seconds:g} s; do less at import") from None
    if verdict is None:
        status = child.returncode
        if SIGNAL_STATUS_OFFSET < status < SIGNAL_STATUS_OFFSET + signal.NSIG:  # how bubblewrap reports a signal
            status = SIGNAL_STATUS_OFFSET - status
        raise CommandError(f"{path}: its code ended the process while it was imported (status {status})")
    if verdict["problem"]:
        raise CommandError(verdict["problem"])
    return {"warnings": [], **verdict}


@contextlib.contextmanager
def _sandboxed_command(
    settings: HostSettings, plugin: PluginDefinition, python: Path, inside: Sequence[str]
) -> Iterator[tuple[SandboxedCommand, dict[str, str]]]:
    """Yields the command and its environment: in a plugin's sandbox without network, or unchanged without a sandbox."""
    data = DataDirectory(settings.data).path
    hidden = [data] if data.exists() else []
    launcher, state = asyncio.run(choose_launcher(settings.plugins.sandbox, settings.plugins.bubblewrap, hidden))
    if isinstance(launcher, BubblewrapLauncher):
        with tempfile.TemporaryDirectory(prefix="parlour-validate-") as folder:
            start = LaunchSpec(PluginId(plugin.manifest.identity), plugin.file or plugin.folder, Path(folder), python)
            with launcher.wrap_plugin(start, inside) as boxed:
                yield boxed, {}
        return
    if state.required:
        raise CommandError(f"a plugin's code is to be imported in a sandbox only, and {state.reason}; {state.remedy}")
    if settings.plugins.sandbox != "off":
        note = f"  note: its code is imported without a sandbox: {state.reason}; {state.remedy}"
        print(note, file=sys.stderr, flush=True)
    yield SandboxedCommand(list(inside)), plugin_python.environment()
