"""Carries messages of the protocol over the pipes of a process: one JSON object per line, with limits."""

import json
from collections import deque
from collections.abc import AsyncGenerator
from typing import Any

from parlour_sdk.api.processes import StartedProcess

MAX_LINE_BYTES = 8 * 1024 * 1024
MAX_TURN_BYTES = 64 * 1024 * 1024
LOG_BYTES = 64 * 1024
LOG_TAIL_CHARACTERS = 600


class ProcessTransport:
    """A transport of the package `acp`. It ends with the process, or with output beyond the limits."""

    def __init__(self, process: StartedProcess) -> None:
        self._process = process
        self._output: AsyncGenerator[tuple[str, bytes], None] = process.output()
        self._buffer = bytearray()
        self._scanned = 0
        self._log: deque[bytes] = deque()
        self._log_bytes = 0
        self.turn_bytes = 0
        """Bytes of output since the turn began."""
        self.problem = ""
        """Why it ended; empty if the process ended by itself."""

    @property
    def log_tail(self) -> str:
        """The end of what the harness wrote to its log."""
        return b"".join(self._log).decode(errors="replace").strip()[-LOG_TAIL_CHARACTERS:]

    async def send(self, message: dict[str, Any]) -> None:
        await self._process.write(json.dumps(message).encode() + b"\n")

    async def receive(self) -> dict[str, Any] | None:
        """Returns the next message, or None at the end. Lines that are no message are left out."""
        while (line := await self._next_line()) is not None:
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(message, dict):
                return _with_request_id(message)
        return None

    async def close(self) -> None:
        await self._process.end()

    async def _next_line(self) -> bytes | None:
        while (end := self._buffer.find(b"\n", self._scanned)) < 0:
            self._scanned = len(self._buffer)
            if self._scanned > MAX_LINE_BYTES or self.turn_bytes > MAX_TURN_BYTES:
                self.problem = "it wrote more than it may"
                return None
            if not await self._read_more():
                return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        self._scanned = 0
        return line

    async def _read_more(self) -> bool:
        async for kind, content in self._output:
            if kind == "stdout":
                self._buffer += content
                self.turn_bytes += len(content)
                return True
            self._keep_log(content)
        self.problem = self.problem or self._process.reason
        return False

    def _keep_log(self, content: bytes) -> None:
        self._log.append(content)
        self._log_bytes += len(content)
        while self._log_bytes > LOG_BYTES and len(self._log) > 1:
            self._log_bytes -= len(self._log.popleft())


def _with_request_id(message: dict[str, Any]) -> dict[str, Any]:
    """Adds a request's id to its parameters, since the package does not pass it on."""
    if "method" in message and "id" in message and isinstance(message.get("params"), dict):
        return {**message, "params": {**message["params"], "_id": message["id"]}}
    return message
