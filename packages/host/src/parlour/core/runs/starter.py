"""Starts runs: creates the session with its frozen grant, and writes the first unit."""

from contextlib import suppress

from parlour.core.access.grants import Grant
from parlour.core.cluster.ownership import Ownership
from parlour.core.cluster.parts import part_of
from parlour.core.encoding import dumps
from parlour.core.journal import GuardFailed, Journal, Ref, Statement, UnitBuilder, resolve_ref
from parlour.core.message_policy.filtered import FilteredMessages, filtered_input
from parlour.core.model.agent import Binding
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import RunId, TranscriptId
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.runner import RunnerDescriptor
from parlour.core.store import event_notes, inbox, ledger, transcript
from parlour.core.store.ledger import NewRun, RunStatus

from .admission import AdmissionLost
from .context_builder import RunContextBuilder
from .run_checks import RunTarget
from .run_grants import RunGrants
from .session import QueuedEvent, RunIdentity, RunSession, StartedRun


class RunStarter:
    """Creates sessions and writes the start of runs."""

    def __init__(
        self,
        journal: Journal,
        ownership: Ownership,
        grants: RunGrants,
        contexts: RunContextBuilder,
        filtered: FilteredMessages,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._ownership = ownership
        self._grants = grants
        self._contexts = contexts
        self._filtered = filtered
        self._ids = ids
        self._clock = clock

    async def new_session(self, entry: QueuedEvent, target: RunTarget) -> RunSession:
        """Creates the session of a run with its grant."""
        grant = await self._grants.for_turn(entry, target)
        identity = RunIdentity(
            entry.run_id or RunId(self._ids.new()),
            entry,
            target.binding,
            grant,
            steerable="steering_pull" in grant.apis,
            multimodal=target.descriptor.manifest.capabilities.multimodal_input,
        )
        session = RunSession(identity)
        for each in (entry, *entry.gathered):
            if each.host_calls:
                session.meter.add_host_calls(each.host_calls)
                each.host_calls = ()
        return session

    async def start(self, session: RunSession, descriptor: RunnerDescriptor) -> dict[str, object]:
        """Commits the start of the run and returns the request for its runner."""
        state = await self._contexts.state_snapshot(session)
        await self.create(session, descriptor, "running")
        return await self._contexts.build(session, descriptor, state)

    async def prepare(self, started_run: StartedRun) -> None:
        """Prepares the request as far as possible during the commit, while nothing may leave the Host.

        The start is already being written, so a failure is ignored here; the step is repeated when the run is executed
        and its failure is reported then.
        """
        session, descriptor = started_run.session, started_run.descriptor
        with suppress(Exception):
            started_run.state = await self._contexts.state_snapshot(session)
            if self._contexts.can_build_early(session, descriptor):
                started_run.request = await self._contexts.build(session, descriptor, started_run.state)

    async def prepared_request(self, started_run: StartedRun) -> dict[str, object]:
        """Returns the request for the runner of a run that was started with its event."""
        if started_run.request is not None:
            return started_run.request
        return await self._contexts.build(started_run.session, started_run.descriptor, started_run.state)

    async def create(
        self, session: RunSession, descriptor: RunnerDescriptor, status: RunStatus, *extra_statements: Statement
    ) -> None:
        """Commits the start of a run as one unit: the attempt, the ledger row and the user's transcript item."""
        entry, now = session.entry, self._start_deadline(session)
        draft = UnitBuilder("run.open" if status == "running" else "run.queue")
        transcript_seq: int | Ref = entry.transcript_seq or transcript.add_user_item(
            draft, TranscriptId(self._ids.new()), entry.readable_event, now
        )
        draft.add(inbox.mark_running(entry.seq, session.run_id, transcript_seq, in_flight=status == "running"))
        if entry.run_id:
            draft.add(ledger.transition(entry.run_id, "created", status, now, deadline_at=session.deadline_at))
        else:
            draft.add(ledger.insert_run(self._row(session, descriptor, status, now)))
        draft.add(*extra_statements, *self._guards(entry.event))
        gathered = self._add_gathered(draft, session, now)
        found = [each for each in (entry, *entry.gathered) if each.has_new_hits]
        for each in found:
            self._filtered.add(draft, each.event, filtered_input(each.filter_hits))
        admission = draft.add(*entry.admission)
        try:
            receipt = await self._journal.commit(draft.build())
        except GuardFailed as failure:
            if failure.statement >= admission:
                raise AdmissionLost from failure
            raise
        if found:
            self._filtered.after_commit()
        entry.attempts += 1
        entry.transcript_seq = resolve_ref(receipt, transcript_seq)
        for follower, seq in gathered:
            follower.transcript_seq = resolve_ref(receipt, seq)
            session.injected.append(follower)

    def _add_gathered(self, draft: UnitBuilder, session: RunSession, now: int) -> list[tuple[QueuedEvent, int | Ref]]:
        """Adds the messages that were collected for the run, as if it had pulled them."""
        gathered: list[tuple[QueuedEvent, int | Ref]] = []
        for follower in session.entry.gathered:
            seq: int | Ref = follower.transcript_seq or transcript.add_user_item(
                draft, TranscriptId(self._ids.new()), follower.readable_event, now
            )
            note = {"text": f"It was collected into run {session.run_id}.", "code": "policy_gathered"}
            draft.add(inbox.take_in(follower.seq, session.run_id, seq))
            draft.add(event_notes.add_note(follower.seq, "policy.gathered", note, now))
            gathered.append((follower, seq))
        return gathered

    def create_in(self, draft: UnitBuilder, session: RunSession, descriptor: RunnerDescriptor, event_seq: Ref) -> Ref:
        """Adds the start of a run to the unit that records its event. Returns a reference to the number of the
        transcript item.
        """
        event, now = session.event, self._start_deadline(session)
        transcript_seq = transcript.add_user_item(
            draft, TranscriptId(self._ids.new()), session.entry.readable_event, now, event_seq
        )
        draft.add(
            inbox.insert_running(
                event_seq, event.conversation_id, event.envelope.bot_id, session.run_id, transcript_seq
            )
        )
        draft.add(ledger.insert_run(self._row(session, descriptor, "running", now, event_seq)))
        draft.add(*self._guards(event), *session.entry.admission)
        return transcript_seq

    def _guards(self, event: RecordedEvent) -> tuple[Statement, ...]:
        """Returns the guards that keep a run from starting here after its conversation moved to another Host."""
        return self._ownership.guards(part_of(event.envelope.bot_id, event.conversation_id))

    def _start_deadline(self, session: RunSession) -> int:
        """Sets the deadline, counted from now, and returns the current time."""
        now, seconds = self._clock.now(), session.binding.agent.timeout_seconds
        session.deadline_at = now + int(seconds * 1000) if seconds else 0
        return now

    def _row(
        self,
        session: RunSession,
        descriptor: RunnerDescriptor,
        status: RunStatus,
        now: int,
        event_seq: Ref | None = None,
    ) -> NewRun:
        return run_row(
            session.run_id,
            session.event,
            RunTarget(session.binding, descriptor),
            session.grant,
            attempt=session.entry.attempts + 1,
            parent_run_id=session.entry.parent_run_id,
            deadline_at=session.deadline_at,
            now=now,
            status=status,
            event_seq=event_seq,
        )


def run_row(
    run_id: RunId,
    event: RecordedEvent,
    target: RunTarget,
    grant: Grant,
    *,
    attempt: int,
    parent_run_id: RunId,
    deadline_at: int,
    now: int,
    status: RunStatus,
    event_seq: int | Ref | None = None,
    rerun_of: str = "",
) -> NewRun:
    """Builds the ledger row of a run. `event_seq` is given if the event's number is not known yet."""
    envelope, binding, descriptor = event.envelope, target.binding, target.descriptor
    return NewRun(
        run_id=run_id,
        event_seq=event.seq if event_seq is None else event_seq,
        event_id=envelope.event_id,
        agent_id=binding.agent.agent_id,
        binding_id=binding.binding_id,
        runner_id=descriptor.runner_id,
        plugin_id=descriptor.plugin_id,
        conversation_id=event.conversation_id,
        thread_id=envelope.thread_id,
        workspace_id=envelope.workspace_id,
        bot_id=envelope.bot_id,
        attempt=attempt,
        parent_run_id=parent_run_id,
        snapshot=grant.encode(),
        deadline_at=deadline_at,
        now=now,
        metadata=dumps(_metadata(event, binding)),
        status=status,
        rerun_of=rerun_of,
        created_by=envelope.run_request.plugin_id if envelope.run_request is not None else "",
    )


def _metadata(event: RecordedEvent, binding: Binding) -> dict[str, object]:
    run_request = event.envelope.run_request
    created_by = {"created_by": run_request.plugin_id} if run_request is not None else {}
    return {"route": binding.reason, **created_by}
