"""Tries what the message says, `[verb, argument...]` as JSON, and answers with the outcome as JSON."""

import ctypes
import errno
import json
import os
import signal
import socket
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from parlour_sdk import results
from parlour_sdk.api import AgentRunAPI
from parlour_sdk.components import AgentRunner
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.results import Result


class Prober(AgentRunner):
    async def run(self, ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
        verb, *arguments = json.loads(ctx.input.text or "")
        try:
            answer = PROBES[verb](*arguments)
        except OSError as error:
            answer = {"refused": type(error).__name__}
        yield results.completed(json.dumps(answer))


def read(path: str) -> str:
    return Path(path).read_bytes()[:1000].decode(errors="replace")


def names(path: str) -> list[str]:
    return sorted(os.listdir(path))


def write(path: str, text: str) -> str:
    Path(path).write_text(text)
    return "written"


def connect(port: int) -> str:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        return connection.recv(100).decode()


def processes() -> dict[str, Any]:
    """Returns all visible command lines."""
    seen = {name: read(f"/proc/{name}/cmdline") for name in os.listdir("/proc") if name.isdigit()}
    return {"seen": seen, "own": os.getpid(), "parent": os.getppid()}


def kill(pid: int) -> str:
    os.kill(pid, signal.SIGKILL)
    return "sent"


def environments() -> list[str]:
    """Returns the environment of every process whose environment can be read."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            found.append(read(f"/proc/{name}/environ"))
        except OSError:
            continue
    return found


def system_calls(numbers: dict[str, int], *arguments: int) -> dict[str, str]:
    """Makes each system call with these arguments and names the error that it ends with."""
    library = ctypes.CDLL(None, use_errno=True)
    answers = {}
    for name, number in numbers.items():
        ctypes.set_errno(0)
        result = library.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments))
        answers[name] = errno.errorcode[ctypes.get_errno()] if result == -1 else "done"
    return answers


PROBES = {
    "system_calls": system_calls,
    "read": read,
    "names": names,
    "write": write,
    "connect": connect,
    "processes": processes,
    "kill": kill,
    "environments": environments,
    "home": lambda: str(Path.home()),
}
