"""Checks who may decide on an approval, and records the decision.

A decision is recorded in the ledger of the run that requested it, and as an event, which is queued for the agent if the
agent handles such events.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from parlour.core.config.agents import AgentRepository
from parlour.core.errors import CallRejected
from parlour.core.journal import Journal, Receipt, Ref, Statement, UnitBuilder
from parlour.core.model.event import EventContext, EventEnvelope, Participant, RecordedEvent
from parlour.core.runs.session import QueuedEvent
from parlour.core.runs.session_registry import RunSessions
from parlour.core.store import event_log, inbox, ledger
from parlour.core.store.approvals import Approval
from parlour.core.store.ledger import Ledger
from parlour.core.texts.catalogue import DEFAULT_LANGUAGE, text
from parlour_sdk.values import dataclass

EVENT_TYPE = "approval.decided"
_CHAT = ("chat_type", "chat_id", "account", "group")
_DECISIONS = {"approved": "approve", "denied": "deny", "expired": "expired"}


@dataclass(frozen=True, slots=True)
class Decider:
    """The person who decides."""

    participant: Participant
    operator: bool = False
    """True for an operator of the Host, false for a user of a chat."""
    principal: str = ""
    """The API key or login by which it is decided. The principal that brought the event counts as the requester,
    whichever actor the event names.
    """

    @property
    def name(self) -> str:
        return identity(self.participant)

    @property
    def display_name(self) -> str:
        """The name as users know it."""
        return self.participant.name or self.participant.id


def identity(party: Participant) -> str:
    """Returns the participant's type and id as one text."""
    return f"{party.type}:{party.id}"


def ensure_may_decide(approval: Approval, decider: Decider, now: int, language: str = DEFAULT_LANGUAGE) -> None:
    """Raises CallRejected, with a message for the decider, if this person may not decide or it is too late."""
    keyword = approval.keyword
    if approval.status in ("approved", "denied"):
        values = {"keyword": keyword, "by": approval.decided_by, "status": approval.status}
        raise CallRejected("conflict", text("approval.decided_before", language, **values))
    if approval.status == "expired" or approval.expires_at <= now:
        raise CallRejected("conflict", text("approval.too_late", language, keyword=keyword))
    if not _may_decide(approval, decider):
        key = "approval.not_yours_asked" if _is_requester(approval, decider) else "approval.not_yours"
        raise CallRejected("denied", text(key, language, keyword=keyword, who=_who(approval.who, language)))


def _may_decide(approval: Approval, decider: Decider) -> bool:
    who = approval.who
    if _is_requester(approval, decider):
        return bool(who["requester"])
    return (
        decider.operator
        or decider.participant.id in who["users"]
        or decider.participant.data.get("role") in who["roles"]
    )


def _is_requester(approval: Approval, decider: Decider) -> bool:
    brought = bool(decider.principal) and decider.principal == approval.who.get("principal")
    return brought or decider.name == approval.requester


def _who(who: dict[str, Any], language: str) -> str:
    either = text("approval.who.or", language).join(who["roles"])
    roles = text("approval.who.roles", language, roles=either) if either else ""
    users = _counted(len(who["users"]), language)
    asker = text("approval.who.requester", language) if who["requester"] else ""
    parts = (roles, users, asker, text("approval.who.operator", language))
    return text("approval.who.and", language).join(filter(None, parts))


def _counted(people: int, language: str) -> str:
    return text("approval.who.many" if people > 1 else "approval.who.one", language, count=people) if people else ""


class ListenerEvents(Protocol):
    """Queues events of the Host for the plugins that listen to them."""

    def recipients(self, event_type: str, handled: bool) -> list[str]: ...

    def add_deliveries(
        self, draft: UnitBuilder, position: int, plugins: Sequence[str], now: int, observing: bool = False
    ) -> None: ...

    def after_commit(self, event_type: str) -> None: ...


