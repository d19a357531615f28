"""Reads files that a configuration names."""

from base64 import b64decode
from collections.abc import AsyncGenerator

from parlour_sdk.protocol.files import FileChunk, GetFile

from ..values import dataclass
from .calls import Namespace, refusal


@dataclass(frozen=True, slots=True)
class HostFile:
    file_key: str
    file_name: str
    mime_type: str | None
    content: bytes


class FilesAPI(Namespace):
    async def get(self, file_key: str) -> HostFile:
        """Returns the whole file; use `stream` to read a large one in chunks."""
        chunks = [chunk async for chunk in self._chunks(file_key)]
        content = b"".join(_content(chunk) for chunk in chunks)
        return HostFile(file_key, chunks[0].file_name, chunks[0].mime_type, content)

    async def stream(self, file_key: str) -> AsyncGenerator[bytes, None]:
        async for chunk in self._chunks(file_key):
            yield _content(chunk)

    async def _chunks(self, file_key: str) -> AsyncGenerator[FileChunk, None]:
        offset, has_more = 0, True
        while has_more:
            chunk = await self._calls.call("get_file", GetFile, FileChunk, file_key=file_key, offset=offset)
            has_more = chunk.has_more
            if has_more and not chunk.content_base64:
                raise refusal("runtime_error", f"the Host gave nothing of file {file_key} and promised more")
            offset += len(_content(chunk))
            yield chunk


def _content(chunk: FileChunk) -> bytes:
    return b64decode(chunk.content_base64)
