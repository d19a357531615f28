"""Explains what happened to an event: collects the stored records about it and sorts them by time."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from parlour.core.encoding import loads
from parlour.core.journal import Journal, Row, Select, Table, contains, one_of, where
from parlour.core.model.ports import Clock
from parlour.core.store.event_notes import OUTBOX_IDS
from parlour.core.store.tables import (
    AGENTS,
    API_KEYS,
    APPROVALS,
    AUDIT,
    BOTS,
    EVENTS,
    INBOX,
    OUTBOX,
    OUTCOMES,
    RUN_EVENTS,
    RUNS,
    TRAIL,
    USERS,
)
from parlour_sdk.values import dataclass

from . import steps
from .steps import ExplanationStep
from .texts import ExplanationSentence

DisplayNames = dict[tuple[str, str], str]
"""Display names by the placeholder of the sentence and the id."""
DECISION_CODES = ("approval_approved", "approval_denied")
"""Codes of the sentences that name a person who decided."""
API_KEY_PREFIX = "api_key:"
"""Prefix of the id of an API key that decided."""
EXPLAINED_RUN_EVENTS = (
    "model.called",
    "tool.call.started",
    "tool.call.completed",
    "knowledge.retrieved",
    "action.decided",
    "hook.asked",
    "policy.filtered",
    "run.failed",
)
"""Types of run events that become steps of an explanation."""
STEERING_RUN_EVENTS = ("steering.queued", "steering.injected", "steering.dropped")
"""Types of run events about steering that become steps of an explanation."""
MAX_ROWS_PER_QUERY = 200
"""Maximum number of rows that one query of an explanation reads."""
MAX_FOUND_EVENTS = 10
"""Maximum number of events that one id may refer to: a platform's message ids are unique only within a chat."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """An event and the steps that explain it."""

    event: Row
    steps: list[ExplanationStep]


