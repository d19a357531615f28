"""Reads the file that a knowledge engine or parser is asked about."""

from base64 import b64decode
from collections.abc import AsyncGenerator

from parlour_sdk.protocol.files import FileChunk
from parlour_sdk.protocol.knowledge import GetKnowledgeFile, InvokeParser, ParsedFile

from .calls import Namespace, refusal


class KnowledgeFilesAPI(Namespace):
    async def read(self, file_key: str) -> bytes:
        """Returns the whole content; `stream` reads a large one in pieces."""
        return b"".join([piece async for piece in self.stream(file_key)])

    async def stream(self, file_key: str) -> AsyncGenerator[bytes, None]:
        offset, has_more = 0, True
        while has_more:
            chunk = await self._calls.call(
                "get_knowledge_file", GetKnowledgeFile, FileChunk, file_key=file_key, offset=offset
            )
            piece, has_more = b64decode(chunk.content_base64), chunk.has_more
            if has_more and not piece:
                raise refusal("runtime_error", f"the Host gave nothing of file {file_key} and promised more")
            offset += len(piece)
            yield piece

    async def parse(self, file_key: str, parser: str | None = None) -> ParsedFile:
        """Lets the Host read the file, with the base's parser or a named one."""
        return await self._calls.call("invoke_parser", InvokeParser, ParsedFile, file_key=file_key, parser=parser)
