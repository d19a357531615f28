"""Records the event that reports a decision, and queues it for the agent if the agent handles such events."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from parlour.core.config.agents import AgentRepository
from parlour.core.journal import Receipt, Ref, UnitBuilder
from parlour.core.model.event import EventContext, EventEnvelope, Participant, RecordedEvent
from parlour.core.runs.session import QueuedEvent
from parlour.core.store import event_log, inbox
from parlour.core.store.approvals import Approval
from parlour_sdk.values import dataclass

from .deciders import Decider

EVENT_TYPE = "approval.decided"
_CHAT = ("chat_type", "chat_id", "account", "group")
_DECISIONS = {"approved": "approve", "denied": "deny", "expired": "expired"}


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


class DecisionEvents:
    """Adds the event of a decision to the unit that stores it."""

    def __init__(self, agents: AgentRepository, host_events: ListenerEvents) -> None:
        self._agents = agents
        self._host_events = host_events

    def add(
        self, draft: UnitBuilder, asked: RecordedEvent, closed: Approval, decider: Decider | None, now: int
    ) -> QueuedDecision | None:
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
    identity = f"approval:{closed.approval_id}"
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
        event_id=identity,
        event_type=EVENT_TYPE,
        source="system",
        source_event_type="",
        context=EventContext(identity, asked.context.id, "host"),
        agent_id=closed.agent_id,
        event_time=now,
        actor=decider.participant if decider is not None else Participant("system", "host"),
        subject=Participant("approval", closed.approval_id, data={"action": closed.action}),
        input={},
        data=data,
        run_request=None,
    )
