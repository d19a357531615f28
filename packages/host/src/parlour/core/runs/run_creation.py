"""Creates runs on request: for a plugin with a frozen grant, or as a new run of an event that already had one.

Each is written together with its inbox row and waits for its turn in its conversation's lane like any other.
"""

from collections.abc import Sequence
from dataclasses import replace

from parlour.core.access.grants import Grant
from parlour.core.errors import CallRejected
from parlour.core.journal import GuardFailed, Journal, Ref, Row, Statement, UnitBuilder
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ids import NO_RUN, ConversationId, RunId
from parlour.core.model.ports import Clock, Ids
from parlour.core.routing.decisions import ToAgent
from parlour.core.routing.router import Router
from parlour.core.store import event_log, inbox, ledger, transcript
from parlour.core.store.conversations import Conversations
from parlour.core.store.event_attachments import EventAttachments, PreparedEvent, attachment_in_use
from parlour.core.store.event_log import EventLog
from parlour.core.store.ledger import Ledger
from parlour_sdk.values import dataclass

from .caller import ActionCaller
from .lanes import Lanes
from .run_checks import RunChecks, RunTarget, find_config_problem
from .run_grants import RunGrants
from .session import QueuedEvent
from .starter import run_row


@dataclass(frozen=True, slots=True)
class NewRunRequest:
    """A requested run: its event, its conversation, and the event whose sender it acts for."""

    envelope: EventEnvelope
    conversation_id: ConversationId
    """Empty for the conversation that the event itself belongs to."""
    authority: EventEnvelope
    """Event of the sender on whose behalf the run acts."""
    parent_run_id: RunId = NO_RUN


class RequestedTargets:
    """Resolves the agent, the runner and the grant of runs that are requested outside the turn of their event."""

    def __init__(self, router: Router, checks: RunChecks, grants: RunGrants) -> None:
        self._router = router
        self._checks = checks
        self._grants = grants

    def resolve(self, envelope: EventEnvelope) -> RunTarget:
        """Returns the target of a run. Raises CallRejected; secrets are read when the run starts."""
        decision = self._router.decide(envelope)
        if not isinstance(decision, ToAgent):
            raise CallRejected("not_found", decision.reason)
        descriptor = self._checks.find_runner(decision.binding.agent)
        request = envelope.run_request
        config = request.config if request is not None else None
        if config is not None and (problem := find_config_problem(descriptor, config)):
            field, message = problem
            raise CallRejected("invalid_argument", f"config.{field}: {message}")
        return RunTarget(decision.binding, descriptor)

    def grant(self, caller: ActionCaller, requested: NewRunRequest, event: RecordedEvent, target: RunTarget) -> Grant:
        """Returns the grant of a run that a plugin creates. Resources selected by the agent's own configuration count;
        those in a configuration that the creating plugin sends instead grant nothing.
        """
        request = requested.envelope.run_request
        if request is not None and not request.runner_id:
            own_decision = self._router.decide(replace(requested.envelope, run_request=replace(request, config=None)))
            target = RunTarget(own_decision.binding, target.descriptor) if isinstance(own_decision, ToAgent) else target
        return self._grants.for_request(caller, requested.authority, event, target)

    def retry_grant(self, run: Row, event: RecordedEvent, target: RunTarget) -> Grant:
        """Returns the grant of a retry."""
        return self._grants.for_retry(run, event, target)


