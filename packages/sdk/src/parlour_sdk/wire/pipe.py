"""Wraps a file descriptor as the file object that event loops expect, and closes it exactly once."""

import asyncio
import os


class Pipe:
    """Owns its descriptor until an event loop has taken it over.

    uvloop closes the descriptor and then the file object. In between another thread may have opened something under
    the same number, which the file's close would then close. So under uvloop `close` does nothing.
    """

    def __init__(self, descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
        self._descriptor = descriptor
        self._closed_by_loop = type(loop).__module__.partition(".")[0] == "uvloop"

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> None:
        """Closes the descriptor unless the loop closes it; called by the loop that took it over."""
        if not self._closed_by_loop:
            self.abandon()

    def abandon(self) -> None:
        """Closes the descriptor; called by its creator if no loop has taken it over."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
