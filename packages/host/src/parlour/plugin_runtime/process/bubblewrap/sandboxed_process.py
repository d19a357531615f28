"""A started sandbox, seen from outside.

A plugin consists of three processes: bubblewrap itself, whose pid is known here; below it the first process of the
sandbox, which only waits; below that the plugin, with everything it starts. All of them are in the Host's own `/proc`,
so the tree below the pid is the plugin's. When one of the first two ends, the kernel kills the rest.
"""

import contextlib
import os
import signal

from parlour_sdk.values import dataclass

from ..launcher import PlainProcess
from ..process_tree import ProcessInfo

SIGNAL_STATUS_OFFSET = 128
"""Offset that bubblewrap adds to the number of the signal that ended the plugin, as a shell does."""


@dataclass(slots=True)
class SandboxedProcess(PlainProcess):
    async def wait(self) -> int:
        """Returns the plugin's own exit status, negative for a signal."""
        status = await self.process.wait()
        return (
            SIGNAL_STATUS_OFFSET - status
            if SIGNAL_STATUS_OFFSET < status < SIGNAL_STATUS_OFFSET + signal.NSIG
            else status
        )

    def _groups(self, alive: list[ProcessInfo]) -> set[int]:
        """Returns the groups inside the sandbox. SIGKILL ends all of it.

        Bubblewrap is left out, since its end would give the plugin no time.
        """
        groups: set[int] = set()
        for seen in alive:
            with contextlib.suppress(ProcessLookupError):
                groups.add(os.getpgid(seen.pid))
        return groups - {self.pid} or {self.pid}  # the latter while there is no sandbox yet
