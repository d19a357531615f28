"""Runs a program to its end and keeps its output. It is killed with its children if the caller is cancelled."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence

from parlour_sdk.values import dataclass

MAX_LINE_BYTES = 64 * 1024
MAX_LINES = 200

OnLine = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ProcessResult:
    status: int
    lines: tuple[str, ...]
    """The last lines of both outputs, without empty ones."""


def ignore_line(line: str) -> None:
    """Ignores a line of output."""


async def run(
    arguments: list[str], environment: Mapping[str, str], on_line: OnLine = ignore_line, descriptors: Sequence[int] = ()
) -> ProcessResult:
    """Runs a program, which inherits the descriptors, and passes on each line of output as it comes."""
    process = await asyncio.create_subprocess_exec(
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
        cwd="/",  # so that no configuration file of the current folder applies
        env=dict(environment),
        limit=MAX_LINE_BYTES,
        pass_fds=descriptors,
    )
    assert process.stdout is not None
    lines: list[str] = []
    try:
        while line := await _line(process.stdout):
            text = line.decode(errors="replace").rstrip()
            if text:
                on_line(text)
                lines = [*lines[-MAX_LINES:], text]
        return ProcessResult(await process.wait(), tuple(lines))
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def _line(stream: asyncio.StreamReader) -> bytes:
    """Returns a line, or as much of a longer one as is kept."""
    try:
        return await stream.readuntil(b"\n")
    except asyncio.IncompleteReadError as error:
        return error.partial
    except asyncio.LimitOverrunError as long:
        return await stream.readexactly(long.consumed)
