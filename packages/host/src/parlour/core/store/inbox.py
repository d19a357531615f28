"""The inbox: one row per event that still has to be handled; the row is deleted when the event is completed.

States: `owed` waits in its lane; `running` is being answered by `run_id`; `claimed` waits in that run's steering
queue; `injected` was pulled by it; `control` is a chat command that is being executed. An `owed` row that had a run
before keeps that run's id; one for which a run was created has the id of that run. `transcribed` is the number of the
event's transcript item, which is written once; zero until then.

A row is `in_flight` from the unit before its event is handed to a plugin until the unit after the plugin returned it.
Rows that are in flight at a start were so when the Host crashed; `count_crash` counts the crash once for all of them.
"""

from typing import Final

from parlour.core.cluster.parts import part_of
from parlour.core.journal import (
    ANY,
    Condition,
    Delete,
    Increment,
    Insert,
    Journal,
    Ref,
    Row,
    Select,
    Update,
    Upsert,
    one_of,
    where,
)
from parlour.core.model.ids import NO_RUN, BotId, ConversationId, PartId, RunId
from parlour_sdk.values import dataclass

from .tables import INBOX, OUTCOMES

_ZERO_COUNTS: Final = {"in_flight": 0, "failures": 0, "deaths": 0, "lone_deaths": 0}


@dataclass(frozen=True, slots=True)
class AttemptCounts:
    """Counts the failed runs and crashes of an event so far."""

    failures: int = 0
    crashes: int = 0
    lone_crashes: int = 0


@dataclass(frozen=True, slots=True)
class InboxOutcome:
    """Final outcome of an event."""

    event_seq: int
    outcome: str
    reason: str
    run_id: RunId


def enqueue(
    event_seq: int | Ref,
    lane: ConversationId,
    bot_id: BotId,
    run_id: RunId = NO_RUN,
    attempts: int = 0,
    transcript_seq: int = 0,
) -> Insert:
    """Builds the statement that inserts an event that waits in its lane.

    `run_id` is a run that was already created for it.
    """
    values: dict[str, str | int | Ref] = {
        "event_seq": event_seq,
        "lane": lane,
        "part": part_of(bot_id, lane),
        "state": "owed",
        "run_id": run_id,
        "attempts": attempts,
        "transcribed": transcript_seq,
    }
    return Insert(INBOX, {**values, **_ZERO_COUNTS})


def enqueue_command(event_seq: Ref, lane: ConversationId, bot_id: BotId) -> Insert:
    """Builds the statement that inserts a chat command.

    It stays in the inbox until it was executed, but does not wait in a lane.
    """
    values: dict[str, str | int | Ref] = {"event_seq": event_seq, "lane": lane, "part": part_of(bot_id, lane)}
    return Insert(INBOX, {**values, **_ZERO_COUNTS, "state": "control", "run_id": "", "attempts": 0, "transcribed": 0})


def complete_command(outcome: InboxOutcome, now: int) -> tuple[Delete, Insert]:
    """Builds the statements that complete a chat command. A redelivery of the event may have completed it before."""
    conditions = where(event_seq=outcome.event_seq, state="control")
    return Delete(INBOX, conditions, expect=ANY), record_outcome(outcome, now)


def mark_running(event_seq: int, run_id: RunId, transcript_seq: int | Ref, in_flight: bool = True) -> Update:
    """Builds the statement that starts an attempt, before the plugin is called.

    A run for remote workers is not in flight in this Host.
    """
    values: dict[str, str | int | Ref | Increment] = {
        "state": "running",
        "run_id": run_id,
        "transcribed": transcript_seq,
    }
    return Update(
        INBOX,
        {**values, "attempts": Increment(), "in_flight": int(in_flight)},
        where(event_seq=event_seq, state="owed"),
    )


def insert_running(
    event_seq: Ref, lane: ConversationId, bot_id: BotId, run_id: RunId, transcript_seq: int | Ref
) -> Insert:
    """Builds the statement that inserts an event whose first attempt starts in the unit that records it."""
    values: dict[str, str | int | Ref] = {
        "event_seq": event_seq,
        "lane": lane,
        "part": part_of(bot_id, lane),
        "state": "running",
        "run_id": run_id,
    }
    return Insert(INBOX, {**values, **_ZERO_COUNTS, "attempts": 1, "transcribed": transcript_seq, "in_flight": 1})


def count_attempt(event_seq: int) -> Update:
    """Builds the statement that starts an attempt by listeners, before they are called."""
    return Update(INBOX, {"attempts": Increment(), "in_flight": 1}, where(event_seq=event_seq, state="owed"))


def claim(event_seq: int, run_id: RunId, transcript_seq: int | Ref) -> Update:
    """Builds the statement that moves an event to the steering queue of a run."""
    return Update(
        INBOX,
        {"state": "claimed", "run_id": run_id, "transcribed": transcript_seq},
        where(event_seq=event_seq, state="owed"),
    )


