"""Runs granted programs: their output as a stream, their limits, and an end that leaves nothing of them."""

import asyncio
import contextlib
from base64 import b64encode
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from uuid import uuid4

from parlour.core.asyncio_utils import BackgroundTasks
from parlour.core.errors import CallRejected
from parlour.core.model.ids import PluginId
from parlour.isolation.process import IsolatedProcess
from parlour.isolation.reaper import ReaperProcess
from parlour_sdk.protocol.processes import ProcessOutput, ProcessPermission, ProcessStart
from parlour_sdk.values import dataclass
from parlour_sdk.wire.pipe import Pipe

from ..process.launcher import Launcher
from ..supervision.limits import measure_folder, watch_folder, watch_processes
from ..supervision.policy import ResourceLimits
from .commands import ProgramFinder
from .folders import ProgramFolders, locked, write_file
from .launch import ProgramPlan, launch, plan_start

OUTPUT_BYTES = 64 * 1024
"""Bytes of output in one part."""
OUTPUT_PARTS = 16
"""Parts of output that wait for the plugin; then the program waits too."""
STEP_SECONDS = 2.0
"""Seconds that a program has to end after its input is closed, and again after SIGTERM."""
REAP_SECONDS = 1.0
WRITE_SECONDS = 30.0
CLEANUP_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """The most that programs of one plugin may use."""

    at_once: int
    memory_mb: int
    resources: ResourceLimits
    """Limits of processes, open files and folders."""
    max_age_days: int
    """Days after which an unused working directory is deleted."""
    home_days: int
    """Days after which an unused home folder is deleted."""


class StartedProgram:
    """One started program with its pipes."""

    def __init__(self, plugin_id: PluginId, plan: ProgramPlan, process: IsolatedProcess) -> None:
        self.plugin_id = plugin_id
        self.plan = plan
        self.process = process
        self.reason = ""
        """Why the Host ended it; empty if it ended by itself."""
        self._input: asyncio.StreamWriter | None = None
        self._writing = asyncio.Lock()
        self.queue: asyncio.Queue[ProcessOutput | None] = asyncio.Queue(OUTPUT_PARTS)
        self._pumps: list[asyncio.Task[None]] = []
        self._output: asyncio.BaseTransport | None = None

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(OUTPUT_BYTES)
        self._output, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), Pipe(self.process.read_fd, loop)
        )
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), Pipe(self.process.write_fd, loop)
        )
        self._input = asyncio.StreamWriter(transport, protocol, None, loop)
        self._pumps = [
            asyncio.create_task(self._pump(reader, "stdout")),
            asyncio.create_task(self._pump(self.process.log, "stderr")),
        ]

    async def write(self, content: bytes, close: bool) -> None:
        """Writes to its input. Raises CallRejected if it has closed it, or does not read."""
        if self._input is None:
            raise CallRejected("conflict", "process_write: the program's standard input is closed")
        try:
            async with asyncio.timeout(WRITE_SECONDS), self._writing:
                self._input.write(content)
                await self._input.drain()
        except TimeoutError:
            raise CallRejected("deadline_exceeded", f"the program read nothing for {WRITE_SECONDS:g} s") from None
        except OSError:
            raise CallRejected("conflict", "process_write: the program's standard input is closed") from None
        if close:
            self.close_input()

    def close_input(self) -> None:
        writer, self._input = self._input, None
        if writer is not None:
            writer.close()

    async def end(self) -> int | None:
        """Ends it and everything that it started: by closing its input, SIGTERM, and SIGKILL. Returns its status."""
        self.close_input()
        for pump in self._pumps:
            pump.cancel()
        status = await self._exit_within(STEP_SECONDS)
        if status is None:
            await self.process.terminate()
            status = await self._exit_within(STEP_SECONDS)
        await self.process.kill()
        if status is None:
            status = await self._exit_within(REAP_SECONDS)
        if self._output is not None:
            self._output.close()
        self.process.close()
        return status

    async def kill(self) -> None:
        """Kills it at once; `end` follows."""
        await self.process.kill()

    async def _exit_within(self, seconds: float) -> int | None:
        with contextlib.suppress(TimeoutError):
            return await asyncio.wait_for(self.process.wait(), seconds)
        return None

    async def _pump(self, reader: asyncio.StreamReader, kind: str) -> None:
        while content := await reader.read(OUTPUT_BYTES):
            part = {"kind": kind, "content_base64": b64encode(content).decode()}
            await self.queue.put(ProcessOutput.model_validate(part))
        if kind == "stdout":
            await self.queue.put(None)


