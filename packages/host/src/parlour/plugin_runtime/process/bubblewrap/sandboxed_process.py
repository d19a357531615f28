"""A started sandbox, seen from outside.

Three processes are one plugin: bubblewrap itself, whose pid is told here; below it the first process of the sandbox,
which only waits; below that the plugin, with whatever it starts. All of them are in the Host's own `/proc`, so that the
tree below the pid is the plugin's. When one of the first two ends, the kernel leaves nothing of the rest.
"""

import contextlib
import os
import signal

from parlour_sdk.values import dataclass

from ..launcher import PlainProcess
from ..process_tree import Seen

SIGNALLED = 128
"""What bubblewrap adds to the number of the signal that ended the plugin, as a shell does."""


@dataclass(slots=True)
class BoxedProcess(PlainProcess):
    async def wait(self) -> int:
        """The plugin's own status, negative for a signal."""
        status = await self.process.wait()
        return SIGNALLED - status if SIGNALLED < status < SIGNALLED + signal.NSIG else status

    def _groups(self, alive: list[Seen]) -> set[int]:
        """Those in the sandbox: past bubblewrap, whose end would leave the plugin no time. SIGKILL ends all of it."""
        groups: set[int] = set()
        for seen in alive:
            with contextlib.suppress(ProcessLookupError):
                groups.add(os.getpgid(seen.pid))
        return groups - {self.pid} or {self.pid}  # the latter as long as there is no sandbox yet
