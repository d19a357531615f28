"""Starts a plugin's process in a bubblewrap sandbox with its own files, processes, network, host name and users."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from parlour_sdk.values import dataclass

from ..launcher import DATA_VARIABLE, LaunchSpec, PluginProcess, command, spawn
from . import seccomp
from .mounts import plugin_mounts, prefix
from .sandboxed_process import SandboxedProcess

FORWARDED_VARIABLES = ("LANG", "LC_ALL", "TZ")
"""The only variables of the Host's environment that a plugin in the sandbox sees."""
SANDBOX_USER_ID = "1000"
ISOLATION_OPTIONS = (
    *(
        "--unshare-all",
        "--unshare-user",
        "--disable-userns",
        "--uid",
        SANDBOX_USER_ID,
        "--gid",
        SANDBOX_USER_ID,
        "--hostname",
        "plugin",
    ),
    *("--cap-drop", "ALL", "--new-session", "--die-with-parent"),
)


@dataclass(frozen=True, slots=True)
class SandboxedCommand:
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

    async def launch(self, start: LaunchSpec) -> PluginProcess:
        with self.wrap_plugin(start, command(start)) as boxed:
            # Bubblewrap's environment is empty: the plugin can read it as that of its process 1.
            return await spawn(boxed.arguments, start, SandboxedProcess, {}, boxed.descriptors)

    @contextlib.contextmanager
    def wrap_plugin(self, start: LaunchSpec, inside: Sequence[str]) -> Iterator[SandboxedCommand]:
        """Yields the command that runs `inside` in a plugin's sandbox. Start it once, within the block."""
        network = ("--share-net",) if start.network else ()
        place = start.folder if start.folder.is_dir() else start.data
        options = [
            "--clearenv",
            *network,
            *_environment(start),
            *plugin_mounts(start, self.hidden),
            "--chdir",
            str(place),
        ]
        with self.wrap(options, inside) as boxed:
            yield boxed

    @contextlib.contextmanager
    def wrap(self, options: Sequence[str], inside: Sequence[str]) -> Iterator[SandboxedCommand]:
        """Yields the command that runs `inside` in a sandbox with these bubblewrap options.

        Start it once, within the block.
        """
        with contextlib.ExitStack() as stack:
            descriptors = (stack.enter_context(seccomp.open_filter()),) if self._filtered else ()
            filters = [word for descriptor in descriptors for word in ("--seccomp", str(descriptor))]
            yield SandboxedCommand(
                [str(self._program), *ISOLATION_OPTIONS, *filters, *options, "--", *inside], descriptors
            )


def _environment(start: LaunchSpec) -> list[str]:
    path = f"{prefix(start.python) / 'bin'}:/usr/local/bin:/usr/bin:/bin"
    own = {"PATH": path, "HOME": str(start.data), "TMPDIR": "/tmp", "USER": "plugin", "LOGNAME": "plugin"}
    own[DATA_VARIABLE] = str(start.data)
    own["PYTHONUNBUFFERED"] = "1"  # unbuffered, so its log is always current
    seen = {name: os.environ[name] for name in FORWARDED_VARIABLES if name in os.environ}
    return [word for name, value in {**own, **seen}.items() for word in ("--setenv", name, value)]
