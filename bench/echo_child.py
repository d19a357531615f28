"""The child process of the pipe baseline: reads a JSON line, answers with one. Run as a file; it uses standard input
and output."""

import asyncio
import sys

from pydantic_core import from_json, to_json


async def main(answer_bytes: int) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    writer, _ = await loop.connect_write_pipe(asyncio.Protocol, sys.stdout)
    filling = "x" * answer_bytes
    while line := await reader.readline():
        request = from_json(line)
        writer.write(to_json({"seq_id": request["seq_id"], "data": filling}) + b"\n")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
