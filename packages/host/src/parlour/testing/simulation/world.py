"""The parts that survive a crash: the database, the platform, the clock, and the random generator
that selects faults.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import Any, NoReturn

from parlour.core.journal import PreparedCallback, Receipt, Row, Search, Select, StorageFailed, Unit, where
from parlour.core.model.ids import OutboxId
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import SendReceipt, SendRefused
from parlour.core.store.tables import INBOX, OUTBOX
from parlour.core.system import make_uuid7
from parlour.testing.memory_journal import MemoryDatabase
from parlour.testing.memory_objects import MemoryObjects
from parlour.testing.memory_send_log import MemorySendLog
from parlour.testing.scripted import ScriptedTools, Tool
from parlour_sdk.values import dataclass

from .promises import ShownMessage

EPOCH = 1_800_000_000_000
STORAGE_FAULTS = 0.01


@dataclass(slots=True)
class World:
    dice: random.Random
    crashes_left: int
    storage_faults: bool
    idempotent: bool
    """True if the platform accepts an idempotency key."""
    answers_questions: bool
    """True if the platform can be asked whether it has a message."""
    journaled: bool
    """True if the agent's calls are recorded."""
    power_fails: bool
    """True if the Host dies with its machine: unsynced data may be lost."""
    message_policy: dict[str, Any] = field(default_factory=dict)
    """Message policy of the agent."""
    hooked: bool = False
    """True if a plugin is asked about each message before the agent."""
    asked: Counter[str] = field(default_factory=Counter)
    """Number of times that this plugin was asked about each message."""
    database: MemoryDatabase = field(default_factory=MemoryDatabase)
    objects: MemoryObjects = field(init=False)
    send_log: MemorySendLog = field(default_factory=MemorySendLog)
    tries: Counter[str] = field(default_factory=Counter)
    """Number of handovers to the platform per row."""
    under_way: set[str] = field(default_factory=set)
    """Texts that the platform has not acknowledged yet and would show again."""
    most_under_way: int = 0
    shown: list[ShownMessage] = field(default_factory=list)
    held: set[OutboxId] = field(default_factory=set)
    """Replies that had to wait for another message of their chat."""
    acts: Counter[str] = field(default_factory=Counter)
    """Number of tool effects per message."""
    now: float = 0.0
    dead: bool = False
    """True if this Host process has ended: its remaining tasks reach nothing."""
    crashes: int = 0
    in_flight: list[frozenset[int]] = field(default_factory=list)
    """The events that were in flight at each crash."""
    concurrent_runs: tuple[int, ...] = (1, 2, 256)
    """Number of concurrent runs that a Host process may allow."""
    lost_answers: int = 0
    points: Counter[str] = field(default_factory=Counter)
    """Named points at which a crash happened."""
    _countdown: int = 0
    _ids: int = 0

    def __post_init__(self) -> None:
        self.objects = MemoryObjects(self.clock)
        self._wind_up()

    async def point(self, name: str) -> None:
        """Marks a place where the Host may die: then nothing after it happens in this process."""
        if self.dead:
            raise asyncio.CancelledError
        if self.crashes_left <= 0:
            return
        self._countdown -= 1
        if self._countdown > 0:
            return
        self.crashes_left -= 1
        self._wind_up()
        await self.die(name)

    def hasten(self) -> None:
        """Marks a rare step, so that crashes are sometimes aimed at it."""
        if self.dice.random() < 0.5:
            self._countdown = min(self._countdown, self.dice.randrange(1, 8))

    async def pause(self, longest: float = 0.02) -> None:
        if self.dice.random() < 0.6:
            await asyncio.sleep(self.dice.random() * longest)

    def new_id(self) -> str:
        self._ids += 1
        return make_uuid7(self.clock(), self._ids)

    def clock(self) -> int:
        return EPOCH + int(self.loop_time() * 1000)

    def loop_time(self) -> float:
        return asyncio.get_running_loop().time()

    def _wind_up(self) -> None:
        self._countdown = self.dice.randrange(1, self.dice.choice((40, 40, 250)))

    async def die(self, name: str) -> NoReturn:
        self.crashes += 1
        self.points[name] += 1
        in_flight = self.database.read(Select(INBOX, where(in_flight=1), ("event_seq",)))
        self.in_flight.append(frozenset(row["event_seq"] for row in in_flight))
        self.dead = True
        self.under_way = set()  # the next process starts without any
        if self.power_fails:
            self.send_log.lose()
        asyncio.get_running_loop().stop()
        raise asyncio.CancelledError