def inject(event_seq: int, run_id: RunId) -> Update:
    """Builds the statement that records that the run pulled an event from its steering queue."""
    conditions = where(event_seq=event_seq, run_id=run_id, state="claimed")
    return Update(INBOX, {"state": "injected", "in_flight": 1}, conditions)


def take_in(event_seq: int, run_id: RunId, transcript_seq: int | Ref) -> Update:
    """Makes a waiting event part of a run that is being opened."""
    values: dict[str, str | int | Ref] = {"state": "injected", "run_id": run_id, "transcribed": transcript_seq}
    return Update(INBOX, {**values, "in_flight": 1}, where(event_seq=event_seq, state="owed"))


def release_claimed(run_id: RunId) -> Update:
    """Returns the events to their lane that the run claimed but never pulled."""
    return Update(INBOX, {"state": "owed", "run_id": ""}, where(run_id=run_id, state="claimed"), expect=ANY)


def release_all(run_id: RunId) -> Update:
    """Builds the statement that puts all events that the run claimed, pulled or not, back into their lane."""
    values: dict[str, str | int] = {"state": "owed", "run_id": "", "in_flight": 0}
    return Update(INBOX, {**values}, where(run_id=run_id, state=one_of("claimed", "injected")), expect=ANY)


def requeue(event_seq: int, failed: bool) -> Update:
    """Builds the statement that puts the event back into its lane for a new attempt.

    `failed` is true if its run failed, rather than the Host.
    """
    values: dict[str, str | int | Increment] = {"state": "owed", "in_flight": 0}
    return Update(INBOX, {**values, "failures": Increment(int(failed))}, where(event_seq=event_seq, state="running"))


def count_crash(was_alone: bool, part: PartId | None = None) -> Update:
    """Builds the statement that counts a crash of the Host for every event that was in flight, once per crash.

    `part` limits it to the events of a part whose Host crashed.
    `was_alone` is true if there was only one such event, and no chat command was being executed.
    """
    values: dict[str, int | Increment] = {
        "in_flight": 0,
        "deaths": Increment(),
        "lone_deaths": Increment(int(was_alone)),
    }
    return Update(INBOX, {**values}, where(in_flight=1) + _in_part(part), expect=ANY)


def complete(outcome: InboxOutcome, now: int) -> tuple[Delete, Insert]:
    """Builds the statements that delete the inbox row and record the outcome, which replaces an earlier one."""
    return Delete(INBOX, where(event_seq=outcome.event_seq)), record_outcome(outcome, now)


def record_outcome(outcome: InboxOutcome, now: int, event_seq: Ref | None = None) -> Insert:
    """Builds the statement that records the outcome of an event without an inbox row.

    `event_seq` is given if the same unit records the event.
    """
    return Insert(
        OUTCOMES,
        {
            "event_seq": event_seq or outcome.event_seq,
            "outcome": outcome.outcome,
            "reason": outcome.reason,
            "run_id": outcome.run_id,
            "decided_at": now,
        },
        conflict=Upsert(("event_seq",), ("outcome", "reason", "run_id", "decided_at")),
    )


def _in_part(part: PartId | None) -> tuple[Condition, ...]:
    return () if part is None else where(part=part)


class Inbox:
    """Reads the inbox and the outcomes."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def all(self, part: PartId | None = None) -> list[Row]:
        """Returns all rows, or those of a part, in the order of their events."""
        return await self._journal.read(Select(INBOX, _in_part(part), order=("event_seq",)))

    async def pending_commands(self, part: PartId | None = None) -> list[int]:
        """Returns the events, of all parts or of one, whose chat commands may not have been executed."""
        query = Select(INBOX, where(state="control") + _in_part(part), ("event_seq",), order=("event_seq",))
        return [int(row["event_seq"]) for row in await self._journal.read(query)]

    async def is_pending(self, event_seq: int) -> bool:
        """Returns whether the event, or the command that it is, has not been completed."""
        return bool(await self._journal.read(Select(INBOX, where(event_seq=event_seq), ("event_seq",), limit=1)))

    async def outcome(self, event_seq: int) -> InboxOutcome | None:
        rows = await self._journal.read(Select(OUTCOMES, where(event_seq=event_seq), limit=1, point_read=True))
        return InboxOutcome(event_seq, rows[0]["outcome"], rows[0]["reason"], rows[0]["run_id"]) if rows else None

    async def active_run_id(self, event_seq: int) -> RunId:
        """Returns the id of the run that handles this event; empty if there is none."""
        rows = await self._journal.read(Select(INBOX, where(event_seq=event_seq), columns=("run_id",), limit=1))
        return RunId(str(rows[0]["run_id"])) if rows else NO_RUN
