"""The port that starts a plugin's process, and its plain form. A sandboxed one joins here."""

import asyncio
import contextlib
import os
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from parlour_sdk.protocol.manifest import PluginLimits

ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "VIRTUAL_ENV", "SYSTEMROOT", "PYTHONPATH")
"""What a plugin sees of the Host's environment; no secret is in it."""


@dataclass(frozen=True, slots=True)
class Start:
    """All that the start of one plugin's process needs to know."""

    plugin_id: str
    folder: Path
    """Its code, which it may read."""
    data: Path
    """Its own folder, which it may write."""
    python: Path = Path(sys.executable)
    """The interpreter of its environment."""
    limits: PluginLimits = field(default_factory=PluginLimits)
    network: tuple[str, ...] = ()
    """The hosts it was granted; none means no network."""


class PluginProcess(Protocol):
    """A started process: the wire's file descriptors, its log, its end."""

    pid: int
    read_fd: int
    write_fd: int
    log: asyncio.StreamReader

    async def wait(self) -> int: ...

    def kill_group(self, number: signal.Signals) -> None: ...


class Launcher(Protocol):
    async def launch(self, start: Start) -> PluginProcess: ...


@dataclass(slots=True)
class PlainProcess:
    pid: int
    read_fd: int
    write_fd: int
    log: asyncio.StreamReader
    process: asyncio.subprocess.Process

    async def wait(self) -> int:
        return await self.process.wait()

    def kill_group(self, number: signal.Signals) -> None:
        """The plugin leads its own group, so its children go with it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)


class PlainLauncher:
    """A child process in its own group, with an allowlisted environment and nothing else in its way."""

    async def launch(self, start: Start) -> PluginProcess:
        return await spawn(command(start), start.folder)


def command(start: Start) -> list[str]:
    return [str(start.python), "-m", "parlour_sdk.worker", str(start.folder)]


async def spawn(arguments: list[str], folder: Path) -> PlainProcess:
    child_read, write_fd = os.pipe()
    read_fd, child_write = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *arguments,
            stdin=child_read,
            stdout=child_write,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            cwd=folder,
            env={name: os.environ[name] for name in ENVIRONMENT if name in os.environ},
        )
    except BaseException:
        os.close(read_fd)
        os.close(write_fd)
        raise
    finally:
        os.close(child_read)
        os.close(child_write)
    assert process.stderr is not None
    return PlainProcess(process.pid, read_fd, write_fd, process.stderr, process)
