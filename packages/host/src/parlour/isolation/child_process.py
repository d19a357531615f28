"""Starts a child process without delay and waits for it on the event loop.

The event loop's own method copies the page tables of the Host before the child executes its program, which stops
everything for tens of milliseconds. Here the kernel lends the child our memory for that moment (vfork).
"""

import asyncio
import contextlib
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


class ChildProcess:
    """A child process that leads a session of its own. Its starter must wait for it, or it stays a zombie."""

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        streams: tuple[int, int, int],
        descriptors: Sequence[int] = (),
    ) -> None:
        """Starts the process. Raises OSError if it can't be started."""
        read, write, log = streams
        self._process = subprocess.Popen(
            arguments,
            stdin=read,
            stdout=write,
            stderr=log,
            start_new_session=True,
            cwd=folder,
            env=environment,
            pass_fds=descriptors,
        )
        self.pid = self._process.pid
        self._status: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._watch()

    async def wait(self) -> int:
        """Returns the exit status, negative for a signal."""
        return await asyncio.shield(self._status)

    def _watch(self) -> None:
        try:
            descriptor = os.pidfd_open(self.pid)
        except (AttributeError, OSError):  # without pidfd, a thread waits
            self._waiting = asyncio.create_task(self._wait_in_thread())
            return
        asyncio.get_running_loop().add_reader(descriptor, self._on_exit, descriptor)

    def _on_exit(self, descriptor: int) -> None:
        asyncio.get_running_loop().remove_reader(descriptor)
        os.close(descriptor)
        self._set_status(self._process.wait())

    async def _wait_in_thread(self) -> None:
        self._set_status(await asyncio.to_thread(self._process.wait))

    def _set_status(self, status: int) -> None:
        with contextlib.suppress(asyncio.InvalidStateError):
            self._status.set_result(status)