class RunCreator:
    """Creates runs for plugins and retries runs."""

    def __init__(
        self,
        journal: Journal,
        targets: RequestedTargets,
        conversations: Conversations,
        attachments: EventAttachments,
        lanes: Lanes,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._ledger = Ledger(journal)
        self._log = EventLog(journal)
        self._targets = targets
        self._conversations = conversations
        self._attachments = attachments
        self._lanes = lanes
        self._ids = ids
        self._clock = clock

    async def create(self, caller: ActionCaller, requested: NewRunRequest) -> Row:
        """Creates a run and returns its ledger row. An event id that the plugin used before returns the run of that
        event.
        """
        target = self._targets.resolve(requested.envelope)
        prepared = await self._attachments.store(requested.envelope, self._conversations)
        conversation_id = requested.conversation_id or await self._conversations.get_or_create(
            requested.envelope.conversation_key, self._ids, self._clock
        )
        event = RecordedEvent(0, conversation_id, self._clock.now(), prepared.event)
        grant = self._targets.grant(caller, requested, event, target)
        try:
            return await self._write_new(requested, event, target, grant, prepared)
        except GuardFailed as failure:
            if failure.statement:
                raise attachment_in_use() from failure
            return await self._find_existing(prepared.event)

    async def retry(self, run: Row) -> Row:
        """Creates a new run of the same event with the next attempt number. Its grant is computed again; a run that was
        created by a plugin keeps its grant.
        """
        if run["rerun_of"]:
            raise CallRejected("invalid_argument", "this run is a rerun, of which there is nothing to retry")
        event = await self._log.get_by_seq(run["event_seq"])
        latest = await self._ledger.latest_for_event(run["event_seq"])
        if event is None or latest is None:
            raise CallRejected("not_found", "the event of this run is not kept any more")
        target = self._targets.resolve(event.envelope)
        grant = self._targets.retry_grant(run, event, target)
        transcript_seq = await transcript.event_item_seq(self._journal, event)
        entry = QueuedEvent(event, latest["attempt"], transcript_seq, run_id=RunId(self._ids.new()))
        inbox_row = inbox.enqueue(
            event.seq, entry.lane, event.envelope.bot_id, entry.run_id, entry.attempts, entry.transcript_seq
        )
        try:
            await self._write(entry, target, grant, run["run_id"], [inbox_row])
        except GuardFailed as failure:
            message = "another run of this event is on its way; wait for its end"
            raise CallRejected("invalid_argument", message, retryable=True) from failure
        return await self._enqueue_run(entry)

    async def _write_new(
        self,
        requested: NewRunRequest,
        event: RecordedEvent,
        target: RunTarget,
        grant: Grant,
        prepared: PreparedEvent,
    ) -> Row:
        entry = QueuedEvent(event, run_id=RunId(self._ids.new()))
        event_row = event_log.append(event.envelope, event.conversation_id, event.created_at)
        inbox_row = inbox.enqueue(Ref(0, "seq"), entry.lane, event.envelope.bot_id, entry.run_id)
        files = prepared.statements(event.conversation_id)
        statements: list[Statement] = [event_row, inbox_row, *files]
        seq = await self._write(entry, target, grant, requested.parent_run_id, statements)
        return await self._enqueue_run(replace(entry, event=replace(event, seq=seq)))

    async def _write(
        self,
        entry: QueuedEvent,
        target: RunTarget,
        grant: Grant,
        parent_run_id: RunId,
        statements: Sequence[Statement],
    ) -> int:
        """Commits one unit and returns the event's number, which comes from the first statement if the event is new."""
        draft = UnitBuilder("run.create" if not entry.seq else "run.retry")
        draft.add(*statements)
        row = run_row(
            entry.run_id,
            entry.event,
            target,
            grant,
            attempt=entry.attempts + 1,
            parent_run_id=parent_run_id,
            deadline_at=0,
            now=self._clock.now(),
            status="created",
            event_seq=entry.seq or Ref(0, "seq"),
        )
        draft.add(ledger.insert_run(row))
        receipt = await self._journal.commit(draft.build())
        return entry.seq or int(receipt[0][0]["seq"])

    async def _enqueue_run(self, entry: QueuedEvent) -> Row:
        self._lanes.enqueue(entry)
        run = await self._ledger.get_run(entry.run_id)
        assert run is not None
        return run

    async def _find_existing(self, envelope: EventEnvelope) -> Row:
        event = await self._log.find_duplicate(envelope)
        run = await self._ledger.latest_for_event(event.seq) if event is not None else None
        if run is None:
            raise CallRejected("invalid_argument", "event.event_id: it was used before, and for nothing that had a run")
        return run
