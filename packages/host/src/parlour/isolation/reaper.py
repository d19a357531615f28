"""Runs a process beside the Host that kills what plugins leave behind if the Host itself is killed."""

import asyncio
import contextlib
import logging
import sys
from uuid import uuid4

from . import orphan_cleanup

logger = logging.getLogger(__name__)

HOST_MARK = uuid4().hex
"""Prefix of the mark of every plugin process of this Host."""
_CLOSE_TIMEOUT_SECONDS = 2.0


def new_mark() -> str:
    return f"{HOST_MARK}.{uuid4().hex}"


class ReaperProcess:
    """Runs that process. It is not the parent of the plugins, so nothing but this task depends on it."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._starting = asyncio.Lock()

    async def start(self) -> None:
        """Starts the process unless it is running.

        Without it plugins still die with the Host, and only the processes that they have detached stay.
        """
        async with self._starting:
            if sys.platform != "linux" or (self._process is not None and self._process.returncode is None):
                return
            try:
                self._process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-I", "-S", orphan_cleanup.__file__, HOST_MARK),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.DEVNULL,
                    stderr=asyncio.subprocess.DEVNULL,
                    start_new_session=True,
                    env={},
                )
            except OSError as error:
                logger.warning("children of plugins may outlive a Host that is killed: %s", error)

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(_CLOSE_TIMEOUT_SECONDS):
                await process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
