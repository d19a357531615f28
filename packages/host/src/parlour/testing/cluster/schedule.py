"""Runs one schedule of a cluster: Hosts join, fail and leave while messages arrive; then every promise is checked."""

import asyncio
import random
from collections import Counter
from contextvars import copy_context
from typing import Any

from parlour.core.cluster import owner_rows
from parlour.core.cluster.balance import STAY_MILLISECONDS
from parlour.core.cluster.leased_ownership import LeasedOwnership
from parlour.core.cluster.leases import HostFacts, HostLease, LeaseKeeper
from parlour.core.cluster.member import ClusterMember
from parlour.core.cluster.part_keeper import PartKeeper
from parlour.core.journal import Select
from parlour.core.model.ids import HostId, PartId
from parlour.core.store.tables import META
from parlour.testing.simulation.promises import BrokenPromise
from parlour_sdk.values import dataclass

from .promises import check_balance, check_messages
from .work import SENT, SimulatedParts
from .world import CURRENT_HOST, ClusterJournal, ClusterLeases, ClusterLoop, ClusterWorld, SimulatedHost

LONGEST_SECONDS = 3_000
RESTART_SECONDS = 5.0
QUIET_SECONDS = 75.0
"""Virtual seconds after the last fault, in which the parts are balanced again."""


@dataclass(frozen=True, slots=True)
class ClusterReport:
    """What happened in a schedule."""

    points: Counter[str]
    messages: int


class _WorldClock:
    def __init__(self, world: ClusterWorld) -> None:
        self._world = world

    def now(self) -> int:
        return self._world.now()


def run_cluster(seed: int, has_gate: bool = True) -> ClusterReport:
    """Runs the schedule. Raises BrokenPromise, which names the seed."""
    dice = random.Random(seed)
    faults, answers = dice.choice((1, 2, 3, 5, 8)), dice.random() < 0.5
    world = ClusterWorld(dice, faults_left=faults, answers_questions=answers, has_gate=has_gate)
    world.parts = [PartId(f"bot:{number}") for number in range(dice.randrange(1, 9))]
    loop = ClusterLoop(dice, 0.0)
    asyncio.set_event_loop(loop)
    loop.set_task_factory(_start_task)
    try:
        return loop.run_until_complete(_run(world))
    except BrokenPromise as error:
        raise BrokenPromise(f"seed {seed}: {error}") from error
    finally:
        _end(loop, world)
        asyncio.set_event_loop(None)
        loop.close()


def _start_task(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> "asyncio.Task[Any]":
    """Creates a task and remembers its Host, so that it ends with it."""
    task = asyncio.Task(coroutine, loop=loop, **options)
    host = CURRENT_HOST.get()
    if host is not None:
        host.tasks.add(task)
        task.add_done_callback(host.tasks.discard)
        if host.is_dead:
            task.cancel()
    return task


def _end(loop: ClusterLoop, world: ClusterWorld) -> None:
    for host in world.hosts:
        host.is_dead, host.paused_until = True, 0.0
    while tasks := asyncio.all_tasks(loop):
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.wait(tasks, timeout=1))


async def _run(world: ClusterWorld) -> ClusterReport:
    dice = world.dice
    cluster = _Cluster(world)
    cluster.start_host()
    if dice.random() < 0.4:  # the others join a Host that owns everything, and ask for their share
        await asyncio.sleep(STAY_MILLISECONDS / 1000)
    for _ in range(dice.randrange(1, 4)):
        cluster.start_host()
    counts = {part: dice.randrange(0, 8) for part in world.parts}
    users = [asyncio.create_task(cluster.say(part, count)) for part, count in counts.items()]
    leaving = asyncio.create_task(cluster.replace_hosts(dice.randrange(0, 4)))
    await asyncio.gather(*users, leaving)
    world.faults_left = 0
    while not _is_at_rest(world, sum(counts.values())):
        await asyncio.sleep(1)
        if asyncio.get_running_loop().time() > LONGEST_SECONDS:
            raise BrokenPromise("every message is sent at last")
    if world.broken:
        raise BrokenPromise(world.broken[0])
    check_messages(world.shown, counts)
    await _become_balanced(world)
    return ClusterReport(world.points, sum(counts.values()))


async def _become_balanced(world: ClusterWorld) -> None:
    loop = asyncio.get_running_loop()
    until = loop.time() + QUIET_SECONDS
    while True:
        await asyncio.sleep(2)
        try:
            check_balance(world.database.read)
            return
        except BrokenPromise:
            if loop.time() > until:
                raise


