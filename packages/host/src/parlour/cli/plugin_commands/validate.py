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
from parlour.app.settings import Settings
from parlour.plugin_runtime.process.bubblewrap import BubblewrapLauncher
from parlour.plugin_runtime.process.bubblewrap.launcher import BoxedCommand
from parlour.plugin_runtime.process.bubblewrap.sandboxed_process import SIGNALLED
from parlour.plugin_runtime.process.launcher import Start
from parlour.plugin_runtime.process.sandbox import choose_launcher
from parlour_sdk.plugin import Plugin, PluginInvalid, read_plugin
from parlour_sdk.values import dataclass

from ..main import CommandFailed
from . import plugin_python
from .plugin_python import Interpreters

CHECK = ("-m", "parlour_sdk.authoring.check")
"""Arguments for Python that import a plugin and print the result as JSON."""


@dataclass(frozen=True, slots=True)
class Valid:
    """A plugin that was read and imported without errors."""

    plugin: Plugin
    components: tuple[tuple[str, str], ...]
    """Kind and name of each component."""

    @property
    def title(self) -> str:
        return f"{self.plugin.manifest.identity} {self.plugin.manifest.metadata.version}"


def run(settings: Settings, path: Path) -> None:
    valid = validated(settings, path, plugin_python.authors(settings))
    print(f"{valid.title} is in order: {', '.join(' '.join(each) for each in valid.components) or 'no components'}")


def validated(settings: Settings, path: Path, pythons: Interpreters) -> Valid:
    """Reads and imports a plugin and prints warnings about it. Raises CommandError with what is wrong."""
    plugin = read(path)
    for warning in plugin.warnings:
        print(f"  note: {warning}", flush=True)
    verdict = _imported(settings, plugin, pythons.of(plugin))
    for warning in verdict["warnings"]:
        if warning not in plugin.warnings:
            print(f"  note: {warning}", flush=True)
    return Valid(plugin, tuple((kind, name) for kind, name in verdict["components"]))


def read(path: Path) -> Plugin:
    try:
        return read_plugin(path.expanduser().absolute())
    except PluginInvalid as error:
        raise CommandFailed(str(error)) from error


def _imported(settings: Settings, plugin: Plugin, python: Path) -> dict[str, Any]:
    """Imports the plugin in a process and returns its result. It may take as long as a start in a Host."""
    path, seconds = plugin.file or plugin.folder, settings.plugins.start_seconds
    try:
        with _boxed(settings, plugin, python, [str(python), *CHECK, str(path)]) as (command, environment):
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
        raise CommandFailed(f"{path}: importing its code took longer than {seconds:g} s; do less at import") from None
    if verdict is None:
        status = child.returncode
        if SIGNALLED < status < SIGNALLED + signal.NSIG:  # how bubblewrap reports a signal
            status = SIGNALLED - status
        raise CommandFailed(f"{path}: its code ended the process while it was imported (status {status})")
    if verdict["problem"]:
        raise CommandFailed(verdict["problem"])
    return {"warnings": [], **verdict}


@contextlib.contextmanager
def _boxed(
    settings: Settings, plugin: Plugin, python: Path, inside: Sequence[str]
) -> Iterator[tuple[BoxedCommand, dict[str, str]]]:
    """Yields the command and its environment: in a plugin's sandbox without network, or unchanged without a sandbox."""
    data = DataDirectory(settings.data).path
    hidden = [data] if data.exists() else []
    launcher, state = asyncio.run(choose_launcher(settings.plugins.sandbox, settings.plugins.bubblewrap, hidden))
    if isinstance(launcher, BubblewrapLauncher):
        with tempfile.TemporaryDirectory(prefix="parlour-validate-") as folder:
            start = Start(plugin.manifest.identity, plugin.file or plugin.folder, Path(folder), python)
            with launcher.command(start, inside) as boxed:
                yield boxed, {}
        return
    if state.required:
        raise CommandFailed(f"a plugin's code is to be imported in a sandbox only, and {state.reason}; {state.remedy}")
    if settings.plugins.sandbox != "off":
        note = f"  note: its code is imported without a sandbox: {state.reason}; {state.remedy}"
        print(note, file=sys.stderr, flush=True)
    yield BoxedCommand(list(inside)), plugin_python.environment()
