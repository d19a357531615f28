"""Has loaded what a Host needs and forks one whenever it is asked to: most of a start's time is to load it. It opens
nothing and starts no thread before, so that each child is what the same command in a process of its own would be.

`python -P fork_server.py SOCKET ROOM`. ROOM is as long as the longest command line may be, since a child's own takes
the place of this one: tests find a Host by the data directory that is named there.
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
    "parlour.plugin_runtime.process.reaper",
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
    gc.freeze()
    gc.enable()


def wait_for_a_command(asking: socket.socket) -> list[str]:
    """Returns in each child with what it is to run; in the server itself never."""
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
            tell_of_the_dead(children)
        if asking in ready:
            message, files, _, _ = socket.recv_fds(asking, LARGEST, 3)
            if not message:
                sys.exit()  # whoever asked has ended
            if (child := os.fork()) == 0:
                return become(files[:2], **json.loads(message))
            children[child] = remember(child, *files)


def remember(child: int, output: int, errors: int, telling: int) -> socket.socket:
    os.close(output)
    os.close(errors)
    told = socket.socket(fileno=telling)
    _tell(told, child)
    return told


def tell_of_the_dead(children: dict[int, socket.socket]) -> None:
    for child in list(children):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            with children.pop(child) as told:
                _tell(told, os.waitstatus_to_exitcode(status))


def _tell(told: socket.socket, number: int) -> None:
    with suppress(OSError):  # nobody wants to know any more
        told.sendall(f"{number}\n".encode())


def become(files: list[int], command: list[str], environment: dict[str, str]) -> list[str]:
    """Takes over what the command is given, and leaves behind what is the server's or another child's."""
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
    sys.modules["parlour.plugin_runtime.process.reaper"].HOST_MARK = uuid4().hex  # type: ignore[attr-defined]
    show(command)
    return command


def show(command: list[str]) -> None:
    """As this process' command line, with one more word that fills the place."""
    begin, end = map(int, Path("/proc/self/stat").read_text().rpartition(")")[2].split()[45:47])
    line = "\0".join([*command, "."]).encode()
    assert len(line) < end - begin, "ROOM is too small"
    ctypes.memmove(begin, line.ljust(end - begin - 1, b".") + b"\0", end - begin)


def run(command: list[str]) -> None:
    """As Python itself would: a script, or `python -m MODULE`."""
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
