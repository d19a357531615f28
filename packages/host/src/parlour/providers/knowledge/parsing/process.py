"""Reads each file in a process of its own: without network, in a sandbox where there is one, and bounded."""

import asyncio
import contextlib
import json
import logging
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import parlour
import parlour_sdk
from parlour.core.knowledge.ports import KnowledgeFailed, ParsedPart
from parlour.core.model.knowledge import ChunkSettings, Passage
from parlour.isolation.availability import SandboxUnavailable, find_bubblewrap, working_bubblewrap
from parlour.isolation.bubblewrap import Bubblewrap
from parlour.isolation.mounts import interpreter_mounts, same_path, system_mounts, with_real_path
from parlour.isolation.process import IsolatedProcess, spawn
from parlour.isolation.sandbox_spec import SandboxLimits, SandboxSpec
from parlour.isolation.sandboxed_process import SandboxedProcess
from parlour_sdk.values import dataclass
from parlour_sdk.wire.pipe import Pipe

from . import ocr
from .file_types import IMAGES, PDF, detect_type

logger = logging.getLogger(__name__)

WORKER = "parlour.providers.knowledge.parsing.worker"
MAX_LINE_BYTES = 8 * 1024 * 1024
MAX_OUTPUT_BYTES = 256 * 1024 * 1024
OPEN_FILES = 64
NICENESS = 10
KILLED_FOR_TIME = -24
"""Exit status of a process that used up its time on the CPU (SIGXCPU)."""


@dataclass(frozen=True, slots=True)
class ParserLimits:
    """Limits of the process that reads one file."""

    seconds: float = 120.0
    memory_mb: int = 1024


class ParserProcesses:
    """Starts a process per file and passes its passages on."""

    def __init__(self, limits: ParserLimits, bubblewrap: Path | None = None, use_sandbox: bool = True) -> None:
        self._limits = limits
        self._program = bubblewrap
        self._use_sandbox = use_sandbox
        self._bubblewrap: Bubblewrap | None = None
        self._is_probed = False
        self._probing = asyncio.Lock()

    def detect(self, head: bytes, name: str, mime_type: str, parser: str = "") -> str | None:
        return detect_type(head, name, mime_type, takes_images=ocr.is_installed())

    async def parse(
        self, path: Path, name: str, mime_type: str, settings: ChunkSettings, parser: str = ""
    ) -> AsyncIterator[ParsedPart]:
        """Yields the passages of a file as its process finds them. Raises KnowledgeFailed."""
        process = await self._start(path, name, mime_type, settings)
        try:
            async with asyncio.timeout(self._limits.seconds):
                async for part in self._parts(process):
                    yield part
        except TimeoutError:
            message = f"reading the file took longer than {self._limits.seconds:g} s"
            raise KnowledgeFailed("parse.timeout", message) from None
        finally:
            await process.kill()
            await process.wait()
            process.close()

    async def _parts(self, process: IsolatedProcess) -> AsyncIterator[ParsedPart]:
        received = 0
        async with _lines(process) as lines:
            while True:
                try:
                    line = await lines.readuntil(b"\n")
                except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                    break
                received += len(line)
                if received > MAX_OUTPUT_BYTES:
                    raise KnowledgeFailed("file.too_large", "the file has too much text")
                message = json.loads(line)
                if "end" in message:
                    return
                if "error" in message:
                    raise KnowledgeFailed(message["error"]["code"], message["error"]["message"])
                yield _part(message)
        status = await process.wait()
        log = await _last_log(process)
        logger.warning("the reader of a file ended with status %d: %s", status, log)
        if status == KILLED_FOR_TIME:
            message = f"reading the file took longer than {self._limits.seconds:g} s"
            raise KnowledgeFailed("parse.timeout", message)
        raise KnowledgeFailed("parse.failed", "the file made its reader crash")

    async def _start(self, path: Path, name: str, mime_type: str, settings: ChunkSettings) -> IsolatedProcess:
        limits = self._limits
        options = [settings.chunker, str(settings.tokens), str(settings.overlap)]
        needs_more = mime_type == PDF or mime_type in IMAGES
        memory_mb = max(limits.memory_mb, ocr.MIN_MEMORY_MB) if needs_more and ocr.is_installed() else limits.memory_mb
        bounds = [str(memory_mb), str(int(limits.seconds))]
        command = [sys.executable, "-P", "-m", WORKER, str(path), name, mime_type, *options, *bounds]
        bubblewrap = await self._sandbox()
        if bubblewrap is None:
            process: IsolatedProcess = await spawn(command, path.parent, IsolatedProcess, _variables())
        else:
            with bubblewrap.wrap(_sandbox_spec(command, path)) as boxed:
                process = await spawn(boxed.arguments, path.parent, SandboxedProcess, {}, boxed.descriptors)
        os.close(process.write_fd)
        await process.apply_limits(OPEN_FILES, NICENESS)
        return process

    async def _sandbox(self) -> Bubblewrap | None:
        """Returns the sandbox as it works here, tried out once; None without one."""
        async with self._probing:
            if not self._is_probed and self._use_sandbox:
                try:
                    program = find_bubblewrap(self._program)
                    if program is not None:
                        probe = _sandbox_spec([sys.executable, "-c", "import parlour"], None)
                        self._bubblewrap, _ = await working_bubblewrap(program, (), probe)
                except SandboxUnavailable as missing:
                    logger.warning("files of knowledge bases are read without a sandbox: %s", missing)
            self._is_probed = True
        return self._bubblewrap


def _sandbox_spec(command: list[str], path: Path | None) -> SandboxSpec:
    """Returns a sandbox that shows the interpreter, the Host's code and one file, and has no network."""
    mounts = [
        *system_mounts(),
        *interpreter_mounts(Path(sys.executable)),
        *with_real_path(Path(parlour.__file__).parent),
        *with_real_path(Path(parlour_sdk.__file__).parent),
        *((same_path(path),) if path is not None else ()),
    ]
    return SandboxSpec(
        command, mounts, environment=_variables(), host_name="reader", limits=SandboxLimits(temporary_mb=64)
    )


def _variables() -> dict[str, str]:
    folders = sorted({Path(each.__file__ or "").parent.parent for each in (parlour, parlour_sdk)})
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join(map(str, folders)),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@contextlib.asynccontextmanager
async def _lines(process: IsolatedProcess) -> AsyncIterator[asyncio.StreamReader]:
    reader = asyncio.StreamReader(limit=MAX_LINE_BYTES)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), Pipe(process.read_fd, loop)
    )
    try:
        yield reader
    finally:
        transport.close()


async def _last_log(process: IsolatedProcess) -> str:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(1):
            return (await process.log.read(4096)).decode(errors="replace")[-300:]
    return ""


def _part(message: dict[str, Any]) -> ParsedPart:
    passages = [Passage(**values) for values in message["passages"]]
    return ParsedPart(
        passages, message["percent"], message["pages"], message.get("type", ""), message.get("chunk_seconds", 0.0)
    )
