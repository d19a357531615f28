"""Takes parts for a Host, and drains those that it gives away.

Every beat a Host fences the Hosts whose lease is over, and carries out its part of the balance (`balance`). It owns a
part from the unit `part.take` until the unit `part.release`, or until it is fenced.
"""

import asyncio
import logging
from collections.abc import Collection, Coroutine
from typing import Any, Protocol

from parlour.core.journal import GuardFailed, Journal, StorageFailed, Unit
from parlour.core.model.ids import PartId
from parlour.core.model.ports import Clock

from . import owner_rows
from .balance import Members, plan_moves
from .leased_ownership import LeasedOwnership
from .leases import BEAT_SECONDS, HostLeases
from .member import ClusterMember
from .owner_rows import PartOwner

logger = logging.getLogger(__name__)


class PartWork(Protocol):
    """The work of parts on this Host."""

    def parts(self) -> Collection[PartId]:
        """Returns all parts that there are, by the configuration."""
        ...

    async def take(self, part: PartId) -> None:
        """Recovers and continues the work of a part that this Host owns now."""
        ...

    async def drain(self, part: PartId) -> None:
        """Ends the work of a part in order. Nothing of it happens here any more after it returns."""
        ...


class PartKeeper:
    """Keeps the parts of one Host."""

    def __init__(
        self,
        journal: Journal,
        leases: HostLeases,
        ownership: LeasedOwnership,
        work: PartWork,
        member: ClusterMember,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._leases = leases
        self._ownership = ownership
        self._work = work
        self._member = member
        self._clock = clock
        self._moves: dict[PartId, asyncio.Task[None]] = {}
        """Parts that are being taken or drained."""
        self._is_leaving = False

    async def serve(self) -> None:
        """Works until it is cancelled or the Host is fenced."""
        while not self._ownership.is_fenced:
            try:
                await self.step()
            except StorageFailed as failure:
                logger.warning("the parts of this Host are not balanced: %s", failure.message)
            except Exception:  # the Host keeps the parts that it has
                logger.exception("the parts of this Host are not balanced")
            await asyncio.sleep(BEAT_SECONDS)

    async def leave(self) -> None:
        """Gives all parts away, and ends the membership of the Host."""
        await self.release_all()
        while not self._ownership.is_fenced:
            try:
                await self._leases.leave(self._member.host_id)
                return
            except StorageFailed as failure:
                logger.warning("this Host can't leave the cluster: %s", failure.message)
            await asyncio.sleep(BEAT_SECONDS)

    async def release_all(self) -> None:
        """Gives all parts away as they are drained, and takes no more.

        It returns when nothing is left, or when the Host is fenced.
        """
        self._is_leaving = True
        while not self._ownership.is_fenced:
            try:
                await self.step()
                if not self._ownership.parts and not self._moves:
                    return
            except StorageFailed as failure:
                logger.warning("this Host can't give its parts away: %s", failure.message)
            if self._moves:
                await asyncio.wait(self._moves.values(), timeout=BEAT_SECONDS)
            else:
                await asyncio.sleep(BEAT_SECONDS)

    async def close(self) -> None:
        """Cancels moves in progress, as when the Host ends at once."""
        moves = list(self._moves.values())
        for move in moves:
            move.cancel()
        if moves:
            await asyncio.wait(moves)

    async def step(self) -> None:
        """Fences the dead, and starts the moves of this Host. Raises StorageFailed."""
        for host_id in await self._leases.fence_expired():
            logger.warning("Host %s is fenced: it has not renewed its lease", host_id)
        parts = await self._stored_parts()
        live, draining = await owner_rows.live_hosts(self._journal)
        await self._give_back_unknown(parts)
        is_leaving = self._is_leaving or self._member.host_id in draining
        members = Members(self._member.host_id, [each for each in live if each not in draining], is_leaving)
        moves = plan_moves(parts, members, self._clock.now())
        for part in moves.take:
            self._start(part.part, self._take(part))
        for part in moves.release:
            if self._ownership.owns(part.part):
                self._start(part.part, self._release(part.part))
        for part in moves.request:
            await self._try(Unit("part.request", (owner_rows.request(part, self._member.host_id),)))

    async def _stored_parts(self) -> list[PartOwner]:
        """Returns the parts, after adding new ones and removing those that don't exist any more."""
        known, stored = set(self._work.parts()), await owner_rows.all_parts(self._journal)
        missing = sorted(known - {each.part for each in stored})
        if missing:
            await self._try(Unit("part.add", tuple(map(owner_rows.add, missing))))
            stored = await owner_rows.all_parts(self._journal)
        gone = [each for each in stored if each.part not in known]
        for part in gone:
            if self._ownership.owns(part.part):
                self._start(part.part, self._release(part.part))
            elif not part.host_id:
                await self._try(Unit("part.remove", (owner_rows.remove(part),)))
        return [each for each in stored if each.part in known]

    async def _give_back_unknown(self, parts: list[PartOwner]) -> None:
        """Frees parts that were taken by a unit whose outcome was not known."""
        for part in parts:
            is_unknown = part.host_id == self._member.host_id and part.part not in self._ownership.parts
            if is_unknown and part.part not in self._moves:
                await self._try(self._releasing(part.part, part.epoch))

    def _start(self, part: PartId, move: Coroutine[Any, Any, None]) -> None:
        if part in self._moves:
            move.close()
            return
        self._moves[part] = task = asyncio.create_task(move)
        task.add_done_callback(lambda _: self._moves.pop(part, None))

    async def _take(self, free: PartOwner) -> None:
        try:
            if not await self._try(Unit("part.take", (self._taking(free),))):
                return
            await self._leases.raise_numbers(self._member.slot)
        except StorageFailed as failure:
            logger.warning("%s was not taken: %s", free.part, failure.message)
            return
        self._ownership.add(free.part, free.epoch + 1)
        try:
            await self._work.take(free.part)
        except Exception:
            logger.exception("%s could not be continued on this Host, and is given away", free.part)
            await self._release(free.part)

    async def _release(self, part: PartId) -> None:
        self._ownership.begin_drain(part)
        try:
            await self._work.drain(part)
        except Exception:
            logger.exception("%s could not be drained in order", part)
        epoch = self._ownership.epoch(part)
        self._ownership.remove(part)
        try:
            await self._try(self._releasing(part, epoch))
        except StorageFailed as failure:  # the next step finds that the part is not known any more
            logger.warning("%s was not released: %s", part, failure.message)

    async def _try(self, unit: Unit) -> bool:
        """Commits a unit. Returns False if another Host was faster."""
        try:
            await self._journal.commit(unit)
        except GuardFailed:
            return False
        return True

    def _taking(self, free: PartOwner) -> Any:
        return owner_rows.take(free, self._member.host_id, self._clock.now())

    def _releasing(self, part: PartId, epoch: int) -> Unit:
        return Unit("part.release", (owner_rows.release(part, epoch, self._clock.now()),))
