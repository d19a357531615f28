"""The work of simulated parts: messages are accepted, marked as sending, sent and marked as sent, in order.

Rows of `meta` are the messages: their name is `part/number`, their value the state.
"""

import asyncio

from parlour.core.cluster.leased_ownership import LeasedOwnership
from parlour.core.cluster.ownership import PartLost
from parlour.core.journal import GuardFailed, Insert, Journal, Select, StorageFailed, Unit, Update, starts_with, where
from parlour.core.model.ids import HostId, PartId
from parlour.core.store.tables import META

from .world import ClusterWorld, Shown

OWED, SENDING, SENT = "owed", "sending", "sent"
ACKNOWLEDGE_SECONDS = 0.8


class SimulatedParts:
    """The work of one Host's parts, as `PartWork`."""

    def __init__(self, world: ClusterWorld, host_id: HostId, journal: Journal, ownership: LeasedOwnership) -> None:
        self._world = world
        self._host_id = host_id
        self._journal = journal
        self._ownership = ownership
        self._drains: dict[PartId, asyncio.Task[None]] = {}
        self._queues: dict[PartId, asyncio.Queue[tuple[int, bool]]] = {}
        self._stopping: set[PartId] = set()

    def parts(self) -> list[PartId]:
        return self._world.parts

    async def take(self, part: PartId) -> None:
        """Recovers the messages of a part. One that was being sent may have been shown."""
        rows = await self._journal.read(Select(META, where(name=starts_with(f"{part}/"))))
        queue = self._queues[part] = asyncio.Queue()
        for number, state in sorted((_number(row["name"]), row["value"]) for row in rows):
            if state != SENT:
                queue.put_nowait((number, state == SENDING))
        self._stopping.discard(part)
        self._drains[part] = asyncio.create_task(self._work(part))

    async def drain(self, part: PartId) -> None:
        """Lets the send in progress end; the other messages stay owed."""
        self._stopping.add(part)
        task = self._drains.pop(part, None)
        if task is not None:
            self._queues[part].put_nowait((-1, False))
            await asyncio.wait([task])
        self._queues.pop(part, None)

    async def accept(self, part: PartId, number: int) -> bool:
        """Accepts a message from the platform. Returns False if another Host has to."""
        queue = self._queues.get(part)
        if queue is None or not self._ownership.owns(part):
            return False
        message = Insert(META, {"name": f"{part}/{number}", "value": OWED}, conflict="ignore", returning=("name",))
        try:
            [[*rows], *_] = await self._journal.commit(Unit("event.accept", (message, *self._ownership.guards(part))))
        except GuardFailed:
            return False
        if rows:
            queue.put_nowait((number, False))
        return True

    async def _work(self, part: PartId) -> None:
        queue = self._queues[part]
        while part not in self._stopping:
            number, is_uncertain = await queue.get()
            try:
                if number >= 0 and part not in self._stopping:
                    self._world.sending.add((self._host_id, part))
                    await self._send(part, number, is_uncertain)
            except (GuardFailed, PartLost, StorageFailed):
                return  # another Host owns it
            finally:
                self._world.sending.discard((self._host_id, part))

    async def _send(self, part: PartId, number: int, is_uncertain: bool) -> None:
        message, world = where(name=f"{part}/{number}"), self._world
        guards = self._ownership.guards(part)
        states = where(value=SENDING if is_uncertain else OWED)
        sending = Update(META, {"value": SENDING}, message + states)
        await self._journal.commit(Unit("outbox.sending", (sending, *guards)))
        await world.point("send:before")
        gate = self._ownership.effect_gate() if world.has_gate else None
        if gate is not None:
            await gate
        if not (is_uncertain and world.answers_questions and world.is_shown(part, number)):
            await world.send(Shown(part, number, is_marked=is_uncertain and not world.answers_questions))
        await world.point("send:after")
        await asyncio.sleep(world.dice.random() * ACKNOWLEDGE_SECONDS)
        await self._journal.commit(Unit("outbox.sent", (Update(META, {"value": SENT}, message),)))


def _number(name: str) -> int:
    return int(name.rpartition("/")[2])
