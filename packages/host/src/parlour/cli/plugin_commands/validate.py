"""`parlour plugin validate`: reads a plugin, and imports it in a process of its own. Says what a Host would say."""

import json
import subprocess
from pathlib import Path
from typing import Any

from parlour.config import Settings
from parlour_sdk.plugin import Plugin, PluginInvalid, read_plugin
from parlour_sdk.values import dataclass

from ..main import CommandFailed
from . import interpreters
from .interpreters import Interpreters

CHECK = ("-m", "parlour_sdk.authoring.check")


@dataclass(frozen=True, slots=True)
class Valid:
    plugin: Plugin
    components: tuple[tuple[str, str], ...]
    """Kind and name of each."""

    @property
    def title(self) -> str:
        return f"{self.plugin.manifest.identity} {self.plugin.manifest.metadata.version}"


def run(settings: Settings, path: Path) -> None:
    valid = validated(settings, path, interpreters.authors(settings))
    print(f"{valid.title} is in order: {', '.join(' '.join(each) for each in valid.components) or 'no components'}")


def validated(settings: Settings, path: Path, pythons: Interpreters) -> Valid:
    """Prints what is odd about it. Raises CommandFailed with what is wrong."""
    plugin = read(path)
    for warning in plugin.warnings:
        print(f"  note: {warning}", flush=True)
    verdict = _imported(plugin.file or plugin.folder, pythons.of(plugin), settings.plugins.start_seconds)
    for warning in verdict["warnings"]:
        if warning not in plugin.warnings:
            print(f"  note: {warning}", flush=True)
    return Valid(plugin, tuple((kind, name) for kind, name in verdict["components"]))


def read(path: Path) -> Plugin:
    try:
        return read_plugin(path.expanduser().absolute())
    except PluginInvalid as error:
        raise CommandFailed(str(error)) from error


def _imported(path: Path, python: Path, seconds: float) -> dict[str, Any]:
    """Returns the verdict of a process that imports it, for as long as a Host would wait for its start."""
    command = [str(python), *CHECK, str(path)]
    try:
        child = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env=interpreters.environment(),
            timeout=seconds,
            check=False,
        )
        verdict = json.loads(child.stdout or "null")
    except subprocess.TimeoutExpired:
        raise CommandFailed(f"{path}: importing its code took longer than {seconds:g} s; do less at import") from None
    if verdict is None:
        raise CommandFailed(f"{path}: its code ended the process while it was imported (status {child.returncode})")
    if verdict["problem"]:
        raise CommandFailed(verdict["problem"])
    return {"warnings": [], **verdict}
