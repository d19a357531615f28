"""The ledger: runs, their events in order, and how they ended. Only the transitions of the control plane exist."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import Any, Final, Literal

from parlour.core.cluster.parts import part_of
from parlour.core.encoding import dumps, dumps_dict, dumps_list
from parlour.core.journal import Condition, Insert, Journal, Ref, Row, Select, Update, above, below, one_of, where
from parlour.core.model.ids import AgentId, BindingId, BotId, ConversationId, EventId, PluginId, RunId, RunnerId
from parlour_sdk.values import dataclass

from .tables import AUDIT, RUN_EVENTS, RUNS

RunStatus = Literal[
    "created", "queued", "claimed", "running", "waiting_approval", "completed", "failed", "cancelled", "timeout"
]
MAX_LATEST_RUNS = 100
"""Number of a conversation's latest runs in which ended runs are searched."""
ACTIVE_STATUSES: Final = ("created", "queued", "claimed", "running", "waiting_approval")

TRANSITIONS: Final[dict[str, tuple[str, ...]]] = {
    "created": ("queued", "running", "cancelled", "failed"),
    "queued": ("claimed", "cancelled", "timeout"),
    "claimed": ("running", "queued", "cancelled", "failed", "timeout"),
    "running": ("waiting_approval", "completed", "failed", "cancelled", "timeout"),
    "waiting_approval": ("running", "cancelled", "timeout", "failed"),
}


@dataclass(frozen=True, slots=True)
class NewRun:
    """Values of a new row of the table of runs."""

    run_id: RunId
    event_seq: int | Ref
    event_id: EventId
    agent_id: AgentId
    binding_id: BindingId
    runner_id: RunnerId
    plugin_id: PluginId
    conversation_id: ConversationId
    thread_id: str
    workspace_id: str
    bot_id: BotId
    attempt: int
    parent_run_id: RunId
    snapshot: str
    deadline_at: int
    now: int
    metadata: str = "{}"
    status: RunStatus = "running"
    rerun_of: str = ""
    """Original run, for a rerun by an operator. A rerun is not shown to users and does not complete the event."""
    created_by: str = ""
    """Plugin that created the run."""


@dataclass(frozen=True, slots=True)
class RunEnd:
    """Final values of a run."""

    status: RunStatus
    reason: str = ""
    error: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    cancel_requested_at: int = 0
    shown: bool = False
    effects: bool = False
    feed_seq: int = 0
    """Position of the end in the feed of the conversation."""


def insert_run(run: NewRun) -> Insert:
    """Builds the statement that inserts a run."""
    return Insert(
        RUNS,
        {
            "run_id": run.run_id,
            "event_seq": run.event_seq,
            "event_id": run.event_id,
            "agent_id": run.agent_id,
            "binding_id": run.binding_id,
            "runner_id": run.runner_id,
            "plugin_id": run.plugin_id,
            "conversation_id": run.conversation_id,
            "part": part_of(run.bot_id, run.conversation_id),
            "thread_id": run.thread_id,
            "workspace_id": run.workspace_id,
            "bot_id": run.bot_id,
            "status": run.status,
            "status_reason": "",
            "error": "",
            "parent_run_id": run.parent_run_id,
            "rerun_of": run.rerun_of,
            "created_by": run.created_by,
            "claimed_by": "",
            "usage": "{}",
            "snapshot": run.snapshot,
            "metadata": run.metadata,
            "attempt": run.attempt,
            "shown": 0,
            "effects": 0,
            "created_at": run.now,
            "started_at": run.now if run.status == "running" else 0,
            "finished_at": 0,
            "updated_at": run.now,
            "deadline_at": run.deadline_at,
            "cancel_requested_at": 0,
            "lease_until": 0,
            "feed_seq": 0,
        },
    )


def transition(run_id: RunId, source: RunStatus, target: RunStatus, now: int, **values: str | int) -> Update:
    """Builds the statement that moves a run from one status to another by the table of transitions.

    It fails its guard in any other status.
    """
    if target not in TRANSITIONS[source]:
        raise ValueError(f"a run does not go from {source} to {target}")
    if target == "running":
        values = {"started_at": now, **values}
    return Update(RUNS, {"status": target, "updated_at": now, **values}, where(run_id=run_id, status=source))


def renew_lease(run_id: RunId, lease_until: int) -> Update:
    """Builds the statement that extends the lease of a claimed run."""
    active = one_of("claimed", "running", "waiting_approval")
    return Update(RUNS, {"lease_until": lease_until}, where(run_id=run_id, status=active))


def update_progress(
    run_id: RunId,
    now: int,
    *,
    has_output: bool = False,
    has_effects: bool = False,
    usage: Mapping[str, Any] | None = None,
) -> Update:
    """Builds the statement that updates the progress of a run.

    Every unit of a run contains it as a guard: it fails unless the run is running.
    """
    values: dict[str, Any] = {"updated_at": now}
    if usage is not None:
        values["usage"] = dumps(dict(usage))
    if has_output:
        values["shown"] = 1
    if has_effects:
        values["effects"] = 1
    return Update(RUNS, values, where(run_id=run_id, status="running"))