class Explanations:
    """Finds events and builds their explanations."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock

    async def find_events(self, name: str) -> list[Row]:
        """Returns the events that an event id, a run id or a platform's message id refers to, newest first.

        The message may have been received or sent.
        """
        if events := await self._newest(event_id=name):
            return events
        numbers = {run["event_seq"] for run in await self._rows(RUNS, run_id=name)}
        if not numbers:
            sent_rows = await self._rows(OUTBOX, platform_message_id=name)
            numbers = {number for row in sent_rows for number in await self._causing_events(row)}
            numbers |= {event["seq"] for event in await self._newest(subject_type="message", subject_id=name)}
        return await self._newest(seq=one_of(*numbers)) if numbers else []

    async def explain(self, event: Row, reruns: bool = True) -> Explanation:
        """Builds the explanation of an event.

        `reruns` includes reruns and the names of the users who decided; only callers who may request reruns see these.
        """
        trail = [steps.received_step(event)]
        notes = await self._rows(TRAIL, event_seq=event["seq"])
        trail += [steps.note_step(note) for note in notes]
        trail += [steps.delivery_step(row) for row in await self._sent_without_run(notes)]
        trail += [steps.pending_step(row, self._clock.now()) for row in await self._rows(INBOX, event_seq=event["seq"])]
        trail += [steps.outcome_step(row) for row in await self._rows(OUTCOMES, event_seq=event["seq"])]
        for run in await self._runs(event):
            if run["rerun_of"] and not reruns:
                continue
            trail += await self._run_steps(run, event)
        order = {"received": 0, "run": 1, "rerun": 1, "grants": 2, "settled": 9, "owed": 9}
        trail.sort(key=lambda step: (step.at, order.get(step.step, 5)))
        return Explanation(event, await with_display_names(self._journal, trail, include_people=reruns))

    async def _runs(self, event: Row) -> list[Row]:
        """Returns the runs of the event itself, and the run that received it by steering."""
        own_runs = await self._rows(RUNS, event_seq=event["seq"])
        own_run_ids = {run["run_id"] for run in own_runs}
        outcome_run_ids = [row["run_id"] for row in await self._rows(OUTCOMES, event_seq=event["seq"])]
        other_run_ids = [run_id for run_id in outcome_run_ids if run_id and run_id not in own_run_ids]
        return own_runs + (await self._rows(RUNS, run_id=one_of(*other_run_ids)) if other_run_ids else [])

    async def _run_steps(self, run: Row, event: Row) -> list[ExplanationStep]:
        trail = [steps.run_start_step(run, event), steps.grant_step(run)]
        trail += [steps.denial_step(row) for row in await self._rows(AUDIT, run_id=run["run_id"], outcome="denied")]
        run_events = await self._rows(
            RUN_EVENTS, run_id=run["run_id"], type=one_of(*EXPLAINED_RUN_EVENTS, *STEERING_RUN_EVENTS)
        )
        trail += [step for step in map(steps.run_event_step, run_events) if step is not None]
        approvals = await self._rows(APPROVALS, run_id=run["run_id"])
        trail += [steps.approval_step(row) for row in approvals if row["status"] != "pending"]
        trail += [steps.delivery_step(row) for row in await self._rows(OUTBOX, run_id=run["run_id"])]
        if run["finished_at"]:
            trail.append(steps.run_end_step(run))
        return trail

    async def _sent_without_run(self, notes: list[Row]) -> list[Row]:
        """Returns the outbox rows of an event without a run: of a webhook, or a notice why there is no answer."""
        outbox_ids = [outbox_id for note in notes for outbox_id in loads(note["data"]).get(OUTBOX_IDS, ())]
        return await self._rows(OUTBOX, outbox_id=one_of(*outbox_ids)) if outbox_ids else []

    async def _causing_events(self, outbox_row: Row) -> list[int]:
        """Returns the sequence numbers of the events for which an outbox row was sent."""
        if outbox_row["run_id"]:
            return [run["event_seq"] for run in await self._rows(RUNS, run_id=outbox_row["run_id"])]
        notes = await self._rows(TRAIL, data=contains(outbox_row["outbox_id"]))
        return [note["event_seq"] for note in notes]

    async def _newest(self, **conditions: Any) -> list[Row]:
        """Reads events, newest first."""
        order = Select(EVENTS, where(**conditions), order=("seq",), direction="descending", limit=MAX_FOUND_EVENTS)
        return await self._journal.read(order)

    async def _rows(self, table: Table, **conditions: Any) -> list[Row]:
        return await self._journal.read(Select(table, where(**conditions), limit=MAX_ROWS_PER_QUERY))


async def with_display_names(
    journal: Journal, trail: list[ExplanationStep], include_people: bool
) -> list[ExplanationStep]:
    """Returns the steps with names in place of ids. `include_people` adds those who decided approvals."""
    sentences = [sentence for step in trail for sentence in step.sentences]
    display_names: DisplayNames = {}
    for field, table, column in (("bot", BOTS, "bot_id"), ("agent", AGENTS, "agent_id")):
        for row in await _rows_by_id(journal, table, column, _ids(sentences, field)):
            display_names[field, row[column]] = f"'{loads(row['definition'])['name']}'"
    deciders = _ids((each for each in sentences if each.code in DECISION_CODES), "who") if include_people else set()
    for row in await _rows_by_id(journal, USERS, "user_id", deciders):
        display_names["who", row["user_id"]] = row["name"] or row["email"]
    for row in await _rows_by_id(journal, API_KEYS, "key_id", {each.removeprefix(API_KEY_PREFIX) for each in deciders}):
        display_names["who", API_KEY_PREFIX + row["key_id"]] = f"API key '{row['name']}'"
    return [_with_names(step, display_names) for step in trail]


def _ids(sentences: Iterable[ExplanationSentence], field: str) -> set[str]:
    return {str(sentence.values[field]) for sentence in sentences if sentence.values.get(field)}


async def _rows_by_id(journal: Journal, table: Table, column: str, ids: set[str]) -> list[Row]:
    return await journal.read(Select(table, where(**{column: one_of(*sorted(ids))}))) if ids else []


def _with_names(step: ExplanationStep, display_names: DisplayNames) -> ExplanationStep:
    sentences = tuple(
        replace(
            each, values={field: display_names.get((field, str(value)), value) for field, value in each.values.items()}
        )
        if each.values.keys() & {"bot", "agent", "who"}
        else each
        for each in step.sentences
    )
    if sentences == step.sentences:
        return step
    return replace(step, text=" ".join(each.text for each in sentences), sentences=sentences)
