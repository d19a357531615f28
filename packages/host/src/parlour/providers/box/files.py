"""Requests about files of a session: whole files are read and written in pieces."""

import base64
from typing import Any, Final

from parlour.core.box.messages import SessionSpec
from parlour.core.model.providers import ProviderFailed

from .service import BoxService

PIECE_BYTES: Final = 1024 * 1024
"""Bytes that one request may write. A file that a model writes fits, so it is never half written."""
CALL_SECONDS: Final = 35.0
"""Seconds that a request may take, including the start of the sandbox."""


class BoxFiles:
    """Reads and writes files in sandboxes."""

    def __init__(self, service: BoxService) -> None:
        self._service = service

    async def request(self, session: SessionSpec, operation: str, **fields: Any) -> dict[str, Any]:
        """Makes one request. Raises ProviderFailed."""
        request = {"session": session.model_dump(), "operation": operation, "fields": fields}
        answer: dict[str, Any] = await self._service.call("box_file", request, CALL_SECONDS)
        return answer

    async def read(self, session: SessionSpec, path: str, offset: int = 0) -> tuple[bytes, int]:
        """Returns a piece of a file, and the size of the file."""
        answer = await self.request(session, "read", path=path, offset=offset)
        return base64.b64decode(answer["data"]), int(answer["size"])

    async def read_whole(self, session: SessionSpec, path: str, limit: int) -> bytes:
        """Returns a file. Raises ProviderFailed if it is larger than the limit."""
        piece, size = await self.read(session, path)
        if size > limit:
            raise ProviderFailed("payload_too_large", f"{path} has {size} bytes; at most {limit} can be taken")
        content = bytearray(piece)
        while piece and len(content) < size:
            piece, _ = await self.read(session, path, len(content))
            content += piece
        return bytes(content[:limit])

    async def write_whole(self, session: SessionSpec, path: str, content: bytes) -> int:
        """Writes a file and returns its size."""
        for start in range(0, max(1, len(content)), PIECE_BYTES):
            data = base64.b64encode(content[start : start + PIECE_BYTES]).decode()
            await self.request(session, "write", path=path, data=data, append=start > 0)
        return len(content)