def record_usage(run_id: RunId, usage: Mapping[str, Any], now: int) -> Update:
    """Builds the statement that records the usage of a run so far."""
    return Update(RUNS, {"usage": dumps(dict(usage)), "updated_at": now}, where(run_id=run_id, status="running"))


def end_run(run_id: RunId, end: RunEnd, now: int) -> Update:
    """Builds the statement that ends a run. It fails its guard if the run's status does not permit this end."""
    sources = tuple(source for source, targets in TRANSITIONS.items() if end.status in targets)
    values: dict[str, Any] = {
        "status": end.status,
        "status_reason": end.reason,
        "error": end.error,
        "usage": dumps_dict(end.usage),
        "cancel_requested_at": end.cancel_requested_at,
        "shown": int(end.shown),
        "effects": int(end.effects),
        "feed_seq": end.feed_seq,
        "finished_at": now,
        "updated_at": now,
    }
    return Update(RUNS, values, where(run_id=run_id, status=one_of(*sources)))


def require_run_exists(run_id: RunId) -> Update:
    """Builds the statement that changes nothing, but fails its guard if the run was deleted with its events."""
    return Update(RUNS, {"run_id": run_id}, where(run_id=run_id))


def append_event(
    run_id: RunId,
    sequence: int,
    type: str,
    data: Any,
    now: int,
    *,
    source: str = "runner",
    first: int = 0,
    last: int = 0,
    artifact_refs: Sequence[Any] = (),
    metadata: Mapping[str, Any] = MappingProxyType({}),
) -> Insert:
    """Builds the statement that appends an event to a run.

    `sequence` is the ledger's own order; `first` and `last` are the runner's numbers that the row covers.
    """
    return Insert(
        RUN_EVENTS,
        {
            "run_id": run_id,
            "sequence": sequence,
            "type": type,
            "data": dumps(data),
            "source": source,
            "artifact_refs": dumps_list(artifact_refs),
            "metadata": dumps_dict(metadata),
            "first_sequence": first,
            "last_sequence": last,
            "created_at": now,
        },
    )


class Ledger:
    """Reads runs and their events."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def get_run(self, run_id: RunId) -> Row | None:
        rows = await self._journal.read(Select(RUNS, where(run_id=run_id), limit=1, point_read=True))
        return rows[0] if rows else None

    async def page(self, conditions: tuple[Condition, ...], before: str, limit: int) -> list[Row]:
        """Returns runs that are older than the run `before`, the newest first."""
        if before:
            conditions += where(run_id=below(before))
        return await self._journal.read(
            Select(RUNS, conditions, order=("run_id",), direction="descending", limit=limit)
        )

    async def events(self, run_id: RunId, after: int, limit: int) -> list[Row]:
        conditions = where(run_id=run_id, sequence=above(after))
        return await self._journal.read(Select(RUN_EVENTS, conditions, order=("sequence",), limit=limit))

    async def latest_for_event(self, event_seq: int) -> Row | None:
        """Returns the latest run of an event, except reruns."""
        conditions = where(event_seq=event_seq, rerun_of="")
        rows = await self._journal.read(Select(RUNS, conditions, order=("run_id",), direction="descending", limit=1))
        return rows[0] if rows else None

    async def reruns(self, run: Row, limit: int) -> list[Row]:
        conditions = where(event_seq=run["event_seq"], rerun_of=run["run_id"])
        return await self._journal.read(Select(RUNS, conditions, order=("run_id",), limit=limit))

    async def denials(self, run_id: RunId, limit: int) -> list[Row]:
        """Returns the audit entries of the run's denied calls, in order."""
        conditions = where(run_id=run_id, outcome="denied")
        return await self._journal.read(Select(AUDIT, conditions, order=("seq",), limit=limit))

    async def ended_after(self, conversation_id: ConversationId, feed_seq: int) -> list[Row]:
        """Returns those of the conversation's latest runs that ended after this position of the feed, in order."""
        query = Select(
            RUNS,
            where(conversation_id=conversation_id),
            ("run_id", "status", "feed_seq"),
            order=("run_id",),
            direction="descending",
            limit=MAX_LATEST_RUNS,
        )
        ended_runs = [row for row in await self._journal.read(query) if row["feed_seq"] > feed_seq]
        return sorted(ended_runs, key=lambda row: int(row["feed_seq"]))

    async def last_sequence(self, run_id: RunId) -> int:
        query = Select(
            RUN_EVENTS, where(run_id=run_id), ("sequence",), order=("sequence",), direction="descending", limit=1
        )
        rows = await self._journal.read(query)
        return int(rows[0]["sequence"]) if rows else 0
