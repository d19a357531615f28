"""Describes what a reader needs to judge the figures: machine, load, versions, durability."""

import importlib.util
import os
import platform
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import psutil

from parlour.stores.sqlite.journal import PRAGMAS

REPOSITORY = Path(__file__).resolve().parent.parent


@contextmanager
def work_folder() -> Iterator[Path]:
    """Creates a working directory that is deleted at the end. /var/tmp is on a disk even where /tmp is in memory."""
    parent = "/var/tmp" if Path("/var/tmp").is_dir() else None
    folder = Path(tempfile.mkdtemp(prefix="parlour-bench-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def describe(folder: Path, database: str) -> dict[str, str]:
    busy = psutil.cpu_percent(interval=0.5)
    libraries = ("parlour", "uvloop", "uvicorn", "fastapi", "pydantic", "aiohttp")
    return {
        "machine": f"{psutil.cpu_count()} CPUs, {psutil.virtual_memory().total >> 20} MB, {platform.platform()}",
        "load before": f"{load()} (1, 5, 15 min); {busy:.0f}% of all CPUs were busy with other work just now",
        "python": f"{platform.python_version()}, SQLite {sqlite3.sqlite_version}",
        "libraries": ", ".join(f"{name} {version(name)}" for name in libraries),
        "durability": f"{_durability(database)}; an answer comes after the commit of what it tells",
        "data": f"{folder} on {_file_system(folder)}",
        "bytecode": _bytecode(),
    }


def load() -> str:
    return ", ".join(f"{value:.2f}" for value in os.getloadavg())


def _durability(database: str) -> str:
    """Describes the durability that the Host's journal sets; a running connection can't be queried from outside."""
    if database == "postgres":
        return "PostgreSQL in a server of its own on this machine, fsync=on, synchronous_commit=on"
    return ", ".join(each for each in PRAGMAS if each.startswith(("journal_mode", "synchronous")))


def _file_system(folder: Path) -> str:
    mounts = [each for each in psutil.disk_partitions(all=True) if folder.is_relative_to(each.mountpoint)]
    if not mounts:
        return "an unknown file system"
    mount = max(mounts, key=lambda each: len(each.mountpoint))
    return f"{mount.fstype} ({mount.device})"


def _bytecode() -> str:
    """Describes the state of bytecode caches. Start-up time depends on it: a module without bytecode is compiled at
    every start if the cache can't be written."""
    sources = list(REPOSITORY.glob("packages/*/src/**/*.py"))
    stale = [source for source in sources if not _is_compiled(source)]
    state = "not written" if sys.dont_write_bytecode else "written"
    return f"{len(stale)} of {len(sources)} of Parlour's modules have none; it is {state} in this environment"


def _is_compiled(source: Path) -> bool:
    cached = Path(importlib.util.cache_from_source(str(source)))
    if not cached.is_file():
        return False
    stamp = int.from_bytes(cached.read_bytes()[8:12], "little")
    return stamp == int(source.stat().st_mtime) & 0xFFFFFFFF
