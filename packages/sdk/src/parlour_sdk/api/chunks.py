"""Splits content of any size into chunks that fit on the wire, and paces them."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable
from pathlib import Path
from typing import Final

from parlour_sdk.protocol.limits import ARTIFACT_CHUNK_BYTES

from .calls import InvalidCall

Content = bytes | bytearray | Path | AsyncIterable[bytes]
CHUNK_BYTES: Final = ARTIFACT_CHUNK_BYTES
CHUNK_BURST: Final = 50
CHUNKS_PER_SECOND: Final = 40
"""Chunks of one transfer per second, after the first `CHUNK_BURST` ones.

A run may make 50 calls per second and 100 in a burst; a long transfer leaves part of that to the rest of the run.
"""


class ChunkPacer:
    """Sends the first chunks of a transfer immediately and the rest evenly, so that no size exceeds the rate limit."""

    def __init__(self) -> None:
        self._count = 0
        self._started_at = asyncio.get_running_loop().time()

    async def wait_for_turn(self) -> None:
        """Waits until the next chunk may be sent."""
        self._count += 1
        due_at = self._started_at + (self._count - CHUNK_BURST) / CHUNKS_PER_SECOND
        delay = due_at - asyncio.get_running_loop().time()
        if delay > 0:
            await asyncio.sleep(delay)


async def iter_chunks(content: Content, action: str) -> AsyncGenerator[tuple[bytes, bool], None]:
    """Yields each chunk and whether it is the last. Empty content is one empty chunk."""
    buffer = bytearray()
    async for block in _blocks(content, action):
        for start in range(0, len(block), CHUNK_BYTES):
            buffer += block[start : start + CHUNK_BYTES]
            if len(buffer) > CHUNK_BYTES:
                yield bytes(buffer[:CHUNK_BYTES]), False
                del buffer[:CHUNK_BYTES]
    yield bytes(buffer), True


async def _blocks(content: Content, action: str) -> AsyncGenerator[bytes, None]:
    match content:
        case bytes() | bytearray():
            yield bytes(content)
        case Path():
            with await asyncio.to_thread(content.open, "rb") as file:
                while block := await asyncio.to_thread(file.read, CHUNK_BYTES):
                    yield block
        case AsyncIterable():
            async for block in content:
                yield block
        case _:
            raise InvalidCall(
                f"{action}: content: give bytes, a pathlib.Path or an async iterator of bytes, "
                f"not {type(content).__name__}"
            )
