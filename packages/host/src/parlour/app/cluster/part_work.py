"""The work of parts on a Host: it is recovered when the part is taken, and ends in order before the part moves."""

import asyncio
import logging
import time
from collections.abc import Collection

from parlour.core.cluster.balance import kind_of
from parlour.core.cluster.parts import DUTIES, SCHEDULES_DUTY, SHARD_COUNT, SWEEPS_DUTY, bot_part, part_of
from parlour.core.model.ids import BotId, PartId
from parlour.core.observability.metrics import Metrics
from parlour.core.runs.recovery import INTERRUPTED
from parlour.platforms._host.bots import Bots

from ..core import Core
from ..knowledge import KnowledgeSubsystem

logger = logging.getLogger(__name__)

INTERRUPT_SECONDS = 5.0
"""Seconds in which interrupted runs write their end."""
SEND_SECONDS = 5.0
"""Seconds in which a platform may acknowledge the sends in progress."""
LEFT_RESERVATION_MILLISECONDS = 24 * 3600 * 1000
"""Age at which a reservation of a budget belongs to no model call any more, on whichever Host."""
SHARDS = tuple(PartId(f"shard:{number:02}") for number in range(SHARD_COUNT))


class HostPartWork:
    """Recovers, continues and drains the work of parts. Implements `PartWork`."""

    def __init__(
        self, core: Core, bots: Bots, knowledge: KnowledgeSubsystem, metrics: Metrics, drain_seconds: float
    ) -> None:
        self._metrics = metrics
        self._core = core
        self._bots = bots
        self._knowledge = knowledge
        self._drain_seconds = drain_seconds

    def parts(self) -> Collection[PartId]:
        return [*(bot_part(bot.bot_id) for bot in self._core.bots.all()), *SHARDS, *DUTIES]

    async def take(self, part: PartId) -> None:
        begun, kind = time.monotonic(), ("kind", kind_of(part))
        self._metrics.count("parlour_cluster_taken_parts_total", kind)
        await self._continue(part)
        self._metrics.observe("parlour_cluster_take_seconds", time.monotonic() - begun, kind)

    async def _continue(self, part: PartId) -> None:
        if part == SCHEDULES_DUTY:
            self._core.scheduler.on_schedules_changed()
        elif part == SWEEPS_DUTY:
            await self._core.reservations.recover(LEFT_RESERVATION_MILLISECONDS)
            await self._knowledge.recover()
            await self._core.workers.recover()
        else:
            await self._core.recover_part(part)
            if bot_id := _bot_id(part):
                await self._bots.apply(bot_id)

    async def drain(self, part: PartId) -> None:
        if part in DUTIES:
            return
        core = self._core
        lanes = core.lanes.of_part(part)
        sessions = [
            each
            for each in core.sessions.all()
            if not each.remote and part_of(each.event.envelope.bot_id, each.event.conversation_id) == part
        ]
        if await _unfinished(lanes, self._drain_seconds):
            for session in sessions:
                session.stop(INTERRUPTED)
            if await _unfinished(lanes, INTERRUPT_SECONDS):
                logger.error("%s is given away although a run of it did not end", part)
        await core.jobs.drain(part)
        await core.outbox.drain(part, SEND_SECONDS)
        core.approvals.drain(part)
        if bot_id := _bot_id(part):
            await self._bots.apply(bot_id)  # it is not owned any more, so its connection ends


async def _unfinished(tasks: "Collection[asyncio.Task[None]]", seconds: float) -> bool:
    return bool(tasks) and bool((await asyncio.wait(tasks, timeout=seconds))[1])


def _bot_id(part: PartId) -> BotId:
    kind, _, name = part.partition(":")
    return BotId(name if kind == "bot" else "")
