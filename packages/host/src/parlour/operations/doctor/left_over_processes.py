"""Checks whether processes are left over that plugins, or programs of plugins such as coding agents, had started.

A Host ends them all, and a process beside it does so if the Host is killed. They stay if that process is killed too.
"""

import os
from collections.abc import AsyncIterator
from pathlib import Path

from parlour.app.settings import HostSettings
from parlour.isolation import orphan_cleanup

from .finding import Finding, ok, warning

AREA = "processes"
MAX_LISTED = 10


async def check(settings: HostSettings) -> AsyncIterator[Finding]:
    found = find_left_over(settings.data.absolute())
    if not found:
        yield ok(AREA, "none of plugins and their programs are left over")
        return
    listed = ", ".join(f"{pid} ({name})" for pid, name in list(found.items())[:MAX_LISTED])
    more = f" and {len(found) - MAX_LISTED} more" if len(found) > MAX_LISTED else ""
    sentence = f"a Host that is gone has left {len(found)} behind: {listed}{more}"
    yield warning(AREA, sentence, f"end them: kill -9 {' '.join(map(str, found))}")


def find_left_over(data: Path) -> dict[int, str]:
    """Returns the name of each marked process of a data directory whose Host is gone, by its id."""
    command_lines = {int(name): _read(name, "cmdline") for name in _process_names()}
    watched = [line for line in command_lines.values() if os.fsencode(orphan_cleanup.__file__) in line]
    places = (os.fsencode(data), os.fsencode(os.path.realpath(data)))
    found: dict[int, str] = {}
    for pid in sorted(orphan_cleanup.find_marked("")):
        variables = _read(str(pid), "environ")
        host_mark = variables.partition(f"{orphan_cleanup.VARIABLE}=".encode())[2].partition(b".")[0]
        is_watched = any(line.rstrip(b"\0").endswith(host_mark) for line in watched)
        if not is_watched and any(place in variables for place in places):
            found[pid] = _read(str(pid), "comm").decode(errors="replace").strip() or "?"
    return found


def _process_names() -> list[str]:
    try:
        return [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:  # not on Linux
        return []


def _read(process: str, file: str) -> bytes:
    try:
        return Path("/proc", process, file).read_bytes()
    except OSError:  # it has exited, or belongs to another user
        return b""
