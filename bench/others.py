"""Measures the start and the memory of another system with its web page, and of Parlour in the same way.

The other systems are installed from the package index into `.tools/others`, in exactly the version that is named here.
"""

import asyncio
import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import psutil

from parlour.testing.network import free_port

from .environment import REPOSITORY
from .host import Unmeasurable
from .report import Figure

FOLDER = REPOSITORY / ".tools" / "others"
UV = REPOSITORY / ".tools" / "bin" / "uv"
START_SECONDS = 240.0
POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class System:
    name: str
    command: tuple[str, ...]
    """Its program, below the folder of its environment, and arguments; `PORT` stands for the port of its page."""
    package: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)


LANGBOT = System("LangBot 4.11.2", ("bin/langbot",), "langbot==4.11.2", {"API__PORT": "PORT"})
PARLOUR = System("Parlour", ("bin/parlour", "serve", "--data", "data", "--port", "PORT"))


@dataclass(frozen=True, slots=True)
class Size:
    starts: int
    idle_seconds: float


FULL = Size(starts=3, idle_seconds=20)
QUICK = Size(starts=1, idle_seconds=10)


async def measure(folder: Path, size: Size) -> list[Figure]:
    """Starts each system in turn. The first start of each, which writes its files, is not counted."""
    figures = []
    for system in (PARLOUR, LANGBOT):
        environment = await asyncio.to_thread(_installed, system)
        work = folder / system.name.partition(" ")[0].lower()
        work.mkdir()
        seconds, memory = [], 0.0
        for _ in range(size.starts + 1):
            with _running(system, environment, work) as (process, took):
                seconds.append(took)
                await asyncio.sleep(size.idle_seconds if len(seconds) == size.starts + 1 else 0)
                memory = sum(each.memory_info().rss for each in _tree(process)) / 1e6
        span = f"{min(seconds[1:]):.1f} to {max(seconds[1:]):.1f}"
        spread = f"median of {size.starts}: {span}; with no data {seconds[0]:.1f}"
        figures += [
            Figure(f"{system.name}: start to the first answer of its page", median(seconds[1:]), "s", note=spread),
            Figure(f"{system.name}: RSS of all its processes, idle", memory, "MB"),
        ]
    return figures


def _installed(system: System) -> Path:
    """Returns the environment with this system, which is installed if it is not there yet."""
    if not system.package:
        return Path(sys.prefix)
    environment = FOLDER / system.package
    if not (environment / "installed").exists():
        for words in (("venv", "--clear", environment), ("pip", "install", "--python", environment, system.package)):
            finished = subprocess.run([UV, *words, "--quiet"], capture_output=True, text=True, check=False)
            if finished.returncode:
                raise Unmeasurable(f"{system.package} can't be installed: {finished.stderr.strip()[-300:]}")
        (environment / "installed").touch()
    return environment


@contextmanager
def _running(system: System, environment: Path, work: Path) -> Iterator[tuple[subprocess.Popen[bytes], float]]:
    port = str(free_port())
    command = [str(environment / system.command[0]), *(word.replace("PORT", port) for word in system.command[1:])]
    variables = {name: value.replace("PORT", port) for name, value in system.environment.items()}
    started = time.perf_counter()
    with (work / "output.txt").open("wb") as output:
        process = subprocess.Popen(
            command, cwd=work, env={**os.environ, **variables}, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    try:
        while not _answers(int(port)):
            if process.poll() is not None or time.perf_counter() - started > START_SECONDS:
                raise Unmeasurable(f"{system.name} does not answer: {(work / 'output.txt').read_text()[-300:]}")
            time.sleep(POLL_SECONDS)
        yield process, time.perf_counter() - started
    finally:
        processes = _tree(process)
        process.send_signal(signal.SIGTERM)
        for left in psutil.wait_procs(processes, 10)[1]:
            left.kill()
        process.wait()


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _tree(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    try:
        root = psutil.Process(process.pid)
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []
