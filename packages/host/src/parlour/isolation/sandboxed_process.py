"""A started sandbox, seen from outside.

It consists of three processes: bubblewrap itself, whose pid is known here; below it the first process of the
sandbox, which only waits; below that the command, with everything it starts. All of them are in the Host's own `/proc`,
so the tree below the pid is the sandbox's. When one of the first two ends, the kernel kills the rest.
"""

import contextlib
import os
import signal

from parlour_sdk.values import dataclass

from .process import IsolatedProcess
from .process_tree import ProcessInfo

SIGNAL_STATUS_OFFSET = 128
"""Offset that bubblewrap adds to the number of the signal that ended the command, as a shell does."""


@dataclass(slots=True)
class SandboxedProcess(IsolatedProcess):
    """A process in a sandbox: bubblewrap is the process, and the command is its descendant."""

    async def wait(self) -> int:
        """Returns the command's own exit status, negative for a signal."""
        status = await self.process.wait()
        return (
            SIGNAL_STATUS_OFFSET - status
            if SIGNAL_STATUS_OFFSET < status < SIGNAL_STATUS_OFFSET + signal.NSIG
            else status
        )

    def _groups(self, alive: list[ProcessInfo]) -> set[int]:
        """Returns the groups inside the sandbox. SIGKILL ends all of it.

        Bubblewrap is left out, since its end would give the command no time.
        """
        groups: set[int] = set()
        for process in alive:
            with contextlib.suppress(ProcessLookupError):
                groups.add(os.getpgid(process.pid))
        return groups - {self.pid} or {self.pid}  # the latter while there is no sandbox yet
