"""Builds the unit that ends a run: the run's status, the outcomes of its events, and a notice to the sender if
needed.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from typing import Any

from parlour.core.delivery import notices
from parlour.core.delivery.notices import NoticePolicy
from parlour.core.delivery.service import DeliveryService
from parlour.core.journal import UnitBuilder
from parlour.core.message_policy.effective import decode_policy
from parlour.core.model.agent import Agent
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import NO_RUN, RunId, TranscriptId
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.providers import CallContext
from parlour.core.models.reported_usage import ReportedUsage
from parlour.core.redaction import Redactor
from parlour.core.store import inbox, ledger, outbox_rows, remote_queue, transcript
from parlour.core.store.inbox import AttemptCounts, InboxOutcome
from parlour.core.store.ledger import RunEnd, RunStatus
from parlour.core.texts.languages import Languages
from parlour_sdk.protocol.history import INTERRUPTED
from parlour_sdk.values import dataclass

from . import retry_policy
from .retry_policy import RetryDecision
from .session import QueuedEvent, RunTermination

PLACEHOLDER = re.compile(r"\{([A-Za-z0-9_]+)\}")
MAX_VALUE_CHARACTERS = 200
"""Characters of a value that is filled into a text about a failure."""
POLICY_NOTICE = "policy"
"""Code of notices whose text the operator wrote in a message policy."""


@dataclass(frozen=True, slots=True)
class EndedRun:
    """The facts about a run that ends, from its session or, if that was lost with a process, from the ledger."""

    run_id: RunId
    event: RecordedEvent
    agent: Agent | None
    tries: AttemptCounts
    """Failed attempts before this end."""
    has_output: bool
    has_effects: bool
    next_sequence: Callable[[], int]
    """Assigns the next sequence number of the ledger."""
    usage: Mapping[str, Any] = field(default_factory=dict)
    claimed: tuple[QueuedEvent, ...] = ()
    injected: tuple[QueuedEvent, ...] = ()
    cancel_requested_at: int = 0
    variables: Mapping[str, Any] = field(default_factory=dict)
    """Values that plugins set for the event, for the text about a failure."""
    streaming: bool = True
    """True if a message may be partly shown."""
    model_failure: str = ""
    """Error code of the last model call; empty if that call was answered."""
    usage_elsewhere: Mapping[str, int] = field(default_factory=dict)
    """What the runner reports of other services, which budgets count."""
    call_context: CallContext | None = None
    """On whose behalf the run used it; None for a run whose session was lost."""


@dataclass(slots=True)
class RunCompletion:
    """The effects that follow after the unit is committed."""

    status: RunStatus
    feed_seq: int = 0
    retry: bool = False
    tries: AttemptCounts = AttemptCounts()
    """Failed attempts of the event that is retried."""
    requeued: list[QueuedEvent] = field(default_factory=list)
    outcomes: list[InboxOutcome] = field(default_factory=list)
    rows: list[OutboxRow] = field(default_factory=list)


class RunCompleter:
    """Adds the end of a run, or the outcome of an event without a run, to a unit."""

    def __init__(
        self,
        delivery: DeliveryService,
        notice_policy: NoticePolicy,
        languages: Languages,
        redactor: Redactor,
        reported_usage: ReportedUsage,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._delivery = delivery
        self._notice_policy = notice_policy
        self._languages = languages
        self._redactor = redactor
        self._reported_usage = reported_usage
        self._ids = ids
        self._clock = clock

    def add_completion(self, draft: UnitBuilder, run: EndedRun, termination: RunTermination) -> RunCompletion:
        """Adds the end of the run. It replaces the first statement of the unit, the guard that the run is still
        running.
        """
        if termination.error:
            termination = replace(
                termination, error=self._redactor.redact(termination.error)
            )  # the text may be shown to users
        now = self._clock.now()
        if run.streaming:
            draft.add(outbox_rows.fail_streams(run.run_id, termination.code or termination.status, now))
        self._note_dropped(draft, run, termination, now)
        completion = RunCompletion(termination.status, requeued=list(run.claimed))
        if termination.status in ("completed", "cancelled"):
            self._complete_all(draft, run, termination, completion)
        else:
            self._complete_failed(draft, run, termination, completion)
        completion.requeued.sort(key=lambda entry: entry.seq)
        completion.feed_seq = self._delivery.feed.next_seq()  # numbered after all output of the run and of its end
        end = RunEnd(
            termination.status,
            termination.code,
            termination.error,
            run.usage,
            run.cancel_requested_at,
            run.has_output,
            run.has_effects,
            completion.feed_seq,
        )
        draft.replace(0, ledger.end_run(run.run_id, end, now))
        if run.call_context is not None:
            draft.add(*self._reported_usage.charge(run.call_context, run.usage_elsewhere))
        return completion

    def keep_interrupted(self, draft: UnitBuilder, event: RecordedEvent, run_id: RunId, text: str) -> None:
        """Adds the shown part of a message that won't be completed to the transcript, so that "go on" makes sense."""
        if text.strip():
            transcript_id, message = TranscriptId(self._ids.new()), {"role": "assistant"}
            now = self._clock.now()
            transcript.add_reply_item(draft, transcript_id, event, run_id, INTERRUPTED, message, text, now)

    def complete_event(
        self, draft: UnitBuilder, event: RecordedEvent, outcome: str, reason: str, run_id: RunId = NO_RUN
    ) -> InboxOutcome:
        """Removes the event from the inbox and stores its outcome."""
        inbox_outcome = InboxOutcome(event.seq, outcome, reason, run_id)
        draft.add(*inbox.complete(inbox_outcome, self._clock.now()))
        return inbox_outcome

    def cancel_queued(self, draft: UnitBuilder, entry: QueuedEvent, code: str, reason: str) -> None:
        """Ends a run that was created for the event, or queued for remote workers before this start, and will not
        execute.
        """
        if not entry.run_id:
            return
        now = self._clock.now()
        # a queued run can't fail
        draft.add(
            ledger.end_run(entry.run_id, RunEnd("cancelled" if entry.queued_remotely else "failed", code, reason), now)
        )
        if entry.queued_remotely:
            draft.add(remote_queue.delete(entry.run_id))

    def notify(self, draft: UnitBuilder, event: RecordedEvent, run_id: RunId, code: str, error: str = "") -> OutboxRow:
        """Adds a notice to the sender of the event."""
        text = notices.notice_text(code, error, self._languages.for_event(event.envelope))
        row = self._delivery.composer.compose_notice(event, run_id, code, text)
        notices.add_notice(draft, TranscriptId(self._ids.new()), event, row, self._clock.now())
        return row

    def notify_unless_suppressed(
        self, draft: UnitBuilder, event: RecordedEvent, run_id: RunId, code: str, error: str
    ) -> list[OutboxRow]:
        """Adds a notice about a failure unless the notice policy suppresses it; the trail then gets the reason."""
        suppression = self._notice_policy.suppression_reason(event)
        if not suppression:
            return [self.notify(draft, event, run_id, code, error)]
        notices.add_suppressed_notice(draft, event, suppression, self._clock.now())
        return []

    def reject(self, draft: UnitBuilder, entry: QueuedEvent, code: str, text: str = "") -> list[OutboxRow]:
        """Adds a notice to the sender of an event that gets no run. The sender's message is added to the transcript
        first.
        """
        if not entry.transcript_seq:
            transcript.add_user_item(draft, TranscriptId(self._ids.new()), entry.event, self._clock.now())
        return self.notify_unless_suppressed(draft, entry.event, entry.parent_run_id, code, text)

    def _complete_all(
        self, draft: UnitBuilder, run: EndedRun, termination: RunTermination, completion: RunCompletion
    ) -> None:
        """Completes the event and all injected events, because the run answered them or its user cancelled it. Claimed
        events that were not pulled are queued again.
        """
        if run.claimed:
            draft.add(inbox.release_claimed(run.run_id))
        outcome = "cancelled" if termination.by_user else "silent" if termination.silent else "answered"
        completion.outcomes.append(self.complete_event(draft, run.event, outcome, termination.code, run.run_id))
        for entry in run.injected:
            completion.outcomes.append(
                self.complete_event(draft, entry.event, outcome, "taken in by the run", run.run_id)
            )
        if termination.by_user and run.injected:
            count = len(run.injected)
            key = "cancelled.with_many" if count > 1 else "cancelled.with_one"
            text = self._languages.text(run.event, key, count=count)
            completion.rows.append(self.notify(draft, run.event, run.run_id, "cancelled", text))

    def _complete_failed(
        self, draft: UnitBuilder, run: EndedRun, termination: RunTermination, completion: RunCompletion
    ) -> None:
        """Queues the claimed and injected events again, and either retries the run's own event or notifies its
        sender.
        """
        draft.add(inbox.release_all(run.run_id))
        completion.requeued += run.injected
        tries = _counted_tries(run, termination)
        match _consequence(run, termination):
            case "retry":
                draft.add(inbox.requeue(run.event.seq, failed=not termination.by_host))
                completion.retry, completion.tries = True, tries
                return
            case "quarantine":
                outcome, code = "quarantined", notices.quarantine_notice(retry_policy.quarantine_cause(tries))
            case _:
                outcome, code = "failed", _failure_notice(run, termination) or termination.code
        completion.outcomes.append(self.complete_event(draft, run.event, outcome, termination.code, run.run_id))
        completion.rows += self._notify_failure(draft, run, code, termination.error)

    def _notify_failure(self, draft: UnitBuilder, run: EndedRun, code: str, error: str) -> list[OutboxRow]:
        """Adds the notice about a failed run, as the agent's message policy wants it."""
        policy = decode_policy(run.agent.message_policy) if run.agent is not None else None
        if policy is None or (policy.failure.show == "hint" and not policy.failure.hint):
            return self.notify_unless_suppressed(draft, run.event, run.run_id, code, error)
        if policy.failure.show == "nothing":
            notices.add_suppressed_notice(draft, run.event, "the message policy shows no failures", self._clock.now())
            return []
        hint = policy.failure.hint if policy.failure.show == "hint" else "({code})"
        text = _filled(hint, {**run.variables, "code": code, "run_id": run.run_id})
        return self.notify_unless_suppressed(draft, run.event, run.run_id, POLICY_NOTICE, text)

    def _note_dropped(self, draft: UnitBuilder, run: EndedRun, termination: RunTermination, now: int) -> None:
        for data in _dropped_event_data(run.claimed, termination):
            draft.add(
                ledger.append_event(run.run_id, run.next_sequence(), "steering.dropped", data, now, source="host")
            )


