"""Starts runs: the session with its frozen grant, the first unit, and the request for the runner."""

from dataclasses import replace
from typing import Protocol

from parlour.core.access import grants
from parlour.core.access.grants import Grant
from parlour.core.config import secret_fields
from parlour.core.delivery.service import DeliveryService
from parlour.core.encoding import dumps
from parlour.core.journal import Journal, Ref, Statement, UnitBuilder, resolve_ref
from parlour.core.model.agent import Binding
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.providers import Providers
from parlour.core.model.runner import RunnerDescriptor
from parlour.core.models.days import Days
from parlour.core.secrets import SecretBox
from parlour.core.store import inbox, ledger, transcript
from parlour.core.store.history import HistoryReader
from parlour.core.store.ledger import Ledger, NewRun, RunStatus
from parlour.core.store.state import StateStore

from . import bootstrap, context
from .session import QueuedEvent, RunSession, StartedRun, StateSnapshot


class PromptHooks(Protocol):
    """Lets plugins add to the prompt of a run before it starts."""

    def has_hooks(self, session: RunSession, descriptor: RunnerDescriptor) -> bool:
        """Returns whether a plugin is asked for additions to the prompt of this run."""
        ...

    async def apply(self, session: RunSession, descriptor: RunnerDescriptor) -> Binding:
        """Returns the run's binding with the additions."""
        ...


