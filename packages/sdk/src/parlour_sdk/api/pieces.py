"""Content of any size in the pieces that the wire carries."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable
from pathlib import Path
from typing import Final

from parlour_sdk.protocol.limits import ARTIFACT_CHUNK_BYTES

from .calls import InvalidCall

Content = bytes | bytearray | Path | AsyncIterable[bytes]
PIECE_BYTES: Final = ARTIFACT_CHUNK_BYTES
PIECES_AT_ONCE: Final = 50
PIECES_PER_SECOND: Final = 40
"""A run may call 50 times a second, 100 times at once; a long transfer leaves some of that to the rest of the run."""


class Pace:
    """The first pieces of a transfer go at once, the others evenly, so that its size alone is never refused."""

    def __init__(self) -> None:
        self._count = 0
        self._began = asyncio.get_running_loop().time()

    async def step(self) -> None:
        self._count += 1
        due = self._began + (self._count - PIECES_AT_ONCE) / PIECES_PER_SECOND
        early = due - asyncio.get_running_loop().time()
        if early > 0:
            await asyncio.sleep(early)


async def pieces(content: Content, action: str) -> AsyncGenerator[tuple[bytes, bool], None]:
    """Each piece, and whether it is the last. Empty content is one empty piece."""
    held = bytearray()
    async for block in _blocks(content, action):
        for start in range(0, len(block), PIECE_BYTES):
            held += block[start : start + PIECE_BYTES]
            if len(held) > PIECE_BYTES:
                yield bytes(held[:PIECE_BYTES]), False
                del held[:PIECE_BYTES]
    yield bytes(held), True


async def _blocks(content: Content, action: str) -> AsyncGenerator[bytes, None]:
    match content:
        case bytes() | bytearray():
            yield bytes(content)
        case Path():
            with await asyncio.to_thread(content.open, "rb") as file:
                while block := await asyncio.to_thread(file.read, PIECE_BYTES):
                    yield block
        case AsyncIterable():
            async for block in content:
                yield block
        case _:
            raise InvalidCall(
                f"{action}: content: give bytes, a pathlib.Path or an async iterator of bytes, "
                f"not {type(content).__name__}"
            )
