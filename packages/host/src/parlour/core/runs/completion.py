"""Builds the unit that ends a run: the run's status, the outcomes of its events, and a notice to the sender if
needed.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from typing import Any

from parlour.core.delivery import notices
from parlour.core.delivery.composer import Delivery
from parlour.core.delivery.notice_policy import Tact
from parlour.core.journal import Draft
from parlour.core.model.agent import Agent
from parlour.core.model.event import RecordedEvent
from parlour.core.model.outbox_row import Outgoing
from parlour.core.model.ports import Clock, Ids
from parlour.core.redaction import REDACTOR
from parlour.core.store import inbox, ledger, outbox_rows, remote_queue, transcript
from parlour.core.store.inbox import Settled, Tries
from parlour.core.store.ledger import RunEnd, Status
from parlour.core.texts.languages import Languages
from parlour_sdk.values import dataclass

from . import retry_policy
from .session import Ending, Entry


@dataclass(frozen=True, slots=True)
class EndingRun:
    """The facts about a run that ends, from its session or, if that was lost with a process, from the ledger."""

    run_id: str
    event: RecordedEvent
    agent: Agent | None
    tries: Tries
    """Failed attempts before this end."""
    shown: bool
    effects: bool
    next_sequence: Callable[[], int]
    """Assigns the next sequence number of the ledger."""
    usage: Mapping[str, Any] = field(default_factory=dict)
    claimed: tuple[Entry, ...] = ()
    injected: tuple[Entry, ...] = ()
    cancel_requested_at: int = 0
    streaming: bool = True
    """True if a message may be partly shown."""
    model_failure: str = ""
    """Error code of the last model call; empty if that call was answered."""


@dataclass(slots=True)
class Aftermath:
    """The effects that follow after the unit is committed."""

    status: Status
    feed_seq: int = 0
    retry: bool = False
    tries: Tries = Tries()
    """Failed attempts of the event that is retried."""
    owed_again: list[Entry] = field(default_factory=list)
    settled: list[Settled] = field(default_factory=list)
    rows: list[Outgoing] = field(default_factory=list)


class Endings:
    """Adds the end of a run, or the outcome of an event without a run, to a unit."""

    def __init__(self, delivery: Delivery, tact: Tact, languages: Languages, ids: Ids, clock: Clock) -> None:
        self._delivery = delivery
        self._tact = tact
        self._languages = languages
        self._ids = ids
        self._clock = clock

    def draft(self, draft: Draft, run: EndingRun, ending: Ending) -> Aftermath:
        """Adds the end of the run. It replaces the first statement of the unit, the guard that the run is still
        running.
        """
        if ending.error:
            ending = replace(ending, error=REDACTOR.clean(ending.error))  # the text may be shown to users
        now = self._clock.now()
        if run.streaming:
            draft.add(outbox_rows.break_streams(run.run_id, ending.code or ending.status, now))
        self._note_dropped(draft, run, ending, now)
        aftermath = Aftermath(ending.status, owed_again=list(run.claimed))
        if ending.status in ("completed", "cancelled"):
            self._settle_all(draft, run, ending, aftermath)
        else:
            self._settle_badly(draft, run, ending, aftermath)
        aftermath.owed_again.sort(key=lambda entry: entry.seq)
        aftermath.feed_seq = self._delivery.feed.stamp()  # numbered after all output of the run and of its end
        end = RunEnd(
            ending.status,
            ending.code,
            ending.error,
            run.usage,
            run.cancel_requested_at,
            run.shown,
            run.effects,
            aftermath.feed_seq,
        )
        draft.replace(0, ledger.end_run(run.run_id, end, now))
        return aftermath

    def settle(self, draft: Draft, event: RecordedEvent, outcome: str, reason: str, run_id: str = "") -> Settled:
        """Removes the event from the inbox and stores its outcome."""
        settled = Settled(event.seq, outcome, reason, run_id)
        draft.add(*inbox.settle(settled, self._clock.now()))
        return settled

    def call_off(self, draft: Draft, entry: Entry, code: str, reason: str) -> None:
        """Ends a run that was created for the event, or queued for remote workers before this start, and will not
        execute.
        """
        if not entry.run_id:
            return
        now = self._clock.now()
        # a queued run can't fail
        draft.add(ledger.end_run(entry.run_id, RunEnd("cancelled" if entry.parked else "failed", code, reason), now))
        if entry.parked:
            draft.add(remote_queue.drop(entry.run_id))

    def tell(self, draft: Draft, event: RecordedEvent, run_id: str, code: str, error: str = "") -> Outgoing:
        """Adds a notice to the sender of the event."""
        sentence = notices.sentence(code, error, self._languages.of(event.envelope))
        row = self._delivery.notice(event, run_id, code, sentence)
        notices.say(draft, self._ids.new(), event, row, self._clock.now())
        return row

    def tell_if_due(self, draft: Draft, event: RecordedEvent, run_id: str, code: str, error: str) -> list[Outgoing]:
        """Adds a notice about a failure unless the notice policy suppresses it; the trail then gets the reason."""
        silence = self._tact.silence(event)
        if not silence:
            return [self.tell(draft, event, run_id, code, error)]
        notices.leave_unsaid(draft, event, silence, self._clock.now())
        return []

    def refuse(self, draft: Draft, entry: Entry, code: str) -> list[Outgoing]:
        """Adds a notice to the sender of an event that gets no run. The sender's message is added to the transcript
        first.
        """
        if not entry.transcribed:
            transcript.add_user_item(draft, self._ids.new(), entry.event, self._clock.now())
        return self.tell_if_due(draft, entry.event, entry.parent_run_id, code, "")

    def _settle_all(self, draft: Draft, run: EndingRun, ending: Ending, aftermath: Aftermath) -> None:
        """Completes the event and all injected events, because the run answered them or its user cancelled it. Claimed
        events that were not pulled are queued again.
        """
        if run.claimed:
            draft.add(inbox.release_claimed(run.run_id))
        outcome = "cancelled" if ending.by_user else "silent" if ending.silent else "answered"
        aftermath.settled.append(self.settle(draft, run.event, outcome, ending.code, run.run_id))
        for entry in run.injected:
            aftermath.settled.append(self.settle(draft, entry.event, outcome, "taken in by the run", run.run_id))
        if ending.by_user and run.injected:
            count = len(run.injected)
            key = "cancelled.with_many" if count > 1 else "cancelled.with_one"
            text = self._languages.text(run.event, key, count=count)
            aftermath.rows.append(self.tell(draft, run.event, run.run_id, "cancelled", text))

    def _settle_badly(self, draft: Draft, run: EndingRun, ending: Ending, aftermath: Aftermath) -> None:
        """Queues the claimed and injected events again, and either retries the run's own event or notifies its
        sender.
        """
        draft.add(inbox.release_all(run.run_id))
        aftermath.owed_again += run.injected
        trouble = notices.model_trouble(run.model_failure) if ending.by_runner else ""
        tries = run.tries if ending.by_host else replace(run.tries, failures=run.tries.failures + 1)
        match retry_policy.after(ending, run.agent, tries, run.shown, run.effects):
            case "retry":
                draft.add(inbox.owe_again(run.event.seq, failed=not ending.by_host))
                aftermath.retry, aftermath.tries = True, tries
                return
            case "quarantine" if not trouble:
                outcome, code = "quarantined", notices.quarantined(retry_policy.exhausted(tries))
            case "quarantine" | "tell":
                outcome, code = "failed", trouble or ending.code
        aftermath.settled.append(self.settle(draft, run.event, outcome, ending.code, run.run_id))
        aftermath.rows += self.tell_if_due(draft, run.event, run.run_id, code, ending.error)

    def _note_dropped(self, draft: Draft, run: EndingRun, ending: Ending, now: int) -> None:
        for data in _dropped(run.claimed, ending):
            draft.add(ledger.append(run.run_id, run.next_sequence(), "steering.dropped", data, now, source="host"))


def _dropped(claimed: Iterable[Entry], ending: Ending) -> list[dict[str, str]]:
    reason = f"the run ended as {ending.status} before it pulled this"
    return [{"source_event_id": entry.event.envelope.event_id, "reason": reason} for entry in claimed]