@dataclass(frozen=True, slots=True)
class QueuedDecision:
    """An event of a decision that is to be queued after its unit is committed."""

    position: int
    event: EventEnvelope
    conversation_id: str

    def to_queue_entry(self, receipt: Receipt, now: int) -> QueuedEvent:
        return QueuedEvent(RecordedEvent(receipt[self.position][0]["seq"], self.conversation_id, now, self.event))


class DecisionRecords:
    """Builds the records of a decision for the unit that stores it."""

    def __init__(
        self, journal: Journal, sessions: RunSessions, agents: AgentRepository, host_events: ListenerEvents
    ) -> None:
        self._ledger = Ledger(journal)
        self._sessions = sessions
        self._agents = agents
        self._host_events = host_events

    def sequence_lock(self, closed: Approval) -> asyncio.Lock:
        """Returns the lock to hold until the ledger statements are written."""
        return self._sessions.sequence_lock(closed.run_id)

    async def ledger_statements(self, closed: Approval, now: int) -> list[Statement]:
        """Returns the statements that record a decision in the ledger of its run.

        There are none if no run requested it, or the run was deleted: a ledger entry without a run would
        never be deleted.
        """
        if not closed.run_id or await self._ledger.get_run(closed.run_id) is None:
            return []
        data = {
            "approval_id": closed.approval_id,
            "action": closed.action,
            "status": closed.status,
            "decided_by": closed.decided_by or None,
            "reason": closed.reason or None,
        }
        number = await self._next_sequence(closed.run_id)
        event = ledger.append_event(closed.run_id, number, EVENT_TYPE, data, now, source="host")
        return [ledger.require_run_exists(closed.run_id), event]

    async def _next_sequence(self, run_id: str) -> int:
        """Returns the next number in the ledger. An active run assigns the numbers of its events itself."""
        session = self._sessions.get(run_id)
        return session.next_sequence() if session is not None else await self._ledger.last_sequence(run_id) + 1

    def add_event(
        self, draft: UnitBuilder, asked: RecordedEvent, closed: Approval, decider: Decider | None, now: int
    ) -> QueuedDecision | None:
        """Adds the event of a decision. Returns it if the agent handles such events, to be queued after the commit."""
        event = _event(asked.envelope, closed, decider, now)
        position = draft.add(event_log.append(event, asked.conversation_id, now))
        taken = self._is_handled_by_agent(closed.agent_id)
        hearers = self._host_events.recipients(EVENT_TYPE, handled=taken)
        self._host_events.add_deliveries(draft, position, hearers, now, observing=taken)
        if not taken:
            return None
        draft.add(inbox.enqueue(Ref(position, "seq"), asked.conversation_id))
        return QueuedDecision(position, event, asked.conversation_id)

    def after_commit(self) -> None:
        self._host_events.after_commit(EVENT_TYPE)

    def _is_handled_by_agent(self, agent_id: str) -> bool:
        agent = self._agents.get(agent_id)
        return agent is not None and agent.enabled and agent.accepts(EVENT_TYPE)


def _event(asked: EventEnvelope, closed: Approval, decider: Decider | None, now: int) -> EventEnvelope:
    """Builds the event in the conversation of the event whose run made the request, so that an answer goes there."""
    event_id = f"approval:{closed.approval_id}"
    data = {
        "approval_id": closed.approval_id,
        "action": closed.action,
        "decision": _DECISIONS[closed.status],
        "decided_by": closed.decided_by or None,
        "reason": closed.reason or None,
        "run_id": closed.run_id,
        **{name: asked.data[name] for name in _CHAT if name in asked.data},
    }
    return replace(
        asked,
        event_id=event_id,
        event_type=EVENT_TYPE,
        source="system",
        source_event_type="",
        context=EventContext(event_id, asked.context.id, "host"),
        agent_id=closed.agent_id,
        event_time=now,
        actor=decider.participant if decider is not None else Participant("system", "host"),
        subject=Participant("approval", closed.approval_id, data={"action": closed.action}),
        input={},
        data=data,
        run_request=None,
    )
