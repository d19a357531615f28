"""Checks who may decide on an approval, and records the decision.

A decision is recorded in the ledger of the run that requested it, and as an event, which is queued for the agent if the
agent handles such events.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from parlour.core.config.agents import AgentRepository
from parlour.core.delivery.action_rows import ActionRowFactory
from parlour.core.errors import CallRejected
from parlour.core.journal import Journal, Receipt, Ref, Statement, UnitBuilder
from parlour.core.model.event import EventContext, EventEnvelope, Participant, RecordedEvent
from parlour.core.model.ids import AgentId, BotId, ConversationId, EventId, PluginId, RunId
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.runs.session import QueuedEvent
from parlour.core.runs.session_registry import RunSessions
from parlour.core.store import event_log, inbox, ledger
from parlour.core.store.approvals import Approval
from parlour.core.store.ledger import Ledger
from parlour.core.texts.catalogue import DEFAULT_LANGUAGE, text
from parlour_sdk.protocol.live_permissions import LIVE_PERMISSION
from parlour_sdk.values import dataclass

from .tool_calls import TOOL_CALL_ACTION, ApprovedToolCalls

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


def identity(participant: Participant) -> str:
    """Returns the participant's type and id as one text."""
    return f"{participant.type}:{participant.id}"


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
        raise CallRejected("denied", text(key, language, keyword=keyword, who=_deciders_text(approval.who, language)))


def _may_decide(approval: Approval, decider: Decider) -> bool:
    deciders = approval.who
    if _is_requester(approval, decider):
        return bool(deciders["requester"])
    return (
        decider.operator
        or decider.participant.id in deciders["users"]
        or decider.participant.data.get("role") in deciders["roles"]
    )


def _is_requester(approval: Approval, decider: Decider) -> bool:
    is_same_principal = bool(decider.principal) and decider.principal == approval.who.get("principal")
    return is_same_principal or decider.name == approval.requester


def _deciders_text(deciders: dict[str, Any], language: str) -> str:
    role_names = text("approval.who.or", language).join(deciders["roles"])
    roles = text("approval.who.roles", language, roles=role_names) if role_names else ""
    users = _user_count_text(len(deciders["users"]), language)
    requester = text("approval.who.requester", language) if deciders["requester"] else ""
    parts = (roles, users, requester, text("approval.who.operator", language))
    return text("approval.who.and", language).join(filter(None, parts))


def _user_count_text(count: int, language: str) -> str:
    return text("approval.who.many" if count > 1 else "approval.who.one", language, count=count) if count else ""


class ListenerEvents(Protocol):
    """Queues events of the Host for the plugins that listen to them."""

    def recipients(self, event_type: str, handled: bool) -> list[PluginId]: ...

    def add_deliveries(
        self, draft: UnitBuilder, position: int, bot_id: BotId, plugins: Sequence[PluginId], observing: bool = False
    ) -> None: ...

    def after_commit(self, event_type: str) -> None: ...


class ConversationQueue(Protocol):
    """Queues events for their conversations."""

    def enqueue(self, entry: QueuedEvent) -> None: ...


@dataclass(frozen=True, slots=True)
class QueuedDecision:
    """An event of a decision that is to be queued after its unit is committed."""

    position: int
    event: EventEnvelope
    conversation_id: ConversationId

    def to_queue_entry(self, receipt: Receipt, now: int) -> QueuedEvent:
        return QueuedEvent(RecordedEvent(receipt[self.position][0]["seq"], self.conversation_id, now, self.event))


