"""Counts a run's calls to models and tools, and records the outcome of each. `ModelCallLog` records the content.

The start of a model call is written to the ledger in parallel with the call, and nothing waits for it: later writes of
the run come after it. The usage of a call is written with the next write of its run, which usually is its answer; if
none comes within `USAGE_WRITE_DELAY_SECONDS`, it is written separately.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from parlour.core.asyncio_utils import BackgroundTasks
from parlour.core.errors import CallRejected
from parlour.core.journal import GuardFailed, Journal, StorageFailed, Unit
from parlour.core.model.ports import Clock
from parlour.core.model.providers import ProviderFailed
from parlour.core.runs.caller import ActionCaller
from parlour.core.runs.model_call_log import ModelCallLog, OpenCall
from parlour.core.runs.session import RunSession
from parlour.core.runs.usage import Kind, RunMeter
from parlour.core.store import ledger
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.values import dataclass

logger = logging.getLogger(__name__)

USAGE_WRITE_DELAY_SECONDS = 0.05
"""Seconds to wait for a write of the run before the usage of a model call is written separately."""


@dataclass(slots=True)
class CallUsage:
    """Collects the usage of a call that is in progress."""

    usage: Usage | None = None


class UsageRecorder:
    """Counts the calls of runs and writes their usage to the ledger."""

    def __init__(self, journal: Journal, model_calls: ModelCallLog, clock: Clock) -> None:
        self._journal = journal
        self._model_calls = model_calls
        self._clock = clock
        self._write_tasks = BackgroundTasks("the usage of a run was not written")

    @asynccontextmanager
    async def record(
        self,
        caller: ActionCaller,
        kind: Kind,
        name: str,
        extra_details: Mapping[str, Any] | None = None,
        call: OpenCall | None = None,
    ) -> AsyncIterator[CallUsage]:
        """Counts one call of a run while the context is open. Outside a run nothing is recorded yet.

        `extra_details` are stored beside the call's name. `call` is the record of a model call, which is ended here.
        """
        meter = caller.session.meter if caller.session is not None else RunMeter()
        call_usage, started_at, outcome, error = CallUsage(), self._clock.now(), "abandoned", ""
        meter.start_call(kind, name)
        if caller.session is not None and kind == "model":
            self._schedule_write(caller.session, "run.calling")
        try:
            yield call_usage
            outcome = "answered"
        except (ProviderFailed, CallRejected) as failure:
            outcome, error = failure.code, failure.message
            raise
        finally:
            details: dict[str, Any] = {**(extra_details or {}), "started_at": started_at}
            if call is not None:
                details["call_id"] = call.call_id
            meter.end_call(kind, name, outcome, self._clock.now() - started_at, call_usage.usage, details)
            if call is not None:
                self._model_calls.end(call, outcome, error)
            if caller.session is not None and kind == "model":
                asyncio.get_running_loop().call_later(USAGE_WRITE_DELAY_SECONDS, self._write_if_pending, caller.session)

    def _write_if_pending(self, session: RunSession) -> None:
        if session.meter.has_events and not session.ended.is_set():
            self._schedule_write(session, "run.metered")

    def _schedule_write(self, session: RunSession, unit: str) -> None:
        self._write_tasks.start(self._write(session, unit))

    async def _write(self, session: RunSession, unit: str) -> None:
        notes, now = session.meter.drain_events(), self._clock.now()
        usage_update = ledger.record_usage(session.run_id, session.meter.usage({}), now)
        rows = [
            ledger.append_event(session.run_id, session.next_sequence(), type, data, now, source="host")
            for type, data in notes
        ]
        try:
            await self._journal.commit(Unit(unit, (usage_update, *rows)))
        except GuardFailed:
            session.meter.restore_events(notes)  # the run is ending, and its last unit may still include them
        except StorageFailed as failure:
            session.meter.restore_events(notes)
            logger.error("usage of run %s will be written with its next result: %s", session.run_id, failure.message)
