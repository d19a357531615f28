"""Transport to a server that is a local process, over its pipes: one message per line, with a size limit.

The process runs outside any sandbox; the caller decides whether that is allowed.
"""

import asyncio
import ctypes
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from ..sanitize import sanitize_text
from .endpoint import McpEndpoint
from .errors import TransportProblem

MAX_LINE_BYTES = 8 * 1024 * 1024
MAX_KEPT_ERROR_LINES = 5
EXIT_TIMEOUT_SECONDS = 1
"""Seconds for a process to exit after its input was closed, and again after each signal."""
SET_PARENT_DEATH_SIGNAL = 1
INHERITED_VARIABLES = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TMPDIR", "USER")

_LIBRARY = ctypes.CDLL(None)
"""Loaded here, because nothing can be loaded between fork and exec."""
Incoming = SessionMessage | Exception
Streams = tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]


@asynccontextmanager
async def stdio(target: McpEndpoint, problem: TransportProblem) -> AsyncIterator[Streams]:
    """Starts the process and connects its pipes. Raises OSError if the command can't be started."""
    process = await _start(target, problem)
    to_client, incoming = anyio.create_memory_object_stream[Incoming](0)
    outgoing, from_client = anyio.create_memory_object_stream[SessionMessage](0)
    error_lines: deque[str] = deque(maxlen=MAX_KEPT_ERROR_LINES)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_listen, process, error_lines)
        tasks.start_soon(_read, process, to_client, error_lines, problem)
        tasks.start_soon(_write, process, from_client)
        try:
            yield incoming, outgoing
        finally:
            with anyio.CancelScope(shield=True):
                await _terminate(process)
            tasks.cancel_scope.cancel()


async def _start(target: McpEndpoint, problem: TransportProblem) -> Process:
    try:
        return await asyncio.create_subprocess_exec(
            target.command,
            *target.arguments,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            limit=MAX_LINE_BYTES,
            env=_environment(target.environment),
            start_new_session=True,
            preexec_fn=_die_with_parent if sys.platform == "linux" else None,
        )
    except OSError as error:
        problem.record(f"its command '{target.command[:200]}' can't be started: {error.strerror}")
        raise


def _die_with_parent() -> None:
    """Runs in the new process: a process that continues after its input has ended must not outlive the worker."""
    _LIBRARY.prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment of the process: nothing of the Host's except what every process needs."""
    return {**{name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ}, **variables}


async def _read(
    process: Process, to_client: MemoryObjectSendStream[Incoming], error_lines: deque[str], problem: TransportProblem
) -> None:
    """Reads messages until the process closes its output."""
    assert process.stdout is not None
    async with to_client:
        try:
            while line := await process.stdout.readline():
                if line.strip():
                    await to_client.send(parse_message(line))
            problem.record(await _exit_reason(process, error_lines))
        except ValueError:
            problem.record(f"it sent a line of more than {MAX_LINE_BYTES} bytes")
        except anyio.BrokenResourceError:
            pass  # the client has left


async def _exit_reason(process: Process, error_lines: deque[str]) -> str:
    exit_code = await _has_ended(process)
    last = f": {error_lines[-1]}" if error_lines else ""
    return f"its process {f'ended with status {process.returncode}' if exit_code else 'closed its output'}{last}"


def parse_message(line: bytes) -> Incoming:
    """Returns the message of a line, or the error if it is none."""
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error  # an invalid line affects no other message


async def _write(process: Process, from_client: MemoryObjectReceiveStream[SessionMessage]) -> None:
    assert process.stdin is not None
    async with from_client:
        async for message in from_client:
            line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            with suppress(ConnectionError, RuntimeError):  # the end of the process is noticed by the reader
                process.stdin.write(line.encode() + b"\n")
                await process.stdin.drain()


async def _listen(process: Process, error_lines: deque[str]) -> None:
    """Keeps the last lines that the process writes to its error output."""
    assert process.stderr is not None
    with suppress(ValueError):  # a line over the size limit
        while line := await process.stderr.readline():
            if text := sanitize_text(line.decode(errors="replace")).strip():
                error_lines.append(text[:300])


async def _terminate(process: Process) -> None:
    """Ends the process and everything it started, as the protocol requires: close its input, then SIGTERM, then
    SIGKILL.
    """
    assert process.stdin is not None
    process.stdin.close()
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
        if await _has_ended(process):
            break
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)  # processes that it left behind in its group


async def _has_ended(process: Process) -> bool:
    with anyio.move_on_after(EXIT_TIMEOUT_SECONDS):
        await process.wait()
    return process.returncode is not None
