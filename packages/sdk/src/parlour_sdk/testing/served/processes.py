"""Starts the programs of a test as child processes, without a sandbox, as a Host starts granted programs."""

import asyncio
import contextlib
import os
import signal
import tempfile
from base64 import b64decode, b64encode
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path

from parlour_sdk.protocol.calls import Done
from parlour_sdk.protocol.errors import AgentAPIError, AgentAPIException
from parlour_sdk.protocol.processes import ProcessOutput, ProcessStart, ProcessWrite

from ..gate import Handler
from ..sessions import Caller

OUTPUT_BYTES = 64 * 1024


class Processes:
    """Programs by command. Each plugin that may start programs may start all of them."""

    def __init__(self, programs: Mapping[str, Sequence[str]]) -> None:
        self._programs = programs
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self.running: dict[str, asyncio.subprocess.Process] = {}
        self._workspaces: dict[str, Path] = {}
        self.starts: list[ProcessStart] = []

    def handlers(self) -> dict[str, Handler]:
        return {"process_start": self._start, "process_write": self._write}

    async def _start(self, caller: Caller, request: ProcessStart) -> AsyncGenerator[ProcessOutput, None]:
        self.starts.append(request)
        if request.command not in self._programs:
            raise _error("not_found", f"command: '{request.command}' is not installed; give FakeHost programs")
        workspace, home = self._make("workspaces", request.workspace), self._make("homes", request.home)
        for file in request.files:
            path = (workspace if file.place == "workspace" else home) / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.text)
        process = await asyncio.create_subprocess_exec(
            *self._programs[request.command],
            *request.arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            cwd=workspace,
            env={**os.environ, **_with_places(request.environment, workspace, home), "HOME": str(home)},
        )
        process_id = f"process-{len(self.starts)}"
        self.running[process_id], self._workspaces[process_id] = process, workspace
        try:
            yield ProcessOutput(kind="started", process_id=process_id, working_directory=str(workspace))
            assert process.stdout is not None
            while content := await process.stdout.read(OUTPUT_BYTES):
                yield ProcessOutput(kind="stdout", content_base64=b64encode(content).decode())
            yield ProcessOutput(kind="exited", status=await process.wait())
        finally:
            self.running.pop(process_id, None)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

    async def _write(self, caller: Caller, request: ProcessWrite) -> Done:
        process = self.running.get(request.process_id)
        if process is None or process.stdin is None:
            raise _error("not_found", "process_id: no such program of this plugin is running")
        content = b64decode(request.content_base64)
        if request.file:
            path = self._workspaces[request.process_id] / request.file
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as file:
                file.write(content)
            return Done()
        process.stdin.write(content)
        await process.stdin.drain()
        if request.close:
            process.stdin.close()
        return Done()

    def _make(self, kind: str, name: str) -> Path:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="parlour-programs-")
        path = Path(self._folder.name, kind, name.strip("/") or "default")
        path.mkdir(parents=True, exist_ok=True)
        return path


def _with_places(variables: Mapping[str, str], workspace: Path, home: Path) -> dict[str, str]:
    return {
        name: value.replace("{home}", str(home)).replace("{workspace}", str(workspace))
        for name, value in variables.items()
    }


def _error(code: str, message: str) -> AgentAPIException:
    return AgentAPIException(AgentAPIError(code=code, message=message))
