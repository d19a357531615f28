"""Finds processes by their command lines or folders. Their ids are unknown, because they start inside sandboxes."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import psutil

MAX_AREA_BYTES = 256 * 1024 * 1024
"""Larger areas of memory are reservations."""


def processes_naming(text: str) -> list[psutil.Process]:
    """Returns the running processes whose command line contains a text."""
    found = psutil.process_iter(["cmdline", "status"])
    return [each for each in found if any(text in word for word in each.info["cmdline"] or ()) and _is_alive(each)]


def find_in_memory(folder: Path, pattern: re.Pattern[bytes]) -> set[str]:
    """Returns every match in the memory of the processes that work in a folder. Only root can read it everywhere."""
    found: set[str] = set()
    for process in psutil.process_iter():
        try:
            if process.cwd() == str(folder):
                found |= {each.decode() for area in _areas(process.pid) for each in pattern.findall(area)}
        except (OSError, psutil.Error):  # it has ended, or belongs to another user
            continue
    return found


def _areas(pid: int) -> Iterator[bytes]:
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            area, rights, *_ = line.split(maxsplit=2)
            start, end = (int(each, 16) for each in area.split("-"))
            if rights.startswith("rw") and end - start <= MAX_AREA_BYTES:
                with contextlib.suppress(OSError, ValueError):
                    memory.seek(start)
                    yield memory.read(end - start)


def _is_alive(process: psutil.Process) -> bool:
    return bool(process.info["status"] != psutil.STATUS_ZOMBIE)
