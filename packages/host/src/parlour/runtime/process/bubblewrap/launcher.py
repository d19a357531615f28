"""Starts a plugin's process in a bubblewrap sandbox of its own: files, processes, network, names and users."""

import os
from collections.abc import Sequence
from pathlib import Path

from ..launcher import DATA_VARIABLE, PluginProcess, Start, command, spawn
from .process import BoxedProcess
from .view import arguments, prefix

LANGUAGE = ("LANG", "LC_ALL", "TZ")
"""All that a plugin in the sandbox sees of the Host's environment."""
USER = "1000"
ALONE = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--uid", USER, "--gid", USER, "--hostname", "plugin"),
    *("--cap-drop", "ALL", "--new-session", "--die-with-parent", "--clearenv"),
)


class BubblewrapLauncher:
    def __init__(self, program: Path, hidden: Sequence[Path]) -> None:
        self._program = program
        self._hidden = hidden
        """Folders of which a plugin sees nothing but its own, also if they lie in one that it may read."""

    async def launch(self, start: Start) -> PluginProcess:
        return await spawn(self.command(start, command(start)), start, BoxedProcess)

    def command(self, start: Start, inside: Sequence[str]) -> list[str]:
        """What runs these words in the sandbox."""
        network = ("--share-net",) if start.network else ()
        box = [*ALONE, *network, *_environment(start), *arguments(start, self._hidden), "--chdir", str(start.folder)]
        return [str(self._program), *box, "--", *inside]


def _environment(start: Start) -> list[str]:
    path = f"{prefix(start.python) / 'bin'}:/usr/local/bin:/usr/bin:/bin"
    own = {"PATH": path, "HOME": str(start.data), "TMPDIR": "/tmp", "USER": "plugin", "LOGNAME": "plugin"}
    own[DATA_VARIABLE] = str(start.data)
    own["PYTHONUNBUFFERED"] = "1"  # what it prints is in its log at once
    seen = {name: os.environ[name] for name in LANGUAGE if name in os.environ}
    return [word for name, value in {**own, **seen}.items() for word in ("--setenv", name, value)]
