"""Finds processes by a mark in their environment and kills them. As a program, it first waits for its Host's end.

A child inherits the mark wherever it goes: into another process group, another session, or to another parent. As a
program it outlives a killed Host only as long as it takes to kill what that Host's plugins left behind, so it imports
almost nothing.
"""

import contextlib
import os
import signal
import sys
import time

VARIABLE = "PARLOUR_PLUGIN_PROCESS"
_ROUNDS = 200
_PAUSE_SECONDS = 0.01


def find_marked(beginning: str) -> set[int]:
    """Returns the processes whose mark starts with `beginning`. Works only on Linux."""
    marker = f"\0{VARIABLE}={beginning}".encode()
    return {pid for pid in _processes() if marker in b"\0" + _environment(pid)}


def kill_marked(beginning: str) -> None:
    """Kills the processes whose mark starts with `beginning`.

    It does so repeatedly, since one that was not found yet may start a child at any moment.
    """
    for _ in range(_ROUNDS):
        pids = find_marked(beginning)
        if not pids:
            return
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_PAUSE_SECONDS)


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _environment(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read()
    except OSError:  # it has exited, or belongs to another user
        return b""


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()  # ends when the Host does
    kill_marked(sys.argv[1])


if __name__ == "__main__":
    main()