def is_retried(run: EndedRun, termination: RunTermination) -> bool:
    """Returns whether the event of a run that ends like this is tried again."""
    return termination.status not in ("completed", "cancelled") and _consequence(run, termination) == "retry"


def _consequence(run: EndedRun, termination: RunTermination) -> RetryDecision:
    decision = retry_policy.decide(
        termination, run.agent, _counted_tries(run, termination), run.has_output, run.has_effects
    )
    # a service in trouble is not helped by the same request at once
    return "tell" if _failure_notice(run, termination) else decision


def _counted_tries(run: EndedRun, termination: RunTermination) -> AttemptCounts:
    return run.tries if termination.by_host else replace(run.tries, failures=run.tries.failures + 1)


def _failure_notice(run: EndedRun, termination: RunTermination) -> str:
    return notices.model_failure_notice(run.model_failure) if termination.by_runner else ""


def _filled(hint: str, values: Mapping[str, Any]) -> str:
    """Returns a text with its values filled in. Names without a value are left as they are."""
    return PLACEHOLDER.sub(
        lambda found: str(values[found[1]])[:MAX_VALUE_CHARACTERS] if found[1] in values else found[0], hint
    )


def _dropped_event_data(claimed: Iterable[QueuedEvent], termination: RunTermination) -> list[dict[str, str]]:
    reason = f"the run ended as {termination.status} before it pulled this"
    return [{"source_event_id": entry.event.envelope.event_id, "reason": reason} for entry in claimed]
