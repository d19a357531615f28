"""Starts a run in the same unit that accepts its event if its lane is idle, so that the disk is waited for once.

An obstacle is not a failure: the event is then accepted alone, and everything is decided at its turn.
"""

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from functools import partial

from parlour.core.journal import Receipt, Ref, UnitBuilder, resolve_ref
from parlour.core.model.event import ConversationKey, RecordedEvent
from parlour.core.model.resource_policy import Selection
from parlour.core.platforms.names import NameDirectory
from parlour.core.routing.router import RouteDecision, ToAgent
from parlour.core.runs.runner_registry import RunnerRegistry
from parlour.core.secrets import SecretUnreadable
from parlour_sdk.values import dataclass

from .lanes import LaneReservation, Lanes
from .loop_guard import LoopGuard
from .session import QueuedEvent, RunSessions, StartedRun
from .starter import RunStarter


@dataclass(slots=True)
class PendingStart:
    """A run that is written together with its event; it ends with `confirm` or `rollback`."""

    opened: StartedRun
    reserved: LaneReservation
    sessions: RunSessions
    openings: RunStarter
    cap: LoopGuard
    event_seq: int | Ref = 0
    transcript_seq: int | Ref = 0

    def add_to_unit(self, draft: UnitBuilder, event_seq: Ref) -> None:
        self.event_seq = event_seq
        self.transcript_seq = self.openings.create_in(draft, self.opened.session, self.opened.descriptor, event_seq)
        draft.on_prepared = self._set_numbers

    def confirm(self, receipt: Receipt) -> None:
        self._set_numbers(receipt)
        entry = self.opened.session.entry
        self.cap.record(entry.event)
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
        self,
        registry: RunnerRegistry,
        openings: RunStarter,
        sessions: RunSessions,
        lanes: Lanes,
        cap: LoopGuard,
        names: NameDirectory,
    ) -> None:
        self._registry = registry
        self._names = names
        self._openings = openings
        self._sessions = sessions
        self._lanes = lanes
        self._cap = cap
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
        agent = decision.binding.agent
        if event.is_older_than(agent.stale_after, event.created_at) or self._names.needs_names(event.envelope):
            return None
        descriptor = self._registry.get(agent.runner_id)
        if descriptor is None or descriptor.plugin_id not in Selection.parse(agent.resource_policy.plugins):
            return None
        reserved = self._lanes.try_reserve(event) if not self._cap.exceeded_limit(event) else None
        if reserved is None:
            return None
        try:
            session = await self._openings.new_session(QueuedEvent(event), decision.binding, descriptor)
            opened = StartedRun(session, descriptor)
            reserved.prepare = partial(self._prepare_request, opened)
        except BaseException as error:
            reserved.release()
            if isinstance(error, SecretUnreadable):
                return None  # the problem is reported at its turn
            raise
        self._sessions.register_pending(session)
        return PendingStart(opened, reserved, self._sessions, self._openings, self._cap)

    async def _prepare_request(self, opened: StartedRun) -> None:
        """Prepares the request during the commit. The start is already being written, so a failure is ignored here; the
        step is repeated when the run is executed and its failure is reported then.
        """
        with suppress(Exception):
            await self._openings.prepare(opened)
