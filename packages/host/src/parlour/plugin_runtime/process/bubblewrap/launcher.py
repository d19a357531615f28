"""Starts a plugin's process in a bubblewrap sandbox with its own files, processes, network, host name and users."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from parlour_sdk.values import dataclass

from ..launcher import DATA_VARIABLE, PluginProcess, Start, command, spawn
from . import seccomp
from .mounts import arguments, prefix
from .sandboxed_process import BoxedProcess

LANGUAGE = ("LANG", "LC_ALL", "TZ")
"""The only variables of the Host's environment that a plugin in the sandbox sees."""
USER = "1000"
ALONE = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--uid", USER, "--gid", USER, "--hostname", "plugin"),
    *("--cap-drop", "ALL", "--new-session", "--die-with-parent"),
)


@dataclass(frozen=True, slots=True)
class BoxedCommand:
    """A command that runs in a sandbox, and the descriptors that it inherits."""

    arguments: list[str]
    descriptors: tuple[int, ...] = ()


class BubblewrapLauncher:
    def __init__(self, program: Path, hidden: Sequence[Path], filtered: bool = True) -> None:
        self._program = program
        self.hidden = hidden
        """Folders of which a plugin sees nothing but its own, even if they are in one that it may read."""
        self._filtered = filtered
        """True if system calls are filtered."""

    async def launch(self, start: Start) -> PluginProcess:
        with self.command(start, command(start)) as boxed:
            # Bubblewrap's environment is empty: the plugin can read it as that of its process 1.
            return await spawn(boxed.arguments, start, BoxedProcess, {}, boxed.descriptors)

    @contextlib.contextmanager
    def command(self, start: Start, inside: Sequence[str]) -> Iterator[BoxedCommand]:
        """Yields the command that runs `inside` in a plugin's sandbox. Start it once, within the block."""
        network = ("--share-net",) if start.network else ()
        place = start.folder if start.folder.is_dir() else start.data
        options = ["--clearenv", *network, *_environment(start), *arguments(start, self.hidden), "--chdir", str(place)]
        with self.boxed(options, inside) as boxed:
            yield boxed

    @contextlib.contextmanager
    def boxed(self, options: Sequence[str], inside: Sequence[str]) -> Iterator[BoxedCommand]:
        """Yields the command that runs `inside` in a sandbox with these bubblewrap options.

        Start it once, within the block.
        """
        with contextlib.ExitStack() as stack:
            descriptors = (stack.enter_context(seccomp.opened()),) if self._filtered else ()
            filters = [word for descriptor in descriptors for word in ("--seccomp", str(descriptor))]
            yield BoxedCommand([str(self._program), *ALONE, *filters, *options, "--", *inside], descriptors)


def _environment(start: Start) -> list[str]:
    path = f"{prefix(start.python) / 'bin'}:/usr/local/bin:/usr/bin:/bin"
    own = {"PATH": path, "HOME": str(start.data), "TMPDIR": "/tmp", "USER": "plugin", "LOGNAME": "plugin"}
    own[DATA_VARIABLE] = str(start.data)
    own["PYTHONUNBUFFERED"] = "1"  # unbuffered, so its log is always current
    seen = {name: os.environ[name] for name in LANGUAGE if name in os.environ}
    return [word for name, value in {**own, **seen}.items() for word in ("--setenv", name, value)]
