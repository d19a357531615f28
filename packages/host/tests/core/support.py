"""Shared helpers of the core tests: controllable fakes, and a core wired to them on virtual time."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from parlour.app.core import Core, build_core
from parlour.app.core_ports import CorePorts
from parlour.core.config.routes import Route
from parlour.core.encoding import loads
from parlour.core.ingest.acceptance import IngestResult
from parlour.core.jobs.job import OPEN_STATES
from parlour.core.journal import PreparedCallback, Receipt, Row, Select, StorageFailed, Table, Unit, where
from parlour.core.model.agent import Agent
from parlour.core.model.event import EventContext, EventEnvelope, Participant, RecordedEvent
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import PluginDisconnected, PluginUnavailable, SendReceipt
from parlour.core.runs.session import QueuedEvent
from parlour.core.store.tables import JOBS, RUN_EVENTS
from parlour.core.system import make_uuid7
from parlour.testing import MemoryDatabase, MemoryJournal, MemoryObjects

EPOCH = 1_800_000_000_000
PLUGIN = "acme/puppet"
RUNNER = f"plugin:{PLUGIN}/default"
DISCOVERY = {
    "plugin_author": "acme",
    "plugin_name": "puppet",
    "runner_name": "default",
    "manifest": {
        "id": RUNNER,
        "name": "default",
        "label": {"en_US": "Puppet"},
        "capabilities": {"streaming": True, "steering": True},
    },
}


class LoopClock:
    """A clock that follows the loop's virtual time, shifted by `jump`."""

    def now(self) -> int:
        loop = asyncio.get_running_loop()
        return EPOCH + round((loop.time() + vars(loop).get("clock_ahead", 0.0)) * 1000)


def jump(seconds: float) -> None:
    """Sets the clock of all Hosts of this test forward or back; the loop's own time is unchanged."""
    loop = asyncio.get_running_loop()
    vars(loop)["clock_ahead"] = vars(loop).get("clock_ahead", 0.0) + seconds


class CountedIds:
    def __init__(self) -> None:
        self._count = 0

    def new(self) -> str:
        self._count += 1
        return make_uuid7(EPOCH, self._count)


class BreakableJournal(MemoryJournal):
    """A journal that records unit names and fails on request; a dead one reaches nothing."""

    def __init__(self, database: MemoryDatabase | None = None) -> None:
        super().__init__(database)
        self.units: list[str] = []
        self.broken: dict[str, int] = {}
        """How often units of that name (or reads: `read`) will fail."""
        self.unsure: dict[str, int] = {}
        """How often units of that name are committed and reported as failed."""
        self.dead = False

    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        self._fail_if_requested(unit.name)
        self.units.append(unit.name)
        receipt = await super().commit(unit, on_prepared)
        if self.unsure.get(unit.name, 0):
            self.unsure[unit.name] -= 1
            raise StorageFailed("storage_uncertain", "the outcome of the commit is unknown")
        return receipt

    async def read(self, query: Select) -> list[Row]:
        self._fail_if_requested("read")
        return await super().read(query)

    def _fail_if_requested(self, name: str) -> None:
        if self.dead:
            raise asyncio.CancelledError
        if self.broken.get(name, 0):
            self.broken[name] -= 1
            raise StorageFailed("storage_full", "the disk is full")


