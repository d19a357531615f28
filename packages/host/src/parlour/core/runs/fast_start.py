"""Starts a run in the same unit that accepts its event if its lane is idle, so that the disk is waited for once.

An obstacle is not a failure: the event is then accepted alone, and everything is decided at its turn.
"""

from collections import Counter
from dataclasses import replace
from typing import ClassVar, Protocol

from parlour.core.errors import CallRejected
from parlour.core.journal import Receipt, Ref, UnitBuilder, resolve_ref
from parlour.core.message_policy.wake import MESSAGE_TYPE
from parlour.core.model.agent import Binding
from parlour.core.model.event import ConversationKey, RecordedEvent
from parlour.core.model.ids import ConversationId
from parlour.core.platforms.names import NameDirectory
from parlour.core.routing.decisions import RouteDecision, ToAgent
from parlour.core.secrets import SecretUnreadable
from parlour.core.store import inbox
from parlour_sdk.values import dataclass

from .admission import RunAdmission
from .lane import LaneReservation
from .lanes import Lanes
from .run_checks import RunChecks, RunTarget
from .session import QueuedEvent, StartedRun
from .session_registry import RunSessions
from .starter import RunStarter


class PendingStart(Protocol):
    """The start of handling an event, in the unit that records it; it ends with `confirm` or `rollback`."""

    unit_name: ClassVar[str]

    def add_to_unit(self, unit: UnitBuilder, event_seq: Ref) -> None: ...

    def on_prepared(self, receipt: Receipt) -> None:
        """Prepares what follows the commit, before the unit is durable. Not every database calls it."""
        ...

    def confirm(self, receipt: Receipt) -> bool:
        """Continues after the commit. Returns whether a run starts immediately."""
        ...

    def rollback(self) -> None: ...


@dataclass(slots=True)
class QueuedStart:
    """An event that waits for its turn."""

    unit_name: ClassVar[str] = "event.accept"
    event: RecordedEvent
    lanes: Lanes
    event_seq: int | Ref = 0

    def add_to_unit(self, unit: UnitBuilder, event_seq: Ref) -> None:
        self.event_seq = event_seq
        unit.add(inbox.enqueue(event_seq, self.event.conversation_id, self.event.envelope.bot_id))

    def on_prepared(self, receipt: Receipt) -> None:
        """Does nothing: the event is queued when it is durable."""

    def confirm(self, receipt: Receipt) -> bool:
        self.lanes.enqueue(QueuedEvent(replace(self.event, seq=resolve_ref(receipt, self.event_seq))))
        return False

    def rollback(self) -> None:
        pass


@dataclass(slots=True)
class ImmediateStart:
    """An event whose run is written together with it."""

    unit_name: ClassVar[str] = "event.begin"
    started: StartedRun
    reserved: LaneReservation
    sessions: RunSessions
    starter: RunStarter
    checks: RunChecks
    event_seq: int | Ref = 0
    transcript_seq: int | Ref = 0

    def add_to_unit(self, unit: UnitBuilder, event_seq: Ref) -> None:
        self.event_seq = event_seq
        self.transcript_seq = self.starter.create_in(unit, self.started.session, self.started.descriptor, event_seq)

    def confirm(self, receipt: Receipt) -> bool:
        self.on_prepared(receipt)
        entry = self.started.session.entry
        self.checks.count(entry.event)
        self.reserved.start(entry)
        return True

    def on_prepared(self, receipt: Receipt) -> None:
        """Sets the numbers that the rows will have, so that the request can be prepared before the commit is
        durable.
        """
        entry = self.started.session.entry
        entry.event, entry.started_run = replace(entry.event, seq=resolve_ref(receipt, self.event_seq)), self.started
        entry.attempts, entry.transcript_seq = 1, resolve_ref(receipt, self.transcript_seq)

    def rollback(self) -> None:
        self.sessions.unregister(self.started.session)
        self.reserved.release()


class FastStart:
    """Decides whether an event can start its run immediately, and prepares that start."""

    def __init__(
        self,
        checks: RunChecks,
        admission: RunAdmission,
        starter: RunStarter,
        sessions: RunSessions,
        lanes: Lanes,
        names: NameDirectory,
    ) -> None:
        self._admission = admission
        self._checks = checks
        self._starter = starter
        self._sessions = sessions
        self._lanes = lanes
        self._names = names
        self._arrivals_in_progress: Counter[ConversationKey] = Counter()

    def enter(self, key: ConversationKey) -> bool:
        """Registers an arriving event until `leave` is called. Returns whether it is the only one of its
        conversation.
        """
        self._arrivals_in_progress[key] += 1
        return self._arrivals_in_progress[key] == 1

    def leave(self, key: ConversationKey) -> None:
        self._arrivals_in_progress[key] -= 1
        if not self._arrivals_in_progress[key]:
            del self._arrivals_in_progress[key]

    async def prepare(self, event: RecordedEvent, decision: RouteDecision, is_only_arrival: bool) -> PendingStart:
        """Prepares the start of a run if the event is the only one of its conversation and gets a run now. Otherwise
        the event waits for its turn.
        """
        immediate_start = await self._prepare_run(event, decision) if is_only_arrival else None
        return immediate_start or QueuedStart(event, self._lanes)

    async def refresh(self, conversation_id: ConversationId) -> None:
        """Queues the recorded events of a conversation that are missing in its lane."""
        await self._lanes.refresh(conversation_id)

    async def _prepare_run(self, event: RecordedEvent, decision: RouteDecision) -> ImmediateStart | None:
        """Reserves the lane and creates the session. Returns None if the event has to wait for its turn or gets no
        run.
        """
        if not isinstance(decision, ToAgent) or event.envelope.run_request is not None:
            return None
        binding, entry = decision.binding, QueuedEvent(event)
        if binding.agent.on_workers:
            return None
        if self._names.needs_names(event.envelope) or self._admission.must_ask(entry, binding):
            return None
        try:
            descriptor = self._checks.find_runner(binding.agent)
        except CallRejected:
            return None
        if self._checks.find_obstacle(entry, binding.agent, event.created_at) is not None:
            return None
        if binding.agent.message_policy and not await self._is_admitted(entry, binding):
            return None
        reservation = self._lanes.try_reserve(event)
        if reservation is None:
            return None
        try:
            target = RunTarget(self._checks.with_secrets(binding), descriptor)
            session = await self._starter.new_session(entry, target)
            reservation.started_run = started_run = StartedRun(session, descriptor)
        except BaseException as error:
            reservation.release()
            if isinstance(error, SecretUnreadable):
                return None  # the problem is reported at its turn
            raise
        self._sessions.register_pending(session)
        return ImmediateStart(started_run, reservation, self._sessions, self._starter, self._checks)

    async def _is_admitted(self, entry: QueuedEvent, binding: Binding) -> bool:
        """Returns whether the message policy admits the message at once and leaves nothing on its trail."""
        policy = self._admission.policy(binding)
        if policy is None or entry.event.envelope.event_type != MESSAGE_TYPE:
            return True
        if policy.gather.seconds:
            return False
        admission = await self._admission.admit(entry, binding, policy)
        entry.admission = admission.statements
        return admission.obstacle is None and not admission.wait_until and not entry.filter_hits