class DecisionRecords:
    """Builds the records of a decision for the unit that stores it."""

    def __init__(
        self,
        journal: Journal,
        sessions: RunSessions,
        agents: AgentRepository,
        executor: ActionRowFactory,
        tool_calls: ApprovedToolCalls,
        host_events: ListenerEvents,
        queue: ConversationQueue,
    ) -> None:
        self._ledger = Ledger(journal)
        self._sessions = sessions
        self._agents = agents
        self._executor = executor
        self._tool_calls = tool_calls
        self._host_events = host_events
        self._queue = queue

    def action_rows(self, closed: Approval) -> list[OutboxRow]:
        """Returns the outbox rows that execute an approved action; a tool call is executed by a job instead."""
        if closed.status != "approved" or closed.action in (TOOL_CALL_ACTION, LIVE_PERMISSION):
            return []
        return self._executor.create_rows(closed.call, closed.conversation_id, closed.run_id)

    def job_statements(self, closed: Approval) -> list[Statement]:
        """Returns the statements that store an approved tool call as a job."""
        return self._tool_calls.enqueue(closed)

    def sequence_lock(self, approval: Approval) -> asyncio.Lock:
        """Returns the lock to hold until the ledger statements are written."""
        return self._sessions.sequence_lock(approval.run_id)

    async def ledger_statements(self, approval: Approval, now: int) -> list[Statement]:
        """Returns the statements that record a decision in the ledger of its run.

        There are none if no run requested it, or the run was deleted: a ledger entry without a run would
        never be deleted.
        """
        if not approval.run_id or await self._ledger.get_run(approval.run_id) is None:
            return []
        data = {
            "approval_id": approval.approval_id,
            "action": approval.action,
            "status": approval.status,
            "decided_by": approval.decided_by or None,
            "reason": approval.reason or None,
        }
        number = await self._next_sequence(approval.run_id)
        event = ledger.append_event(approval.run_id, number, EVENT_TYPE, data, now, source="host")
        return [ledger.require_run_exists(approval.run_id), event]

    async def _next_sequence(self, run_id: RunId) -> int:
        """Returns the next number in the ledger. An active run assigns the numbers of its events itself."""
        session = self._sessions.get(run_id)
        return session.next_sequence() if session is not None else await self._ledger.last_sequence(run_id) + 1

    def add_event(
        self, draft: UnitBuilder, request_event: RecordedEvent, approval: Approval, decider: Decider | None, now: int
    ) -> QueuedDecision | None:
        """Adds the event of a decision. Returns it if the agent handles such events, to be queued after the commit."""
        event = _event(request_event.envelope, approval, decider, now)
        position = draft.add(event_log.append(event, request_event.conversation_id, now))
        handled_by_agent = self._is_handled_by_agent(approval.agent_id)
        recipients = self._host_events.recipients(EVENT_TYPE, handled=handled_by_agent)
        self._host_events.add_deliveries(draft, position, event.bot_id, recipients, observing=handled_by_agent)
        if not handled_by_agent:
            return None
        draft.add(inbox.enqueue(Ref(position, "seq"), request_event.conversation_id, event.bot_id))
        return QueuedDecision(position, event, request_event.conversation_id)

    def after_commit(self, closed: Approval, queued: QueuedDecision | None, receipt: Receipt, now: int) -> None:
        """Starts an approved tool call and the deliveries of the committed event, and queues it if the agent handles
        it.
        """
        self._tool_calls.wake(closed)
        self._host_events.after_commit(EVENT_TYPE)
        if queued is not None:
            self._queue.enqueue(queued.to_queue_entry(receipt, now))

    def _is_handled_by_agent(self, agent_id: AgentId) -> bool:
        agent = self._agents.get(agent_id)
        return agent is not None and agent.enabled and agent.accepts(EVENT_TYPE)


def _event(request_event: EventEnvelope, approval: Approval, decider: Decider | None, now: int) -> EventEnvelope:
    """Builds the event in the conversation of the event whose run made the request, so that an answer goes there."""
    event_id = EventId(f"approval:{approval.approval_id}")
    data = {
        "approval_id": approval.approval_id,
        "action": approval.action,
        "decision": _DECISIONS[approval.status],
        "decided_by": approval.decided_by or None,
        "reason": approval.reason or None,
        "run_id": approval.run_id,
        **{name: request_event.data[name] for name in _CHAT if name in request_event.data},
    }
    return replace(
        request_event,
        event_id=event_id,
        event_type=EVENT_TYPE,
        source="system",
        source_event_type="",
        context=EventContext(event_id, request_event.context.id, "host"),
        agent_id=approval.agent_id,
        event_time=now,
        actor=decider.participant if decider is not None else Participant("system", "host"),
        subject=Participant("approval", approval.approval_id, data={"action": approval.action}),
        input={},
        data=data,
        run_request=None,
    )