def _is_at_rest(world: ClusterWorld, count: int) -> bool:
    rows = world.database.read(Select(META))
    return len(rows) == count and all(row["value"] == SENT for row in rows)


class _Cluster:
    """Starts Hosts and replaces those that have ended, as a supervisor does."""

    def __init__(self, world: ClusterWorld) -> None:
        self._world = world
        self._running: dict[HostId, SimulatedParts] = {}
        self._keepers: dict[HostId, PartKeeper] = {}
        self._supervisors: set[asyncio.Task[None]] = set()

    def start_host(self) -> None:
        supervisor = asyncio.create_task(self._supervise())
        self._supervisors.add(supervisor)
        supervisor.add_done_callback(self._supervisors.discard)

    async def _supervise(self) -> None:
        """Runs one process after the other in the same place."""
        while True:
            host = SimulatedHost(HostId(f"host{len(self._world.hosts)}"))
            self._world.hosts.append(host)
            context = copy_context()
            context.run(CURRENT_HOST.set, host)
            process = asyncio.get_running_loop().create_task(self._serve(host), context=context)
            host.tasks.add(process)
            await asyncio.wait([process])
            self._running.pop(host.host_id, None)
            self._keepers.pop(host.host_id, None)
            self._world.crash(host)
            await asyncio.sleep(self._world.dice.random() * RESTART_SECONDS)

    async def _serve(self, host: SimulatedHost) -> None:
        world, leases = self._world, ClusterLeases(self._world)
        slot = await leases.join(HostFacts(host.host_id, "simulated", "1"))
        lease = HostLease(asyncio.get_running_loop().time, lambda: world.crash(host))
        ownership = LeasedOwnership(lease)
        journal = ClusterJournal(world, host.host_id)
        work = SimulatedParts(world, host.host_id, journal, ownership)
        member = ClusterMember(host.host_id, slot)
        keeper = PartKeeper(journal, leases, ownership, work, member, _WorldClock(world))
        beats = asyncio.create_task(LeaseKeeper(leases, host.host_id, lease).serve())
        self._running[host.host_id], self._keepers[host.host_id] = work, keeper
        await asyncio.gather(beats, keeper.serve())

    async def replace_hosts(self, count: int) -> None:
        """Lets Hosts leave in order at some time; their supervisors start others."""
        for _ in range(count):
            await asyncio.sleep(self._world.dice.random() * 8)
            living = [host for host in self._world.hosts if not host.is_dead and host.host_id in self._keepers]
            if living:
                host = self._world.dice.choice(living)
                context = copy_context()
                context.run(CURRENT_HOST.set, host)
                leaving = asyncio.get_running_loop().create_task(self._leave(host), context=context)
                await asyncio.wait([leaving])

    async def _leave(self, host: SimulatedHost) -> None:
        await self._keepers[host.host_id].leave()
        self._world.crash(host)

    async def say(self, part: PartId, count: int) -> None:
        """Sends messages to the owner of a part, each until one Host has accepted it."""
        dice = self._world.dice
        for number in range(count):
            await asyncio.sleep(dice.random() * 3)
            while True:
                if await self._deliver(part, number):
                    break
                await asyncio.sleep(0.2)

    async def _deliver(self, part: PartId, number: int) -> bool:
        owner = next((row.host_id for row in await owner_rows.all_parts(_Reader(self._world)) if row.part == part), "")
        work = self._running.get(HostId(owner))
        host = next((each for each in self._world.hosts if each.host_id == owner), None)
        if work is None or host is None or host.is_dead:
            return False
        context = copy_context()
        context.run(CURRENT_HOST.set, host)
        accepting = asyncio.get_running_loop().create_task(work.accept(part, number), context=context)
        await asyncio.wait([accepting])
        failed = accepting.cancelled() or accepting.exception() is not None
        return not failed and accepting.result()


class _Reader:
    """Reads the database from outside."""

    def __init__(self, world: ClusterWorld) -> None:
        self._world = world

    async def commit(self, unit: Any, on_prepared: Any = None) -> Any:
        raise NotImplementedError

    async def read(self, query: Select) -> list[Any]:
        return self._world.database.read(query)

    async def search(self, query: Any) -> list[Any]:
        raise NotImplementedError
