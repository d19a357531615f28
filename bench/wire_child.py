"""The child process of the wire benchmark: `peer` serves calls and streams, `lines` answers bare JSON lines. Run as a
file."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Coroutine
from dataclasses import replace
from math import inf
from typing import Any

from pydantic_core import from_json, to_json

from parlour_sdk.wire import Peer, StdioTransport, WireError, WireLimits

UNCAPPED = replace(WireLimits(), frames_per_second=inf, bytes_per_second=inf)
"""Default limits without a limit on the read rate."""


class Echo:
    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]:
        match action:
            case "echo":
                return _same(data)
            case "parts":
                return _parts(data["count"], data["part"])
            case _:
                raise WireError("not_supported", f"there is no action '{action}'")


async def _same(data: Any) -> Any:
    return data


async def _parts(count: int, part: Any) -> AsyncGenerator[Any, None]:
    for _ in range(count):
        yield part


async def peer() -> None:
    served = Peer(StdioTransport(os.dup(0), os.dup(1), UNCAPPED), Echo(), UNCAPPED)
    served.start()
    await served.wait_closed()


async def lines() -> None:
    """Answers each line with a line and nothing else: no tables, no limits, no errors."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    writer, _ = await loop.connect_write_pipe(asyncio.Protocol, sys.stdout)
    while line := await reader.readline():
        writer.write(to_json(from_json(line)) + b"\n")


if __name__ == "__main__":
    asyncio.run(peer() if sys.argv[1] == "peer" else lines())