class PuppetRun:
    """The result stream of one run, controlled by the test."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        self.context: dict[str, Any] = request["context"]
        self.run_id: str = self.context["run_id"]
        self.aborted: BaseException | None = None
        self._batches: deque[list[Any]] = deque()
        self._failure: BaseException | None = None
        self._ended = False
        self._sequence = 0
        self._wake = asyncio.Event()

    def result(self, kind: str, data: dict[str, Any]) -> dict[str, Any]:
        self._sequence += 1
        return {"run_id": self.run_id, "type": kind, "data": data, "sequence": self._sequence}

    def delta(self, text: str) -> dict[str, Any]:
        return self.result("message.delta", {"chunk": {"role": "assistant", "content": text}})

    def completed(self, text: str) -> dict[str, Any]:
        return self.result("message.completed", {"message": {"role": "assistant", "content": text}})

    def finished(self, reason: str = "stop") -> dict[str, Any]:
        return self.result("run.completed", {"finish_reason": reason})

    def failed(self, code: str = "puppet.failed", retryable: bool = False) -> dict[str, Any]:
        return self.result("run.failed", {"code": code, "error": "requested failure", "retryable": retryable})

    def send(self, *results: Any) -> None:
        """Sends results as one batch."""
        self._batches.append(list(results))
        self._wake.set()

    def answer(self, text: str) -> None:
        self.send(self.completed(text), self.finished())

    def end(self) -> None:
        self._ended = True
        self._wake.set()

    def crash(self) -> None:
        self._failure = PluginDisconnected("crashed")
        self._wake.set()

    async def batch(self) -> list[Any]:
        while True:
            if self.aborted is not None:
                raise self.aborted
            if self._batches:
                return self._batches.popleft()
            if self._failure is not None:
                raise self._failure
            if self._ended:
                return []
            self._wake.clear()
            await self._wake.wait()

    def abort(self, error: BaseException) -> None:
        self.aborted = self.aborted or error
        self._wake.set()


class PuppetPlugins:
    """A plugin whose runs wait for the test, or echo their input."""

    def __init__(self, echo: bool = False) -> None:
        self.echo = echo
        self.runs: list[PuppetRun] = []
        self._taken = 0

    def run_agent(self, plugin_id: str, request: dict[str, Any]) -> PuppetRun:
        run = PuppetRun(request)
        self.runs.append(run)
        if self.echo:
            run.answer(run.context["input"]["text"])
        return run

    async def call(self, plugin_id: str, action: str, data: dict[str, Any], timeout: float) -> dict[str, Any]:
        raise PluginUnavailable("the puppet only runs")

    async def stream(self, plugin_id: str, action: str, data: dict[str, Any]) -> PuppetRun:
        raise PluginUnavailable("the puppet only runs")

    async def next_run(self) -> PuppetRun:
        """Waits for the next run that was not returned before."""
        await until(lambda: len(self.runs) > self._taken)
        self._taken += 1
        return self.runs[self._taken - 1]


class PlatformSurface:
    """A chat platform: each send uses the next prepared behaviour; without any it succeeds."""

    def __init__(self, idempotent: bool = False, finds: SendReceipt | None = None) -> None:
        self.idempotent = idempotent
        self.finds = finds
        self.prepared: deque[Exception | float] = deque()
        """An exception is raised; a number is the delay of the answer in seconds."""
        self.tries: list[OutboxRow] = []
        self.lookups: list[OutboxRow] = []

    def is_idempotent(self, outgoing: OutboxRow) -> bool:
        return self.idempotent

    def serialization_key(self, outgoing: OutboxRow) -> str:
        return outgoing.bot_id

    async def wait_until_sendable(self, outgoing: OutboxRow) -> None: ...

    async def acquire(self, outgoing: OutboxRow) -> None: ...

    async def send(self, outgoing: OutboxRow) -> SendReceipt:
        self.tries.append(outgoing)
        next_up = self.prepared.popleft() if self.prepared else 0.0
        if isinstance(next_up, Exception):
            raise next_up
        if next_up:
            await asyncio.sleep(next_up)
        return SendReceipt(f"platform-{len(self.tries)}")

    async def find_sent(self, outgoing: OutboxRow) -> SendReceipt | None:
        self.lookups.append(outgoing)
        return self.finds

    @property
    def texts(self) -> list[str]:
        return [str(each.message["content"]) for each in self.tries]


class World:
    """A core with fakes for its ports."""

    def __init__(
        self,
        journal: BreakableJournal,
        plugins: PuppetPlugins,
        surface: PlatformSurface,
        ids: CountedIds,
        **ports: Any,
    ) -> None:
        self.journal = journal
        self.plugins = plugins
        self.surface = surface
        self.clock = LoopClock()
        self.ids = ids
        self.objects = ports.setdefault("objects", MemoryObjects(self.clock.now))
        self.core: Core = build_core(
            CorePorts(
                journal=journal, plugins=plugins, clock=self.clock, ids=ids, surfaces={"platform": surface}, **ports
            )
        )

    @classmethod
    async def open(
        cls, agent: Agent | None = None, echo: bool = False, discovery: dict[str, Any] = DISCOVERY, **ports: Any
    ) -> "World":
        journal = ports.pop("journal", None) or BreakableJournal()
        world = cls(journal, PuppetPlugins(echo), PlatformSurface(), CountedIds(), **ports)
        world.core.registry.replace_plugin(PLUGIN, "1", [discovery])
        await world.core.agents.add(agent or make_agent())
        await world.core.routes.replace("bot", [Route("message.*", "agent", {"agent_id": "agent"})])
        await world.core.recover()
        return world

    def die(self) -> None:
        """Kills the Host: its tasks are cancelled and its journal accepts nothing."""
        self.journal.dead = True
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        # some of them never end; keeping them with their loop prevents their collection during the test
        vars(asyncio.get_running_loop()).setdefault("ghosts", []).extend(tasks)

    async def restart(self, discovery: dict[str, Any] = DISCOVERY, **ports: Any) -> "World":
        """Starts a new Host on the same database and recovers its state."""
        if not self.journal.dead:
            self.die()
        plugins = PuppetPlugins(self.plugins.echo)
        ports.setdefault("objects", self.objects)
        journal = type(self.journal)(self.journal.database)
        world = World(journal, plugins, self.surface, self.ids, **ports)
        world.core.registry.replace_plugin(PLUGIN, "1", [discovery])
        await world.core.load()
        await world.core.recover()
        return world

    async def say(self, text: str, **fields: Any) -> IngestResult:
        return await self.core.gateway.ingest(message(text, **fields))

    async def rest(self) -> None:
        """Waits until no lane has work and no platform row is pending."""
        await until(lambda: not len(self.core.lanes) and not self.core.outbox._drains)

    def rows(self, table: Table, **values: Any) -> list[Row]:
        rows = self.journal.database.read(Select(table, where(**values)))
        return sorted(rows, key=lambda row: [row[name] for name in table.key])

    def open_jobs(self) -> list[Row]:
        """Returns the jobs that are not finished."""
        return [row for row in self.rows(JOBS) if row["state"] in OPEN_STATES]

    def facts(self, run_id: str) -> list[tuple[str, Any]]:
        """Returns the ledger events of a run in order."""
        return [(row["type"], loads(row["data"])) for row in self.rows(RUN_EVENTS, run_id=run_id)]

    async def call(self, run: PuppetRun, action: str, plugin: str = PLUGIN, **arguments: Any) -> dict[str, Any]:
        request = {"run_id": run.run_id, "call_id": f"{run.run_id}:1", **arguments}
        return await self.core.gate.call(plugin, action, request)

    def stream(self, run: PuppetRun, action: str, **arguments: Any) -> AsyncGenerator[dict[str, Any], None]:
        request = {"run_id": run.run_id, "call_id": f"{run.run_id}:1", **arguments}
        return self.core.gate.stream(PLUGIN, action, request)


_counter = iter(range(1, 10**9))


def make_agent(agent_id: str = "agent", **fields: Any) -> Agent:
    return Agent(agent_id, agent_id, RUNNER, **{"timeout_seconds": 0, "stale_after": 0, **fields})


def message(
    text: str = "hello",
    *,
    event_id: str = "",
    chat: str = "chat",
    actor: str = "ann",
    surface: str = "webui",
    **fields: Any,
) -> EventEnvelope:
    """Builds a message: with a named agent on the Host's own surfaces, with a bot on the platform."""
    identity = event_id or f"event-{next(_counter)}"
    direct = surface != "platform"
    origin = {"agent_id": "agent", "principal": "key:1"} if direct else {"bot_id": "bot"}
    defaults: dict[str, Any] = {
        "event_type": "message.received",
        "source": surface,
        "context": EventContext(identity),
        "actor": Participant("user", actor, actor.title()) if actor else Participant(),
        "input": {"text": text},
        **origin,
    }
    return EventEnvelope(event_id=identity, chat=chat, surface=surface, **{**defaults, **fields})


def make_recorded_event(seq: int = 1, conversation_id: str = "conversation", **fields: Any) -> RecordedEvent:
    return RecordedEvent(seq, conversation_id, EPOCH, message(**fields))


def entry(seq: int = 1, lane: str = "lane", **fields: Any) -> QueuedEvent:
    return QueuedEvent(make_recorded_event(seq, lane, **fields))


async def until(holds: Any, seconds: float = 100_000) -> None:
    """Waits on virtual time for a condition and fails after a time limit."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    pause = 0.001
    while not holds():
        assert loop.time() < end, "the condition was never met"
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, 60)


async def settle(turns: int = 50) -> None:
    """Runs all ready callbacks without passing time."""
    for _ in range(turns):
        await asyncio.sleep(0)


def slow_disk(world: World, monkeypatch: pytest.MonkeyPatch, done: list[str]) -> None:
    """Makes commits slow and records when they start and when they are durable."""
    commit = world.journal.commit

    async def committing(unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        done.append(unit.name)
        receipt = await commit(unit, on_prepared)
        for _ in range(10):
            await asyncio.sleep(0)
        done.append(f"{unit.name} is durable")
        return receipt

    monkeypatch.setattr(world.journal, "commit", committing)
