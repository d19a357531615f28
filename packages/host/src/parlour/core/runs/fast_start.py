"""Starts a run in the same unit that accepts its event if its lane is idle, so that the disk is waited for once.

An obstacle is not a failure: the event is then accepted alone, and everything is decided at its turn.
"""

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from functools import partial

from parlour.core.errors import CallRejected
from parlour.core.journal import Receipt, Ref, UnitBuilder, resolve_ref
from parlour.core.model.event import ConversationKey, RecordedEvent
from parlour.core.platforms.names import NameDirectory
from parlour.core.routing.decisions import RouteDecision, ToAgent
from parlour.core.secrets import SecretUnreadable
from parlour_sdk.values import dataclass

from .lanes import LaneReservation, Lanes
from .run_checks import RunChecks, RunTarget
from .session import QueuedEvent, RunSessions, StartedRun
from .starter import RunStarter


@dataclass(slots=True)
class PendingStart:
    """A run that is written together with its event; it ends with `confirm` or `rollback`."""

    opened: StartedRun
    reserved: LaneReservation
    sessions: RunSessions
    starter: RunStarter
    checks: RunChecks
    event_seq: int | Ref = 0
    transcript_seq: int | Ref = 0

    def add_to_unit(self, draft: UnitBuilder, event_seq: Ref) -> None:
        self.event_seq = event_seq
        self.transcript_seq = self.starter.create_in(draft, self.opened.session, self.opened.descriptor, event_seq)
        draft.on_prepared = self._set_numbers

    def confirm(self, receipt: Receipt) -> None:
        self._set_numbers(receipt)
        entry = self.opened.session.entry
        self.checks.count(entry.event)
        self.reserved.start(entry)

    def _set_numbers(self, receipt: Receipt) -> None:
        """Sets the numbers that the rows will have, so that the request can be prepared before the commit is
        durable.
        """
        entry = self.opened.session.entry
        entry.event, entry.started_run = replace(entry.event, seq=resolve_ref(receipt, self.event_seq)), self.opened
        entry.attempts, entry.transcript_seq = 1, resolve_ref(receipt, self.transcript_seq)

    def rollback(self) -> None:
        self.sessions.unregister(self.opened.session)
        self.reserved.release()


class FastStart:
    """Decides whether an event can start its run immediately, and prepares that start."""

    def __init__(
        self, checks: RunChecks, starter: RunStarter, sessions: RunSessions, lanes: Lanes, names: NameDirectory
    ) -> None:
        self._checks = checks
        self._starter = starter
        self._sessions = sessions
        self._lanes = lanes
        self._names = names
        self._arriving: Counter[ConversationKey] = Counter()

    def enter(self, key: ConversationKey) -> bool:
        """Registers an arriving event until `leave` is called. Returns whether it is the only one of its
        conversation.
        """
        self._arriving[key] += 1
        return self._arriving[key] == 1

    def leave(self, key: ConversationKey) -> None:
        self._arriving[key] -= 1
        if not self._arriving[key]:
            del self._arriving[key]

    async def prepare(self, event: RecordedEvent, decision: RouteDecision) -> PendingStart | None:
        """Reserves the lane and creates the session. Returns None if the event has to wait for its turn or gets no
        run.
        """
        if not isinstance(decision, ToAgent) or event.envelope.run_request is not None:
            return None
        binding, entry = decision.binding, QueuedEvent(event)
        if self._names.needs_names(event.envelope):
            return None
        try:
            descriptor = self._checks.find_runner(binding.agent)
        except CallRejected:
            return None
        if self._checks.find_obstacle(entry, binding.agent, event.created_at) is not None:
            return None
        reserved = self._lanes.try_reserve(event)
        if reserved is None:
            return None
        try:
            target = RunTarget(self._checks.with_secrets(binding), descriptor)
            session = await self._starter.new_session(entry, target)
            opened = StartedRun(session, descriptor)
            reserved.prepare = partial(self._prepare_request, opened)
        except BaseException as error:
            reserved.release()
            if isinstance(error, SecretUnreadable):
                return None  # the problem is reported at its turn
            raise
        self._sessions.register_pending(session)
        return PendingStart(opened, reserved, self._sessions, self._starter, self._checks)

    async def _prepare_request(self, opened: StartedRun) -> None:
        """Prepares the request during the commit. The start is already being written, so a failure is ignored here; the
        step is repeated when the run is executed and its failure is reported then.
        """
        with suppress(Exception):
            await self._starter.prepare(opened)
