"""Writes deltas to the ledger after a short interval, even if no other result follows that would include them."""

import asyncio
import logging

from parlour.core.journal import GuardFailed, Journal, StorageFailed
from parlour.core.model.ports import Clock

from .delta_buffer import FLUSH_INTERVAL_SECONDS, DeltaBuffer
from .result_batch import ResultBatch, RunEventWriter
from .session import RunSession

logger = logging.getLogger(__name__)


class DeltaFlusher:
    """Flushes the delta buffer of one run by a timer."""

    def __init__(
        self, session: RunSession, journal: Journal, deltas: DeltaBuffer, writing: RunEventWriter, clock: Clock
    ) -> None:
        self._session = session
        self._journal = journal
        self._deltas = deltas
        self._writing = writing
        self._clock = clock
        self._timer: asyncio.TimerHandle | None = None
        self._flush: asyncio.Task[None] | None = None

    def schedule(self) -> None:
        if self._deltas.has_unwritten and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_INTERVAL_SECONDS, self._over)

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._flush is not None:
            await self._flush

    def _over(self) -> None:
        self._timer = None
        if self._deltas.has_unwritten and self._session.stopping is None:
            self._flush = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        step = ResultBatch(self._session.run_id, self._clock.now())
        self._writing.add_deltas(step)
        step.draft.name = "run.deltas"
        try:
            await self._journal.commit(step.draft.build())
        except (GuardFailed, StorageFailed) as error:
            logger.warning("deltas of run %s are missing in the ledger: %s", self._session.run_id, error)
