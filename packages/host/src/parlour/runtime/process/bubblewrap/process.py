"""A started sandbox, seen from outside.

Three processes are one plugin: bubblewrap itself, whose pid is told here; below it the first process of the sandbox,
which only waits; below that the plugin, with whatever it starts. All of them are in the Host's own `/proc`, so that the
tree below the pid is the plugin's. When one of the first two ends, the kernel leaves nothing of the rest.
"""

import contextlib
import os
import signal
from dataclasses import dataclass

from ..launcher import PlainProcess

SIGNALLED = 128
"""What bubblewrap adds to the number of the signal that ended the plugin, as a shell does."""


@dataclass(slots=True)
class BoxedProcess(PlainProcess):
    async def wait(self) -> int:
        """The plugin's own status, negative for a signal."""
        status = await self.process.wait()
        return SIGNALLED - status if SIGNALLED < status < SIGNALLED + signal.NSIG else status

    def _signal_group(self, number: signal.Signals) -> None:
        """Goes past bubblewrap, whose end would leave the plugin no time. SIGKILL ends all that is in the sandbox."""
        for group in self._groups() or {self.pid}:  # the latter as long as there is no sandbox yet
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, number)

    def _groups(self) -> set[int]:
        """Those in the sandbox: the plugin's own, and any that it has made."""
        groups: set[int] = set()
        for seen in self.tree.alive():
            with contextlib.suppress(ProcessLookupError):
                groups.add(os.getpgid(seen.pid))
        return groups - {self.pid}
