"""The parts that outlive every simulated Host: the database, the platform, and the faults that are still to come."""

import asyncio
import random
from collections import Counter
from contextvars import Context, ContextVar
from dataclasses import field
from typing import Any, Final

from parlour.core.cluster.tables import OWNERS
from parlour.core.journal import Insert, PreparedCallback, Receipt, Row, Search, Select, StorageFailed, Unit, where
from parlour.core.model.ids import HostId, PartId
from parlour.testing.memory_journal import MemoryDatabase
from parlour.testing.memory_leases import MemoryHostLeases, require_unfenced
from parlour.testing.simulation.loop import SeededLoop
from parlour_sdk.values import dataclass

EPOCH: Final = 1_800_000_000_000
FAULTS: Final = ("crash", "pause", "cut")
LONGEST_FAULT_SECONDS: Final = 6.0
LATENCY_SECONDS: Final = 0.1
"""Longest time between a send and its effect. A Host that is sure of its lease is sure for twice as long."""
AIMS: Final = ("part.", "part.re", "event.accept", "outbox.", "send", "beat", "fence", "leave", "")
"""Beginnings of the names of steps that a fault is aimed at; the last one is any step."""
CURRENT_HOST: ContextVar["SimulatedHost | None"] = ContextVar("current_host", default=None)


@dataclass(frozen=True, slots=True)
class Shown:
    """A message as the platform shows it."""

    part: PartId
    number: int
    is_marked: bool
    """True if it says that it may be a repetition."""


@dataclass(slots=True, eq=False)
class SimulatedHost:
    """One process of a Host. A crashed, fenced or ended one never comes back; another process replaces it."""

    host_id: HostId
    is_dead: bool = False
    paused_until: float = 0.0
    cut_until: float = 0.0
    """Time until which this Host does not reach the database."""
    tasks: set["asyncio.Task[Any]"] = field(default_factory=set)

    async def require_alive(self) -> None:
        if self.is_dead:
            raise asyncio.CancelledError
        if self.paused_until > asyncio.get_running_loop().time():
            await asyncio.sleep(0)  # the loop keeps the callback back until the pause is over


class ClusterLoop(SeededLoop):
    """A loop that runs no callback of a Host while that Host is paused."""

    def _run_once(self) -> None:
        for handle in list(self._ready):
            host = handle._context.get(CURRENT_HOST) if handle._context is not None else None
            if host is not None and host.paused_until > self._now:
                self._ready.remove(handle)
                self.call_at(host.paused_until, self._ready.append, handle)
        super()._run_once()


