"""Does what containers need besides: connects to the Box, counts what limits have stopped, and reaps processes."""

import os
import socket

FIRST_PROCESS = 1
COUNTERS = (
    ("/sys/fs/cgroup/memory.events", "oom_kill", "memory"),
    ("/sys/fs/cgroup/memory/memory.oom_control", "oom_kill", "memory"),
    ("/sys/fs/cgroup/pids.events", "max", "processes"),
    ("/sys/fs/cgroup/pids/pids.events", "max", "processes"),
)
"""Files of control groups of version 2 and 1, the name of the counter, and the limit that it counts."""
SHOWN_COUNTERS = [counter for counter in COUNTERS if os.path.exists(counter[0])]


def connect(path: str) -> tuple[int, int]:
    """Connects to the Box. It accepts one connection, made before the first command, and no other."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(path)
    descriptor = connection.detach()
    return descriptor, os.dup(descriptor)


def leave_first_process() -> None:
    """Continues in a child if this is the first process of a sandbox, whose duty is to reap all others."""
    if os.getpid() != FIRST_PROCESS:
        return
    child = os.fork()
    while child:
        ended, _ = os.wait()
        if ended == child:
            os._exit(0)  # which ends the sandbox


def pressure() -> dict[str, int]:
    """Returns how often the kernel has enforced each limit, where the container shows it."""
    counted: dict[str, int] = {}
    for path, name, limit in SHOWN_COUNTERS:
        try:
            with open(path, encoding="ascii") as file:
                fields = dict(line.split(" ", 1) for line in file if " " in line)
            counted[limit] = int(fields.get(name, 0))
        except (OSError, ValueError):
            continue
    return counted
