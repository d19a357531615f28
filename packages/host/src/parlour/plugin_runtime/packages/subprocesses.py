"""Runs a program to its end and keeps what it says. It is killed with its children when nobody waits any more."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence

from parlour_sdk.values import dataclass

LINE_BYTES = 64 * 1024
LINES = 200

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Finished:
    status: int
    lines: tuple[str, ...]
    """The last ones, of both outputs, without empty ones."""


def nothing(line: str) -> None:
    """For who does not listen."""


async def run(
    arguments: list[str], environment: Mapping[str, str], tell: Tell = nothing, descriptors: Sequence[int] = ()
) -> Finished:
    """`tell` gets each line as it comes; the program inherits the descriptors."""
    process = await asyncio.create_subprocess_exec(
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
        cwd="/",  # a configuration file that lies about in a folder is nobody's wish
        env=dict(environment),
        limit=LINE_BYTES,
        pass_fds=descriptors,
    )
    assert process.stdout is not None
    lines: list[str] = []
    try:
        while line := await _line(process.stdout):
            text = line.decode(errors="replace").rstrip()
            if text:
                tell(text)
                lines = [*lines[-LINES:], text]
        return Finished(await process.wait(), tuple(lines))
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def _line(stream: asyncio.StreamReader) -> bytes:
    """A line, or as much of a longer one as is kept."""
    try:
        return await stream.readuntil(b"\n")
    except asyncio.IncompleteReadError as end:
        return end.partial
    except asyncio.LimitOverrunError as long:
        return await stream.readexactly(long.consumed)