class Programs:
    """The programs that run for plugins."""

    def __init__(
        self,
        launcher: Launcher,
        finder: ProgramFinder,
        folders: ProgramFolders,
        limits: ProgramLimits,
        reaper: ReaperProcess,
    ) -> None:
        self._launcher = launcher
        self._finder = finder
        self.folders = folders
        self._limits = limits
        self._reaper = reaper
        self._running: dict[str, StartedProgram] = {}
        self._ending: dict[Path, asyncio.Future[int | None]] = {}
        """Programs that are about to end, by working directory. The next one there waits."""
        self._work = BackgroundTasks("a program of a plugin could not be ended, or its old folders not deleted")
        self._cleaned_at = -CLEANUP_SECONDS

    def locate(self, command: str) -> Path | None:
        return self._finder.locate(command)

    def count_running(self, plugin_id: PluginId) -> Mapping[str, int]:
        return Counter(each.plan.permission.name for each in self._running.values() if each.plugin_id == plugin_id)

    async def run(
        self, plugin_id: PluginId, permission: ProcessPermission, request: ProcessStart
    ) -> AsyncGenerator[ProcessOutput, None]:
        running = sum(1 for each in self._running.values() if each.plugin_id == plugin_id)
        if running >= self._limits.at_once:
            raise CallRejected("rate_limited", f"{running} programs of this plugin are running", retryable=True)
        self.clean_up()
        process_id = uuid4().hex
        plan = await asyncio.to_thread(plan_start, plugin_id, permission, request, self._finder, self.folders)
        if (previous := self._ending.get(plan.workspace)) is not None:
            await asyncio.wait({previous})
        with contextlib.ExitStack() as stack:
            stack.enter_context(locked(plan.workspace))
            for file in request.files:
                folder = plan.workspace if file.place == "workspace" else plan.home
                if folder is None:
                    raise CallRejected("invalid_argument", "files: this program has no home folder of its own")
                write_file(folder, file.path, file.text.encode())
            await self._reaper.start()
            program = StartedProgram(plugin_id, plan, await launch(plan, self._launcher))
            self._running[process_id] = program
            ending = stack.pop_all()
        try:
            await program.open()
            yield ProcessOutput(kind="started", process_id=process_id, working_directory=str(plan.workspace))
            watch = asyncio.create_task(self._watch(program))
            try:
                while (part := await program.queue.get()) is not None:
                    yield part
            finally:
                watch.cancel()
            status = await self._end(process_id, ending)
            yield ProcessOutput(kind="exited", status=status, reason=program.reason)
        finally:
            await self._end(process_id, ending)

    async def write(self, plugin_id: PluginId, process_id: str, content: bytes, close: bool) -> None:
        await self._of(plugin_id, process_id).write(content, close)

    async def append_file(self, plugin_id: PluginId, process_id: str, file: str, content: bytes) -> None:
        program = self._of(plugin_id, process_id)
        await asyncio.to_thread(write_file, program.plan.workspace, file, content, True)

    def has_folders(self, conversation_id: str) -> bool:
        return bool(self.folders.of_conversation(conversation_id))

    async def delete_folders(self, conversation_id: str) -> bool:
        folders = await asyncio.to_thread(self.folders.of_conversation, conversation_id)
        running = [each for each in self._running.values() if each.plan.workspace in folders]
        for program in running:
            program.reason = "its conversation was deleted"
            await program.kill()
        if running or not self._ending.keys().isdisjoint(folders):
            return False
        await asyncio.to_thread(self.folders.delete_of_conversation, conversation_id)
        return True

    def clean_up(self) -> None:
        """Deletes old folders in the background, at most once an hour."""
        now = asyncio.get_running_loop().time()
        if now - self._cleaned_at >= CLEANUP_SECONDS:
            self._cleaned_at = now
            in_use = {each.plan.home for each in self._running.values() if each.plan.home is not None}
            self._work.start(asyncio.to_thread(self.folders.delete_unused, self._limits.max_age_days))
            self._work.start(asyncio.to_thread(self.folders.delete_unused_homes, self._limits.home_days, in_use))

    async def close(self) -> None:
        """Waits until all programs have ended. Their streams are closed before, with the plugins."""
        await self._work.join()

    def _of(self, plugin_id: PluginId, process_id: str) -> StartedProgram:
        program = self._running.get(process_id)
        if program is None or program.plugin_id != plugin_id:
            raise CallRejected("not_found", "process_id: no such program of this plugin is running")
        return program

    async def _end(self, process_id: str, ending: contextlib.ExitStack) -> int | None:
        """Ends a program once, even if the caller is cancelled in between."""
        program = self._running.pop(process_id, None)
        if program is None:
            return None
        task = self._work.start(self._finish(program, ending))
        self._ending[program.plan.workspace] = task
        status: int | None = await asyncio.shield(task)
        return status

    async def _finish(self, program: StartedProgram, ending: contextlib.ExitStack) -> int | None:
        try:
            return await program.end()
        finally:
            ending.close()
            self._ending.pop(program.plan.workspace, None)

    async def _watch(self, program: StartedProgram) -> None:
        """Kills the program when it exceeds a limit."""
        resources, ready = self._limits.resources, asyncio.Event()
        ready.set()
        folders = [program.plan.workspace, *([program.plan.home] if program.plan.home else [])]
        await program.process.apply_limits(resources.open_files, resources.niceness)
        watches = [
            asyncio.ensure_future(watch_processes(program.process, self._limits.memory_mb, resources)),
            *(asyncio.ensure_future(watch_folder(each, resources, measure_folder, ready)) for each in folders),
        ]
        try:
            done, _ = await asyncio.wait(watches, return_when=asyncio.FIRST_COMPLETED)
            program.reason = done.pop().result()
        finally:
            for watch in watches:
                watch.cancel()
        await program.kill()
