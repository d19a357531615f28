"""Counts what a run asks of models and tools, and notes how each call went. `ModelCallLog` records what was said.

That a model is asked is handed to the ledger with the question, and nobody waits for it: what the run writes later is
written after it. What the call has used goes there with the next thing that its run writes, which for most is its
answer; where that takes longer than a moment it is written by itself.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from parlour.core.errors import Refused
from parlour.core.journal import GuardFailed, Journal, StorageFailed, Unit
from parlour.core.model.ports import Clock
from parlour.core.model.providers import ProviderFailed
from parlour.core.runs.caller import Caller
from parlour.core.runs.model_call_log import ModelCallLog, OpenCall
from parlour.core.runs.session import RunSession
from parlour.core.runs.usage import Kind, Meter
from parlour.core.store import ledger
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.values import dataclass

logger = logging.getLogger(__name__)

MOMENT_SECONDS = 0.05


@dataclass(slots=True)
class Used:
    """What a call has used so far."""

    usage: Usage | None = None


class Metering:
    def __init__(self, journal: Journal, model_calls: ModelCallLog, clock: Clock) -> None:
        self._journal = journal
        self._model_calls = model_calls
        self._clock = clock
        self._writing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def around(
        self,
        caller: Caller,
        kind: Kind,
        name: str,
        about: Mapping[str, str] | None = None,
        call: OpenCall | None = None,
    ) -> AsyncIterator[Used]:
        """Counts one call of a run; `about` is kept beside its name, and `call` is the record of a model call, which
        ends here. Outside a run nothing is counted yet.
        """
        meter = caller.session.meter if caller.session is not None else Meter()
        used, began, outcome, error = Used(), self._clock.now(), "abandoned", ""
        meter.began(kind, name)
        if caller.session is not None and kind == "model":
            self._write_soon(caller.session, "run.calling")
        try:
            yield used
            outcome = "answered"
        except (ProviderFailed, Refused) as failure:
            outcome, error = failure.code, failure.message
            raise
        finally:
            details: dict[str, Any] = {**(about or {}), "started_at": began}
            if call is not None:
                details["call_id"] = call.call_id
            meter.ended(kind, name, outcome, self._clock.now() - began, used.usage, details)
            if call is not None:
                self._model_calls.end(call, outcome, error)
            if caller.session is not None and kind == "model":
                asyncio.get_running_loop().call_later(MOMENT_SECONDS, self._moment_over, caller.session)

    def _moment_over(self, session: RunSession) -> None:
        if session.meter.has_notes and not session.ended.is_set():
            self._write_soon(session, "run.metered")

    def _write_soon(self, session: RunSession, unit: str) -> None:
        task = asyncio.get_running_loop().create_task(self._write_down(session, unit))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def _write_down(self, session: RunSession, unit: str) -> None:
        notes, now = session.meter.take_notes(), self._clock.now()
        counted = ledger.metered(session.run_id, session.meter.usage({}), now)
        rows = [
            ledger.append(session.run_id, session.next_sequence(), type, told, now, source="host")
            for type, told in notes
        ]
        try:
            await self._journal.commit(Unit(unit, (counted, *rows)))
        except GuardFailed:
            session.meter.put_back(notes)  # it is just ending, and may write its last unit yet
        except StorageFailed as failure:
            session.meter.put_back(notes)
            logger.error("what run %s used is written with its next result: %s", session.run_id, failure.message)
