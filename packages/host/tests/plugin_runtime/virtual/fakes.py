"""Plugins without a process: they use the real wire from inside the test's loop, with scripted misbehaviour."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parlour.core.model.plugin_manager import PluginManifestReport
from parlour.core.model.ports import ResultStream
from parlour.core.redaction import Redactor
from parlour.isolation.reaper import ReaperProcess
from parlour.plugin_runtime.process.launcher import LaunchSpec, PluginProcess
from parlour.plugin_runtime.process.log_buffer import LogBuffer
from parlour.plugin_runtime.store import InstalledVersion
from parlour.plugin_runtime.supervision.limits import FolderUse
from parlour.plugin_runtime.supervision.policy import SupervisionPolicy
from parlour.plugin_runtime.supervision.starter import Starter
from parlour.plugin_runtime.supervision.supervisor import Supervisor
from parlour_sdk.protocol.manifest import PluginLimits
from parlour_sdk.wire import Peer, Transport, WireError, WireLimits, memory_pair


@dataclass
class Behaviour:
    """Scripted behaviour of a process apart from its runs."""

    greets: bool = True
    ends_at_start: bool = False
    ignores_requests_to_end: bool = False
    last_words: str = ""
    runners: int = 1
    refusal: str = ""
    """The error that it answers with when its runners are listed."""


class FakeProcess:
    """A plugin process in memory; `name` is its number among the launched ones: 1, 2, 3..."""

    def __init__(self, start: LaunchSpec, name: int, behaviour: Behaviour) -> None:
        self.start = start
        self.pid = self.name = name
        self.log = asyncio.StreamReader()
        self.memory = 0
        self.processes = 1
        self.started_at = now()
        self.applied_limits = (0, 0)
        self.active_runs: list[str] = []
        """The active runs, by their text."""
        self.run_started = asyncio.Event()
        """Set when a run starts."""
        self._behaviour = behaviour
        self._exit: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._ours, self._hosts = memory_pair()
        self._gates: dict[str, asyncio.Event] = {}
        self.peer = Peer(self._ours, self)
        self.log.feed_data(behaviour.last_words.encode())
        self._task = asyncio.create_task(self._work())

    @property
    def ended(self) -> bool:
        return self._exit.done()

    def wire(self, limits: WireLimits) -> Transport:
        return self._hosts

    async def apply_limits(self, open_files: int, niceness: int) -> int:
        self.applied_limits = (open_files, niceness)
        return self.processes

    async def uses_more_than(self, memory_bytes: int) -> bool:
        return self.memory > memory_bytes

    async def unlinked_bytes(self, folder: Path) -> int:
        return 0

    async def wait(self) -> int:
        return await asyncio.shield(self._exit)

    async def terminate(self) -> None:
        if not self._behaviour.ignores_requests_to_end:
            self.exit(-15)

    async def kill(self) -> None:
        self.exit(-9)

    def close(self) -> None: ...

    def exit(self, status: int) -> None:
        if not self.ended:
            self._exit.set_result(status)
            self._task.cancel()
            self.peer.close()
            self.log.feed_eof()
            for gate in self._gates.values():  # the runs of a process end with it
                gate.set()

    def hang(self) -> None:
        """Blocks the event loop of the plugin: nothing is read any more."""
        self._ours.pause()

    def wake(self) -> None:
        self._ours.resume()

    def flood(self, frames: int) -> None:
        """Sends frames without meaning that have to be read."""
        for _ in range(frames):
            self._ours.send(b'{"seq_id": 0, "code": 0, "data": null, "chunk_status": "continue"}')

    def finish_run(self, text: str) -> None:
        """Ends the run that waits with this text."""
        self._gates[text].set()

    async def _work(self) -> None:
        if self._behaviour.ends_at_start:
            self.exit(3)
            return
        self.peer.start()
        if self._behaviour.greets:
            await self.peer.call("hello", {"protocol": 1, "sdk": "test", "plugin": self.start.plugin_id})

    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]:
        match action:
            case "list_agent_runners":
                return self._runners()
            case "list_components":
                return self._components()
            case "call_tool":
                return self._tool(data["text"])
            case "run_command" | "run_agent":
                return self._run(data["text"])
            case "shutdown":
                return self._shutdown()
            case _:
                raise WireError("not_supported", action)

    async def _runners(self) -> dict[str, Any]:
        if self._behaviour.refusal:
            raise WireError("odd", self._behaviour.refusal)
        return {"runners": [self.start.folder.name] * self._behaviour.runners}

    async def _components(self) -> dict[str, Any]:
        return {"components": [{"kind": "Tool", "name": self.start.folder.name}]}

    async def _tool(self, text: str) -> dict[str, Any]:
        async with aclosing(self._run(text)) as parts:
            return {"answer": [part async for part in parts]}

    async def _shutdown(self) -> dict[str, Any]:
        if not self._behaviour.ignores_requests_to_end:
            asyncio.get_running_loop().call_soon(self.exit, 0)
        return {}

    async def _run(self, text: str) -> AsyncGenerator[Any, None]:
        """Runs until `finish_run` if the text begins with `wait` or `deaf`; a `deaf` run ignores its cancellation."""
        self.active_runs.append(text)
        self.run_started.set()
        try:
            if text.startswith(("wait", "deaf")):
                await self._gate(text)
            yield f"{text} by {self.name}"
        finally:
            self.active_runs.remove(text)

    async def _gate(self, text: str) -> None:
        gate = self._gates.setdefault(text, asyncio.Event())
        while not gate.is_set():
            try:
                await gate.wait()
            except asyncio.CancelledError:
                if not text.startswith("deaf") or self.ended:
                    raise


class FakeLauncher:
    """Launches processes with the behaviours in `script`, and well-behaved ones after them."""

    def __init__(self) -> None:
        self.script: list[Behaviour] = []
        self.processes: list[FakeProcess] = []

    async def launch(self, start: LaunchSpec) -> PluginProcess:
        behaviour = self.script.pop(0) if self.script else Behaviour()
        self.processes.append(FakeProcess(start, len(self.processes) + 1, behaviour))
        return self.processes[-1]

    @property
    def latest(self) -> FakeProcess:
        return self.processes[-1]


class NoReaper(ReaperProcess):
    async def start(self) -> None: ...


class NoActions:
    def streams(self, name: str) -> bool:
        return False

    async def call(self, plugin_id: str, name: str, data: Any) -> dict[str, Any]:
        return {}

    def stream(self, plugin_id: str, name: str, data: Any) -> AsyncGenerator[dict[str, Any], None]:
        raise NotImplementedError


@dataclass
class SupervisorHarness:
    """Builds supervisors on fake processes for a test."""

    launcher: FakeLauncher
    folder: Path
    policy: SupervisionPolicy = field(default_factory=SupervisionPolicy)
    limits: PluginLimits = field(default_factory=PluginLimits)
    data_bytes: int = 0
    announced: list[tuple[str, list[Any]]] = field(default_factory=list)
    """Each version that was discovered, with its runners."""
    reasons: set[str] = field(default_factory=set)
    """Every reason that was ever shown."""
    _supervisors: list[Supervisor] = field(default_factory=list)

    def plugin(self, version: str = "1") -> InstalledVersion:
        return InstalledVersion("test/fake", version, self.folder / version, int(version))

    def supervisor(self) -> Supervisor:
        starter = Starter(
            self.launcher, self._prepare, NoActions(), "0", self.policy, NoReaper(), measure=self._measure
        )
        made = Supervisor(self.plugin(), starter, LogBuffer(Redactor()), self.policy, self._discovered, self._changed)
        self._supervisors.append(made)
        return made

    async def started(self) -> Supervisor:
        supervisor = self.supervisor()
        await supervisor.ready()
        return supervisor

    def _changed(self) -> None:
        self.reasons |= {supervisor.reason for supervisor in self._supervisors}

    async def close(self) -> None:
        for supervisor in self._supervisors:
            await supervisor.stop()

    async def _prepare(self, plugin: InstalledVersion) -> LaunchSpec:
        return LaunchSpec(plugin.plugin_id, plugin.folder, self.folder, limits=self.limits)

    async def _measure(self, folder: Path) -> FolderUse:
        return FolderUse(self.data_bytes)

    def _discovered(self, plugin: InstalledVersion, offer: PluginManifestReport) -> None:
        self.announced.append((plugin.version, offer.runners))


def now() -> float:
    return asyncio.get_running_loop().time()


def suspend_host(seconds: float) -> None:
    """Lets time pass while the Host itself is suspended."""
    loop = asyncio.get_running_loop()
    loop._now += seconds  # type: ignore[attr-defined]


async def answer(stream: ResultStream) -> list[Any]:
    """Returns all results of a run."""
    results: list[Any] = []
    while batch := await stream.batch():
        results += batch
    return results


async def crash(process: FakeProcess) -> None:
    """Ends the process and waits until the Host has noticed."""
    process.exit(1)
    await asyncio.sleep(0.01)
