"""Creates runs on request: for a plugin with a frozen grant, or as a new run of an event that already had one.

Each is written together with its inbox row and waits for its turn in its conversation's lane like any other.
"""

from collections.abc import Sequence
from dataclasses import replace

from parlour.core.access import grants
from parlour.core.access.grant_intersection import cut
from parlour.core.access.grants import Grant
from parlour.core.config.form_validation import prefilled, problems
from parlour.core.errors import Refused
from parlour.core.journal import Draft, GuardFailed, Journal, Ref, Row, Statement
from parlour.core.model.agent import Binding
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.providers import Providers
from parlour.core.model.resource_policy import Selection
from parlour.core.model.runner import Descriptor
from parlour.core.routing.router import Bound, Router
from parlour.core.runs.runner_registry import Registry, absence
from parlour.core.store import event_log, inbox, ledger, transcript
from parlour.core.store.conversations import Conversations
from parlour.core.store.event_attachments import EventMedia, Taken, taken_elsewhere
from parlour.core.store.event_log import EventLog
from parlour.core.store.ledger import Ledger
from parlour_sdk.values import dataclass

from .caller import Caller
from .queue import Lanes
from .session import Entry
from .starter import new_run


@dataclass(frozen=True, slots=True)
class Asked:
    """A requested run: its event, its conversation, and the event whose sender it acts for."""

    envelope: EventEnvelope
    conversation_id: str
    """Empty for the conversation that the event itself belongs to."""
    authority: EventEnvelope
    """Event of the sender on whose behalf the run acts."""
    parent_run_id: str = ""


class Creating:
    """Creates runs for plugins and retries runs."""

    def __init__(
        self,
        journal: Journal,
        router: Router,
        registry: Registry,
        providers: Providers,
        conversations: Conversations,
        media: EventMedia,
        lanes: Lanes,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._ledger = Ledger(journal)
        self._log = EventLog(journal)
        self._router = router
        self._registry = registry
        self._providers = providers
        self._conversations = conversations
        self._media = media
        self._lanes = lanes
        self._ids = ids
        self._clock = clock

    async def create(self, caller: Caller, asked: Asked) -> Row:
        """Creates a run and returns its ledger row. An event id that the plugin used before returns the run of that
        event.
        """
        binding, descriptor = self._target(asked.envelope)
        taken = await self._media.take(asked.envelope, self._conversations)
        conversation_id = asked.conversation_id or await self._conversations.open(
            asked.envelope.conversation, self._ids, self._clock
        )
        event = RecordedEvent(0, conversation_id, self._clock.now(), taken.event)
        grant = self._granted(caller, asked, event, binding, descriptor)
        try:
            return await self._write_new(asked, event, binding, descriptor, grant, taken)
        except GuardFailed as failure:
            if failure.statement:
                raise taken_elsewhere() from failure
            return await self._known(taken.event)

    async def retry(self, run: Row) -> Row:
        """Creates a new run of the same event with the next attempt number. Its grant is computed again; a run that was
        created by a plugin keeps its grant.
        """
        if run["rerun_of"]:
            raise Refused("invalid_argument", "this run is a rerun, of which there is nothing to retry")
        event = await self._log.by_seq(run["event_seq"])
        latest = await self._ledger.of_event(run["event_seq"])
        if event is None or latest is None:
            raise Refused("not_found", "the event of this run is not kept any more")
        binding, descriptor = self._target(event.envelope)
        if event.envelope.commission is not None:
            grant = grants.restored(run["snapshot"], event, binding, descriptor)
        else:
            grant = grants.compute(event, binding, descriptor, self._providers)
        numbered = await transcript.number_of(self._journal, event)
        entry = Entry(event, latest["attempt"], numbered, run_id=self._ids.new())
        owed = inbox.owe(event.seq, entry.lane, entry.run_id, entry.attempts, entry.transcribed)
        try:
            await self._write(entry, binding, descriptor, grant, run["run_id"], [owed])
        except GuardFailed as failure:
            told = "another run of this event is on its way; wait for its end"
            raise Refused("invalid_argument", told, retryable=True) from failure
        return await self._offered(entry)

    def _target(self, envelope: EventEnvelope) -> tuple[Binding, Descriptor]:
        decision = self._router.decide(envelope)
        if not isinstance(decision, Bound):
            raise Refused("not_found", decision.reason)
        binding = decision.binding
        descriptor = self._registry.get(binding.agent.runner_id)
        if descriptor is None:
            raise Refused("not_found", absence(binding.agent.runner_id))
        if descriptor.plugin_id not in Selection.of(binding.agent.resource_policy.plugins):
            raise Refused("denied", f"plugin {descriptor.plugin_id} is not among the plugins this agent may use")
        commission = envelope.commission
        if commission is not None and commission.config is not None:
            form = descriptor.manifest.config_schema
            for field, sentence in problems(form, prefilled(form, dict(commission.config))):
                raise Refused("invalid_argument", f"config.{field}: {sentence}")
        return binding, descriptor

    def _granted(
        self, caller: Caller, asked: Asked, event: RecordedEvent, binding: Binding, descriptor: Descriptor
    ) -> Grant:
        """Computes the grant. Resources selected by the agent's own configuration count; those in a configuration that
        the creating plugin sends instead grant nothing.
        """
        commission = asked.envelope.commission
        if commission is not None and not commission.runner_id:
            own = self._router.decide(replace(asked.envelope, commission=replace(commission, config=None)))
            binding = own.binding if isinstance(own, Bound) else binding
        whole = grants.compute(event, binding, descriptor, self._providers, asked.authority)
        return cut(whole, caller.grant, within_a_run=caller.session is not None)

    async def _write_new(
        self,
        asked: Asked,
        event: RecordedEvent,
        binding: Binding,
        descriptor: Descriptor,
        grant: Grant,
        taken: Taken,
    ) -> Row:
        entry = Entry(event, run_id=self._ids.new())
        numbered = event_log.append(event.envelope, event.conversation_id, event.created_at)
        owed = inbox.owe(Ref(0, "seq"), entry.lane, entry.run_id)
        files = taken.statements(event.conversation_id)
        statements: list[Statement] = [numbered, owed, *files]
        seq = await self._write(entry, binding, descriptor, grant, asked.parent_run_id, statements)
        return await self._offered(replace(entry, event=replace(event, seq=seq)))

    async def _write(
        self,
        entry: Entry,
        binding: Binding,
        descriptor: Descriptor,
        grant: Grant,
        parent_run_id: str,
        statements: Sequence[Statement],
    ) -> int:
        """Commits one unit and returns the event's number, which comes from the first statement if the event is new."""
        draft = Draft("run.create" if not entry.seq else "run.retry")
        draft.add(*statements)
        row = new_run(
            entry.run_id,
            entry.event,
            binding,
            descriptor,
            grant,
            attempt=entry.attempts + 1,
            parent_run_id=parent_run_id,
            deadline_at=0,
            now=self._clock.now(),
            status="created",
            event_seq=entry.seq or Ref(0, "seq"),
        )
        draft.add(ledger.open_run(row))
        receipt = await self._journal.commit(draft.unit())
        return entry.seq or int(receipt[0][0]["seq"])

    async def _offered(self, entry: Entry) -> Row:
        self._lanes.offer(entry)
        run = await self._ledger.run(entry.run_id)
        assert run is not None
        return run

    async def _known(self, envelope: EventEnvelope) -> Row:
        event = await self._log.same_as(envelope)
        run = await self._ledger.of_event(event.seq) if event is not None else None
        if run is None:
            raise Refused("invalid_argument", "event.event_id: it was used before, and for nothing that had a run")
        return run
