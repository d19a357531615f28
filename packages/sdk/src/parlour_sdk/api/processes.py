"""Starts programs that the operator granted, and reads and writes their pipes."""

import asyncio
from base64 import b64decode, b64encode
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Literal

from parlour_sdk.protocol.calls import Done
from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.protocol.processes import ProcessFile, ProcessOutput, ProcessStart, ProcessWrite

from .calls import Namespace

WRITE_BYTES = 256 * 1024
"""Bytes of one write; more are written in several calls."""
QUEUED_PARTS = 16
"""Parts that wait to be read; then the process waits too."""
OutputKind = Literal["stdout", "stderr"]


class StartedProcess:
    """A process that the Host started. Read it to its end or close it: the process ends with its output stream."""

    def __init__(
        self, processes: "ProcessesAPI", parts: AsyncGenerator[ProcessOutput, None], started: ProcessOutput
    ) -> None:
        self._processes = processes
        self._queue: asyncio.Queue[ProcessOutput | None] = asyncio.Queue(QUEUED_PARTS)
        self._reader = asyncio.create_task(self._read(parts))
        self.process_id = started.process_id
        self.working_directory = started.working_directory
        self.status: int | None = None
        """Exit status; None while it runs, or if the Host lost it."""
        self.reason = ""
        """Why the Host ended it; empty if it ended by itself."""

    async def output(self) -> AsyncGenerator[tuple[OutputKind, bytes], None]:
        """Yields what the process writes, until it has ended."""
        while (part := await self._queue.get()) is not None:
            if part.kind == "exited":
                self.status, self.reason = part.status, part.reason
            elif part.kind in ("stdout", "stderr"):
                yield part.kind, b64decode(part.content_base64)

    async def write(self, content: bytes, *, file: str = "") -> None:
        """Writes to its standard input, or appends to a file in its working directory."""
        for start in range(0, max(1, len(content)), WRITE_BYTES):
            await self._processes.write(self.process_id, content[start : start + WRITE_BYTES], file=file)

    async def close_input(self) -> None:
        await self._processes.write(self.process_id, b"", close=True)

    async def end(self) -> None:
        """Ends the process and everything that it started."""
        self._reader.cancel()
        await asyncio.wait({self._reader})

    async def _read(self, parts: AsyncGenerator[ProcessOutput, None]) -> None:
        try:
            async with aclosing(parts):
                async for part in parts:
                    await self._queue.put(part)
        except AgentAPIException as failure:
            self.reason = failure.error.message
        except asyncio.CancelledError:
            while self._queue.full():
                self._queue.get_nowait()
            self._queue.put_nowait(None)
            raise
        await self._queue.put(None)


class ProcessesAPI(Namespace):
    async def start(
        self,
        process: str,
        command: str,
        arguments: Sequence[str] = (),
        *,
        environment: Mapping[str, str] | None = None,
        workspace: str = "",
        home: str = "",
        files: Sequence[ProcessFile] = (),
    ) -> StartedProcess:
        """Starts a program under the permission of this name. Raises AgentAPIException if it can't be started."""
        parts = self._calls.stream(
            "process_start",
            ProcessStart,
            ProcessOutput,
            process=process,
            command=command,
            arguments=list(arguments),
            environment=dict(environment or {}),
            workspace=workspace,
            home=home,
            files=[each.model_dump() for each in files],
        )
        return StartedProcess(self, parts, await anext(parts))

    async def write(self, process_id: str, content: bytes, *, file: str = "", close: bool = False) -> None:
        """Writes to the standard input of a process, or appends to a file in its working directory."""
        encoded = b64encode(content).decode()
        await self._calls.call(
            "process_write", ProcessWrite, Done, process_id=process_id, content_base64=encoded, file=file, close=close
        )