class RunStarter:
    """Creates sessions, writes the start of runs, and builds their requests."""

    def __init__(
        self,
        journal: Journal,
        providers: Providers,
        secrets: SecretBox,
        history: HistoryReader,
        delivery: DeliveryService,
        prompting: PromptHooks,
        ids: Ids,
        clock: Clock,
        days: Days,
        host_version: str,
    ) -> None:
        self._delivery = delivery
        self._prompting = prompting
        self._journal = journal
        self._providers = providers
        self._secrets = secrets
        self._history = history
        self._ledger = Ledger(journal)
        self._state = StateStore(journal)
        self._ids = ids
        self._clock = clock
        self._days = days
        self._host_version = host_version

    def with_secrets(self, binding: Binding) -> Binding:
        """Returns the binding with decrypted secrets, for its runner. Raises SecretUnreadable."""
        config = secret_fields.open_secrets(binding.agent.runner_config, self._secrets)
        if config is binding.agent.runner_config:
            return binding
        return replace(binding, agent=replace(binding.agent, runner_config=config))

    async def new_session(self, entry: QueuedEvent, binding: Binding, descriptor: RunnerDescriptor) -> RunSession:
        """Creates the session of a run with its grant. Raises SecretUnreadable."""
        binding = self.with_secrets(binding)
        grant = await self._grant(entry, binding, descriptor)
        steerable = "steering_pull" in grant.apis
        session = RunSession(entry.run_id or self._ids.new(), entry, binding, grant, steerable)
        session.multimodal = descriptor.manifest.capabilities.multimodal_input
        return session

    async def start(self, session: RunSession, descriptor: RunnerDescriptor) -> dict[str, object]:
        """Commits the start of the run and returns the request for its runner."""
        state = await self.state_snapshot(session)
        await self.create(session, descriptor, "running")
        return await self.build_request(session, descriptor, state)

    async def prepare(self, opened: StartedRun) -> None:
        """Prepares the request as far as possible during the commit, while nothing may leave the Host."""
        session, descriptor = opened.session, opened.descriptor
        opened.state = await self.state_snapshot(session)
        if session.entry.transcript_seq and not self._prompting.has_hooks(session, descriptor):
            opened.request = await self.build_request(session, descriptor, opened.state)

    async def prepared_request(self, opened: StartedRun) -> dict[str, object]:
        """Returns the request for the runner of a run that was started with its event."""
        if opened.request is not None:
            return opened.request
        return await self.build_request(opened.session, opened.descriptor, opened.state)

    async def state_snapshot(self, session: RunSession) -> StateSnapshot:
        return await self._state.snapshot(session.grant.scopes)

    async def create(
        self, session: RunSession, descriptor: RunnerDescriptor, status: RunStatus, *beside: Statement
    ) -> None:
        """Commits the start of a run as one unit: the attempt, the ledger row and the user's transcript item."""
        entry, now = session.entry, self._start_deadline(session)
        draft = UnitBuilder("run.open" if status == "running" else "run.queue")
        numbered: int | Ref = entry.transcript_seq or transcript.add_user_item(draft, self._ids.new(), entry.event, now)
        draft.add(inbox.mark_running(entry.seq, session.run_id, numbered, in_flight=status == "running"))
        if entry.run_id:
            draft.add(ledger.transition(entry.run_id, "created", status, now, deadline_at=session.deadline_at))
        else:
            draft.add(ledger.insert_run(self._row(session, descriptor, status, now)))
        draft.add(*beside)
        receipt = await self._journal.commit(draft.build())
        entry.attempts += 1
        entry.transcript_seq = resolve_ref(receipt, numbered)

    def create_in(self, draft: UnitBuilder, session: RunSession, descriptor: RunnerDescriptor, event_seq: Ref) -> Ref:
        """Adds the start of a run to the unit that records its event. Returns a reference to the number of the
        transcript item.
        """
        event, now = session.event, self._start_deadline(session)
        numbered = transcript.add_user_item(draft, self._ids.new(), event, now, event_seq)
        draft.add(inbox.insert_running(event_seq, event.conversation_id, session.run_id, numbered))
        draft.add(ledger.insert_run(self._row(session, descriptor, "running", now, event_seq)))
        return numbered

    def _start_deadline(self, session: RunSession) -> int:
        """Sets the deadline, counted from now, and returns the current time."""
        now, seconds = self._clock.now(), session.binding.agent.timeout_seconds
        session.deadline_at = now + int(seconds * 1000) if seconds else 0
        return now

    async def build_request(
        self, session: RunSession, descriptor: RunnerDescriptor, state: StateSnapshot | None = None
    ) -> dict[str, object]:
        """Builds the request for the runner from the session and the stored state."""
        entry, event = session.entry, session.event
        opening = context.ContextInputs(
            run_id=session.run_id,
            attempt=entry.attempts,
            transcript_seq=entry.transcript_seq,
            deadline_at=session.deadline_at,
            state=await self.state_snapshot(session) if state is None else state,
            latest_cursor=self._history.cursor(event.conversation_id, entry.transcript_seq),
            delivery=self._delivery.composer.capabilities_for_runner(event, session.binding.agent.delivery_policy),
            inline_history=await bootstrap.select_inline_history(
                self._journal, descriptor.manifest.context, event, entry.transcript_seq
            ),
        )
        return context.build_request(
            event,
            await self._prompting.apply(session, descriptor),
            descriptor,
            session.grant,
            self._providers,
            opening,
            self._host_version,
            self._days.time_zone,
        )

    async def _grant(self, entry: QueuedEvent, binding: Binding, descriptor: RunnerDescriptor) -> Grant:
        """Returns the grant. A grant that was frozen when the run was created applies to all its attempts."""
        commissioned = entry.event.envelope.run_request is not None
        frozen_with = entry.run_id or (entry.parent_run_id if commissioned else "")
        frozen = await self._ledger.get_run(frozen_with) if frozen_with else None
        if frozen is not None:
            return grants.from_snapshot(frozen["snapshot"], entry.event, binding, descriptor)
        return grants.compute(entry.event, binding, descriptor, self._providers)

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
            session.binding,
            descriptor,
            session.grant,
            attempt=session.entry.attempts + 1,
            parent_run_id=session.entry.parent_run_id,
            deadline_at=session.deadline_at,
            now=now,
            status=status,
            event_seq=event_seq,
        )


def run_row(
    run_id: str,
    event: RecordedEvent,
    binding: Binding,
    descriptor: RunnerDescriptor,
    grant: Grant,
    *,
    attempt: int,
    parent_run_id: str,
    deadline_at: int,
    now: int,
    status: RunStatus,
    event_seq: int | Ref | None = None,
    rerun_of: str = "",
) -> NewRun:
    """Builds the ledger row of a run. `event_seq` is given if the event's number is not known yet."""
    envelope = event.envelope
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
    commission = event.envelope.run_request
    created_by = {"created_by": commission.plugin_id} if commission is not None else {}
    return {"route": binding.reason, **created_by}
