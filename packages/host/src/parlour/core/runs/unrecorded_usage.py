"""Computes the usage of an interrupted run from the ledger, with a row for each model call that was in progress."""

from typing import Any

from parlour.core.encoding import loads
from parlour.core.journal import Insert, Row
from parlour.core.store import ledger
from parlour.core.store.ledger import Ledger
from parlour_sdk.values import dataclass

from .usage import RunMeter


@dataclass(frozen=True, slots=True)
class UnrecordedUsage:
    """The usage of an interrupted run, and the ledger rows that are missing."""

    usage: dict[str, Any]
    rows: tuple[Insert, ...]
    next_sequence: int
    """Sequence number of the ledger after these rows."""


async def load_unrecorded_usage(ledger_of_runs: Ledger, run: Row, now: int) -> UnrecordedUsage:
    """Reads the stored usage of the run and closes its open model calls."""
    meter, run_id = RunMeter(), run["run_id"]
    meter.resume(loads(run["usage"]))
    first = await ledger_of_runs.last_sequence(run_id) + 1
    notes = meter.drain_events()
    rows = tuple(
        ledger.append_event(run_id, first + index, type, data, now, source="host")
        for index, (type, data) in enumerate(notes)
    )
    return UnrecordedUsage(meter.usage({}), rows, first + len(rows))