@dataclass(slots=True)
class ClusterWorld:
    """Everything outside the Hosts."""

    dice: random.Random
    faults_left: int
    answers_questions: bool = False
    """True if the platform says whether it has shown a message."""
    has_gate: bool = True
    """False if Hosts don't look at their lease before a send, to show that this is noticed."""
    database: MemoryDatabase = field(default_factory=MemoryDatabase)
    shown: list[Shown] = field(default_factory=list)
    hosts: list[SimulatedHost] = field(default_factory=list)
    parts: list[PartId] = field(default_factory=list)
    points: Counter[str] = field(default_factory=Counter)
    """Faults that happened, as `crash at part.take:before`."""
    sending: set[tuple[HostId, PartId]] = field(default_factory=set)
    """Sends in progress, from the commit before to the commit after, on Hosts that are alive."""
    broken: list[str] = field(default_factory=list)
    """Promises that were found broken during the schedule."""
    aim: str = ""
    countdown: int = 0
    """Steps that match the aim until the next fault."""

    def __post_init__(self) -> None:
        self._wind_up()

    def now(self) -> int:
        return EPOCH + round(asyncio.get_running_loop().time() * 1000)

    @property
    def leases(self) -> MemoryHostLeases:
        return MemoryHostLeases(self.database, self.now)

    async def send(self, message: Shown) -> None:
        """Hands a message to the network. It arrives whatever happens to the Host after that."""
        delay = self.dice.random() * LATENCY_SECONDS
        asyncio.get_running_loop().call_later(delay, self.shown.append, message, context=Context())
        await asyncio.sleep(2 * delay)

    def is_shown(self, part: PartId, number: int) -> bool:
        return any((each.part, each.number) == (part, number) for each in self.shown)

    async def point(self, name: str) -> None:
        """A place where the fault that is due happens to the Host that passes it."""
        host = CURRENT_HOST.get()
        assert host is not None
        await host.require_alive()
        if self.faults_left > 0 and name.startswith(self.aim):
            self.countdown -= 1
            if self.countdown <= 0:
                self.faults_left -= 1
                self._wind_up()
                await self._fail(host, name)

    async def reach(self) -> None:
        """Waits until the current Host reaches the database."""
        host = CURRENT_HOST.get()
        assert host is not None
        await host.require_alive()
        while (left := host.cut_until - asyncio.get_running_loop().time()) > 0:
            await asyncio.sleep(left)
            await host.require_alive()

    def check_commit(self, unit: Unit, host_id: HostId) -> None:
        """Checks that only the owner of a part works on it, and that nothing of a released part is in progress."""
        [first, *_] = unit.statements
        if unit.name == "part.release":
            part = next(each.value for each in first.where if each.column == "part")  # type: ignore[union-attr]
            self._require((host_id, part) not in self.sending, f"{part} was released with a send in progress")
        elif unit.name in ("event.accept", "outbox.sending"):
            names = first.values["name"] if isinstance(first, Insert) else first.where[0].value
            part = str(names).partition("/")[0]
            [owner] = self.database.read(Select(OWNERS, where(part=part)))
            self._require(owner["host_id"] == host_id, f"{unit.name} of {part} was committed by its owner")

    def _require(self, holds: bool, promise: str) -> None:
        if not holds:
            self.broken.append(promise)

    def crash(self, host: SimulatedHost) -> None:
        host.is_dead = True
        self.sending = {each for each in self.sending if each[0] != host.host_id}
        for task in list(host.tasks):
            task.cancel()

    async def _fail(self, host: SimulatedHost, name: str) -> None:
        fault = self.dice.choice(FAULTS)
        self.points[f"{fault} at {name}"] += 1
        until = asyncio.get_running_loop().time() + self.dice.random() * LONGEST_FAULT_SECONDS
        match fault:
            case "crash":
                self.crash(host)
                raise asyncio.CancelledError
            case "pause":
                host.paused_until = until
                await asyncio.sleep(0)
            case _:
                host.cut_until = until

    def _wind_up(self) -> None:
        self.aim = self.dice.choice(AIMS)
        self.countdown = self.dice.randrange(1, 60 if self.aim in ("", "beat", "fence") else 8)


class ClusterJournal:
    """The journal of one Host. A commit whose answer is cut off is answered when the database is reached again."""

    def __init__(self, world: ClusterWorld, host_id: HostId) -> None:
        self._world = world
        self._host_id = host_id

    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        world = self._world
        await world.point(f"{unit.name}:before")
        await world.reach()
        await asyncio.sleep(world.dice.random() * 0.02)
        await world.reach()
        require_unfenced(world.database, self._host_id)
        receipt = world.database.commit(unit)
        world.check_commit(unit, self._host_id)
        await world.point(f"{unit.name}:after")
        await world.reach()
        return receipt

    async def read(self, query: Select) -> list[Row]:
        await self._world.reach()
        await asyncio.sleep(self._world.dice.random() * 0.005)
        await self._world.reach()
        return self._world.database.read(query)

    async def search(self, query: Search) -> list[Row]:
        raise StorageFailed("storage_failed", "nothing is searched here")


class ClusterLeases(MemoryHostLeases):
    """The leases as one Host reaches them."""

    def __init__(self, world: ClusterWorld) -> None:
        super().__init__(world.database, world.now)
        self._world = world

    async def renew(self, host_id: HostId) -> bool:
        await self._world.point("beat:before")
        await self._world.reach()
        is_renewed = await super().renew(host_id)
        await self._world.point("beat:after")
        await self._world.reach()
        return is_renewed

    async def fence_expired(self) -> list[HostId]:
        await self._world.point("fence:before")
        await self._world.reach()
        fenced = await super().fence_expired()
        await self._world.point("fence:after")
        return fenced

    async def leave(self, host_id: HostId) -> None:
        await self._world.point("leave:before")
        await self._world.reach()
        await super().leave(host_id)