class SimulatedClock:
    def __init__(self, world: World) -> None:
        self._world = world

    def now(self) -> int:
        return self._world.clock()


class SimulatedIds:
    def __init__(self, world: World) -> None:
        self._world = world

    def new(self) -> str:
        return self._world.new_id()


class SimulatedJournal:
    """Puts delays, faults and crashes on both sides of every commit of the memory database."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        world = self._world
        await world.pause()
        await world.point(f"{unit.name}:before")
        if world.storage_faults and world.dice.random() < STORAGE_FAULTS:
            raise StorageFailed("storage_full", "the disk is full, for now")
        receipt = world.database.commit(unit)
        if unit.name == "outbox.held":
            held = world.database.read(Select(OUTBOX, where(state="held"), ("outbox_id",)))
            world.held.update(row["outbox_id"] for row in held)
        await world.point(f"{unit.name}:after")
        await world.pause()
        return receipt

    async def read(self, query: Select) -> list[Row]:
        await self._world.pause(0.002)
        await asyncio.sleep(0)
        if self._world.dead:
            raise asyncio.CancelledError
        return self._world.database.read(query)

    async def search(self, query: Search) -> list[Row]:
        await self._world.pause(0.002)
        await asyncio.sleep(0)
        if self._world.dead:
            raise asyncio.CancelledError
        return self._world.database.search(query)


class SimulatedPlatform:
    """Simulates a chat platform that refuses, forgets to answer, and shows the accepted messages."""

    def __init__(self, world: World) -> None:
        self._world = world

    def is_idempotent(self, outgoing: OutboxRow) -> bool:
        if outgoing.reply is not None and outgoing.reply.number:
            return outgoing.reply.repeatable
        return self._world.idempotent

    def serialization_key(self, outgoing: OutboxRow) -> str:
        return "" if self.is_idempotent(outgoing) else outgoing.bot_id

    def _is_shown(self, outgoing: OutboxRow) -> bool:
        return any(shown.outbox_id == outgoing.outbox_id for shown in self._world.shown)

    async def wait_until_sendable(self, outgoing: OutboxRow) -> None:
        await self._world.pause()

    async def acquire(self, outgoing: OutboxRow) -> None: ...

    async def send(self, outgoing: OutboxRow) -> SendReceipt:
        world = self._world
        world.tries[outgoing.outbox_id] += 1
        if not self.is_idempotent(outgoing):  # others may be sent at the same time
            world.under_way.add(outgoing.outbox_id)
        world.most_under_way = max(world.most_under_way, len(world.under_way))
        try:
            return await self._take(outgoing)
        finally:
            world.under_way.discard(outgoing.outbox_id)

    async def _take(self, outgoing: OutboxRow) -> SendReceipt:
        world = self._world
        await world.point("send:before")
        await world.pause()
        roll = world.dice.random()
        if roll < 0.05:
            raise SendRefused("slow down", retry_after=0.5)
        if roll < 0.08 and outgoing.reply is not None and outgoing.reply.number:
            raise SendRefused("the handle is not valid", handle_rejected=True)
        if not (self.is_idempotent(outgoing) and self._is_shown(outgoing)):
            world.shown.append(_shown(outgoing))
        await world.point("send:after")
        await world.pause()
        if roll > 0.97:
            world.lost_answers += 1
            raise OSError("the connection was cut")
        return SendReceipt(f"platform-{len(world.shown)}")

    async def find_sent(self, outgoing: OutboxRow) -> SendReceipt | None:
        await self._world.pause()
        was_sent = any(shown.outbox_id == outgoing.outbox_id for shown in self._world.shown)
        return SendReceipt("found") if was_sent and self._world.answers_questions else None


class SimulatedTools(ScriptedTools):
    """Provides one tool with effects that records the messages on which it acted."""

    def __init__(self, world: World) -> None:
        super().__init__({"lamp": Tool(self._act)})
        self._world = world

    async def _act(self, parameters: dict[str, Any]) -> str:
        await self._world.point("tool:before")
        self._world.acts[parameters["text"]] += 1
        await self._world.pause()
        await self._world.point("tool:after")
        return "on"


def _shown(outgoing: OutboxRow) -> ShownMessage:
    text: Any = outgoing.message["content"]
    return ShownMessage(
        outgoing.outbox_id, outgoing.conversation_id, str(text), outgoing.possibly_repeated, outgoing.reply
    )


async def patiently(work: Callable[[], Awaitable[object]]) -> None:
    """Repeats the call when the disk was full, as a caller would."""
    while True:
        try:
            await work()
            return
        except StorageFailed:
            await asyncio.sleep(0.5)
