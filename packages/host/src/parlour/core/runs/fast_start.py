"""Starts a run in the same unit that accepts its event if its lane is idle, so that the disk is waited for once.

An obstacle is not a failure: the event is then accepted alone, and everything is decided at its turn.
"""

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from functools import partial

from parlour.core.journal import Draft, Receipt, Ref, resolved
from parlour.core.model.event import ConversationKey, RecordedEvent
from parlour.core.model.resource_policy import Selection
from parlour.core.platforms.names import NameDirectory
from parlour.core.routing.router import Bound, Decision
from parlour.core.runs.runner_registry import Registry
from parlour.core.secrets import SecretUnreadable
from parlour_sdk.values import dataclass

from .loop_guard import LoopCap
from .queue import Lanes, Reserved
from .session import Entry, Opened, Sessions
from .starter import Openings


@dataclass(slots=True)
class Beginning:
    """A run that is written together with its event; it ends with `confirm` or `rollback`."""

    opened: Opened
    reserved: Reserved
    sessions: Sessions
    openings: Openings
    cap: LoopCap
    numbered: int | Ref = 0
    transcribed: int | Ref = 0

    def write(self, draft: Draft, event_seq: Ref) -> None:
        self.numbered = event_seq
        self.transcribed = self.openings.write(draft, self.opened.session, self.opened.descriptor, event_seq)
        draft.foreseen = self._foresee

    def offer(self, receipt: Receipt) -> None:
        self._foresee(receipt)
        entry = self.opened.session.entry
        self.cap.count(entry.event)
        self.reserved.begin(entry)

    def _foresee(self, receipt: Receipt) -> None:
        """Sets the numbers that the rows will have, so that the request can be prepared before the commit is
        durable.
        """
        entry = self.opened.session.entry
        entry.event, entry.opened = replace(entry.event, seq=resolved(receipt, self.numbered)), self.opened
        entry.attempts, entry.transcribed = 1, resolved(receipt, self.transcribed)

    def give_up(self) -> None:
        self.sessions.unregister(self.opened.session)
        self.reserved.release()


class Beginnings:
    """Decides whether an event can start its run immediately, and prepares that start."""

    def __init__(
        self,
        registry: Registry,
        openings: Openings,
        sessions: Sessions,
        lanes: Lanes,
        cap: LoopCap,
        names: NameDirectory,
    ) -> None:
        self._registry = registry
        self._names = names
        self._openings = openings
        self._sessions = sessions
        self._lanes = lanes
        self._cap = cap
        self._arriving: Counter[ConversationKey] = Counter()

    def arrives(self, key: ConversationKey) -> bool:
        """Registers an arriving event until `leave` is called. Returns whether it is the only one of its
        conversation.
        """
        self._arriving[key] += 1
        return self._arriving[key] == 1

    def arrived(self, key: ConversationKey) -> None:
        self._arriving[key] -= 1
        if not self._arriving[key]:
            del self._arriving[key]

    async def prepare(self, event: RecordedEvent, decision: Decision) -> Beginning | None:
        """Reserves the lane and creates the session. Returns None if the event has to wait for its turn or gets no
        run.
        """
        if not isinstance(decision, Bound) or event.envelope.commission is not None:
            return None
        agent = decision.binding.agent
        if event.stale(agent.stale_after, event.created_at) or self._names.lacks(event.envelope):
            return None
        descriptor = self._registry.get(agent.runner_id)
        if descriptor is None or descriptor.plugin_id not in Selection.of(agent.resource_policy.plugins):
            return None
        reserved = self._lanes.reserve(event) if not self._cap.limited(event) else None
        if reserved is None:
            return None
        try:
            session = await self._openings.session(Entry(event), decision.binding, descriptor)
            opened = Opened(session, descriptor)
            reserved.meanwhile = partial(self._look, opened)
        except BaseException as error:
            reserved.release()
            if isinstance(error, SecretUnreadable):
                return None  # the problem is reported at its turn
            raise
        self._sessions.announce(session)
        return Beginning(opened, reserved, self._sessions, self._openings, self._cap)

    async def _look(self, opened: Opened) -> None:
        """Prepares the request during the commit. The start is already being written, so a failure is ignored here; the
        step is repeated when the run is executed and its failure is reported then.
        """
        with suppress(Exception):
            await self._openings.prepare(opened)
