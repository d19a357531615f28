"""Recorded calls of runs with their answers, so that a further attempt neither pays nor acts twice."""

from typing import Any, Literal

from parlour.core.encoding import dumps, loads
from parlour.core.journal import Insert, Journal, Select, Upsert, other_than, where
from parlour.core.model.ids import NO_RUN, RunId
from parlour_sdk.values import dataclass

from .tables import CALLS, RUNS

CallState = Literal["begun", "answered", "refused"]


@dataclass(frozen=True, slots=True)
class RunAncestry:
    """Identifies the attempts to answer one event, which share their calls under the id of the first run."""

    first_run_id: RunId
    last_position: int
    """Position of the last call of the earlier attempts; 0 if there was none."""


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call of a run with its answer."""

    lineage: str
    position: int
    run_id: RunId
    """Run of the attempt that received the answer."""
    action: str
    request_hash: str
    state: CallState = "begun"
    parts: tuple[Any, ...] = ()
    """Parts of the answer; an answer that is not a stream has one part."""
    refusal: dict[str, Any] | None = None
    """Error of a rejected call, if any."""

    def upsert(self, now: int) -> Insert:
        updated_columns = ("run_id", "state", "answer", "created_at")
        return Insert(
            CALLS,
            {
                "lineage": self.lineage,
                "position": self.position,
                "run_id": self.run_id,
                "action": self.action,
                "request_hash": self.request_hash,
                "state": self.state,
                "answer": dumps({"parts": self.parts, "refusal": self.refusal}),
                "created_at": now,
            },
            conflict=Upsert(("lineage", "position"), updated_columns),
        )


class CallRecords:
    """Reads recorded calls."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def ancestry(self, event_seq: int, run_id: RunId) -> RunAncestry:
        """Returns the ancestry of a run: the first attempt for its event, and the last call of earlier attempts."""
        first_run_id = await self._first_run_id(event_seq, run_id)
        last = Select(
            CALLS,
            where(lineage=first_run_id, run_id=other_than(run_id)),
            ("position",),
            order=("position",),
            direction="descending",
            limit=1,
        )
        rows = await self._journal.read(last)
        return RunAncestry(first_run_id, int(rows[0]["position"]) if rows else 0)

    async def _first_run_id(self, event_seq: int, run_id: RunId) -> RunId:
        """Returns the id of the first attempt. A completed attempt ends its ancestry: the next run starts a new one."""
        attempts = Select(RUNS, where(event_seq=event_seq, rerun_of=""), ("run_id", "status"), order=("run_id",))
        first = NO_RUN
        for row in await self._journal.read(attempts):
            first = NO_RUN if row["status"] == "completed" else first or row["run_id"]
        return first or run_id

    async def get(self, lineage: str, position: int) -> CallRecord | None:
        rows = await self._journal.read(
            Select(CALLS, where(lineage=lineage, position=position), limit=1, point_read=True)
        )
        if not rows:
            return None
        row, answer = rows[0], loads(rows[0]["answer"])
        return CallRecord(
            lineage,
            position,
            row["run_id"],
            row["action"],
            row["request_hash"],
            row["state"],
            tuple(answer["parts"]),
            answer["refusal"],
        )
