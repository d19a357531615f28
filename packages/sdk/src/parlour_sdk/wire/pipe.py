"""A descriptor that is handed to an event loop, as the file that loops want, and that is closed exactly once."""

import asyncio
import os


class Pipe:
    """Owns its descriptor until a loop has taken it.

    uvloop closes a descriptor and then the file it was given with. In between another thread may have opened something
    under the same number, which the file's close would hit. So for uvloop the file closes nothing.
    """

    def __init__(self, descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
        self._descriptor = descriptor
        self._closed_by_loop = type(loop).__module__.partition(".")[0] == "uvloop"

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> None:
        """For the loop that has taken it."""
        if not self._closed_by_loop:
            self.abandon()

    def abandon(self) -> None:
        """For whoever made it, when no loop has taken it."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
