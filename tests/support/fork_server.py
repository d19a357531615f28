"""Loads the modules that a Host needs and forks one Host per request, because loading takes most of a start's time. It
opens no file and starts no thread before, so that each child equals the same command in a process of its own.

`python -P fork_server.py SOCKET ROOM`. ROOM is as long as the longest command line may be, because a child's command
line overwrites this one: tests find a Host by the data directory that is named there.
"""

import ctypes
import gc
import importlib
import json
import os
import random
import runpy
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

LOADED = (
    "parlour.app.core",
    "parlour.cli.runtime",
    "parlour.cli.serve",
    "parlour.isolation.reaper",
    "parlour.stores.migrate",
    "parlour.stores.sqlite",
    "parlour.app.web.server",
    "uvicorn.lifespan.off",
    "uvicorn.protocols.http.httptools_impl",
    "uvicorn.protocols.websockets.websockets_sansio_impl",
    "uvloop",
)
LARGEST = 65536


def load() -> None:
    gc.disable()
    for module in LOADED:
        importlib.import_module(module)
    load_routes()
    gc.freeze()
    gc.enable()


def load_routes() -> None:
    """Loads what the first request to a Host would load."""
    from parlour.http.lazy_app import deferred_model_build

    with deferred_model_build():
        importlib.import_module("parlour.http.fastapi_app")
    importlib.import_module("parlour.app.web.routes")


def wait_for_a_command(asking: socket.socket) -> list[str]:
    """Returns in each child with the command to run. It never returns in the server itself."""
    woken, waking = socket.socketpair()
    for end in (woken, waking):
        end.setblocking(False)
    signal.set_wakeup_fd(waking.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    children: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([asking, woken], [], [])
        if woken in ready:
            woken.recv(LARGEST)
            report_exits(children)
        if asking in ready:
            message, files, _, _ = socket.recv_fds(asking, LARGEST, 3)
            if not message:
                sys.exit()  # the process that sends requests has ended
            if (child := os.fork()) == 0:
                return become(files[:2], **json.loads(message))
            children[child] = remember(child, *files)


def remember(child: int, output: int, errors: int, descriptor: int) -> socket.socket:
    os.close(output)
    os.close(errors)
    status_pipe = socket.socket(fileno=descriptor)
    _report(status_pipe, child)
    return status_pipe


def report_exits(children: dict[int, socket.socket]) -> None:
    for child in list(children):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            with children.pop(child) as status_pipe:
                _report(status_pipe, os.waitstatus_to_exitcode(status))


def _report(status_pipe: socket.socket, number: int) -> None:
    with suppress(OSError):  # the process that waits for the exit status is gone
        status_pipe.sendall(f"{number}\n".encode())


def become(files: list[int], command: list[str], environment: dict[str, str]) -> list[str]:
    """Takes over the files and the environment of the command and closes what belongs to the server
    or to another child.
    """
    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, file in enumerate(files, start=1):
        os.dup2(file, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    random.seed()
    sys.modules["parlour.isolation.reaper"].HOST_MARK = uuid4().hex  # type: ignore[attr-defined]
    set_command_line(command)
    return command


def set_command_line(command: list[str]) -> None:
    """Sets the command line of this process, padded with one more argument that fills the remaining room."""
    begin, end = map(int, Path("/proc/self/stat").read_text().rpartition(")")[2].split()[45:47])
    line = "\0".join([*command, "."]).encode()
    assert len(line) < end - begin, "ROOM is too small"
    ctypes.memmove(begin, line.ljust(end - begin - 1, b".") + b"\0", end - begin)


def run(command: list[str]) -> None:
    """Runs a script or `python -m MODULE` as Python itself does."""
    words = command[1:] if command[0] == sys.executable else command
    if words[0] == "-m":
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    load()
    run(wait_for_a_command(socket.socket(fileno=int(sys.argv[1]))))
