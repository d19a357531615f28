"""Statements and reads of approvals: the fixed call with its hash, who may decide, and the decision."""

import hashlib
from dataclasses import field
from typing import Any, Literal

from parlour.core.encoding import dumps, loads
from parlour.core.journal import ANY, Insert, Journal, Row, Select, Update, at_least, where
from parlour.core.model.ids import NO_OUTBOX, AgentId, ApprovalId, ConversationId, OutboxId, RunId
from parlour_sdk.protocol.live_permissions import LIVE_PERMISSION
from parlour_sdk.values import dataclass

from .tables import APPROVALS

ApprovalStatus = Literal["pending", "approved", "denied", "expired"]


@dataclass(frozen=True, slots=True)
class Approval:
    """An action that waits, or waited, for the decision of a person."""

    approval_id: ApprovalId
    keyword: str
    """Text by which a user refers to this approval in a chat command."""
    status: ApprovalStatus
    action: str
    call: dict[str, Any]
    """The exact call that is executed after approval."""
    words: str
    agent_id: AgentId
    run_id: RunId
    event_seq: int
    conversation_id: ConversationId
    """Conversation of the run's event."""
    chat: dict[str, Any]
    """Location of the prompt: surface, bot_id, chat and principal, the address if it is not the event's own chat, and
    the outbox row of the prompt.
    """
    requester: str
    who: dict[str, Any]
    created_at: int
    expires_at: int
    decided_at: int = 0
    decided_by: str = ""
    reason: str = ""
    outbox_id: OutboxId = NO_OUTBOX
    """Outbox row that executes the action."""
    outcome: dict[str, Any] = field(default_factory=dict)

    @property
    def prompt_outbox_id(self) -> OutboxId:
        """Outbox id of the prompt."""
        return OutboxId(str(self.chat.get("asked_by", "")))

    @property
    def is_live(self) -> bool:
        """Whether a running agent waits for the answer, and nothing is executed."""
        return self.action == LIVE_PERMISSION

    @property
    def offers_always(self) -> bool:
        """Whether people may allow everything of its kind from now on."""
        return self.is_live and bool(self.call.get("always"))

    @property
    def frame(self) -> dict[str, Any]:
        """The approval as a frame of the web chat."""
        return {
            "approval_id": self.approval_id,
            "keyword": self.keyword,
            "status": self.status,
            "action": self.action,
            "words": self.words,
            "always": self.offers_always,
            "run_id": self.run_id,
            "expires_at": self.expires_at,
            "decided_by": self.decided_by or None,
            "reason": self.reason or None,
        }


def call_hash(call: dict[str, Any]) -> str:
    return hashlib.sha256(dumps(call).encode()).hexdigest()


def insert(approval: Approval) -> Insert:
    """Builds the statement that inserts a pending approval."""
    return Insert(
        APPROVALS,
        {
            "approval_id": approval.approval_id,
            "keyword": approval.keyword,
            "status": approval.status,
            "action": approval.action,
            "call": dumps(approval.call),
            "hash": call_hash(approval.call),
            "words": approval.words,
            "agent_id": approval.agent_id,
            "run_id": approval.run_id,
            "conversation_id": approval.conversation_id,
            "chat": dumps(approval.chat),
            "requester": approval.requester,
            "who": dumps(approval.who),
            "decided_by": "",
            "reason": "",
            "outbox_id": "",
            "outcome": "{}",
            "event_seq": approval.event_seq,
            "created_at": approval.created_at,
            "expires_at": approval.expires_at,
            "decided_at": 0,
        },
    )


def record_decision(approval: Approval) -> Update:
    """Builds the statement that records a decision.

    It fails its guard if it was already decided, or the call is not the one that was requested.
    """
    values: dict[str, str | int] = {
        "status": approval.status,
        "decided_by": approval.decided_by,
        "reason": approval.reason,
        "outbox_id": approval.outbox_id,
        "decided_at": approval.decided_at,
    }
    guard = where(approval_id=approval.approval_id, status="pending", hash=call_hash(approval.call))
    return Update(APPROVALS, values, guard)


def record_outcome(approval_id: ApprovalId, outcome: dict[str, Any]) -> Update:
    """Builds the statement that records the outcome of the executed action."""
    return Update(APPROVALS, {"outcome": dumps(outcome)}, where(approval_id=approval_id), expect=ANY)


def from_row(row: Row) -> Approval:
    decoded = {name: loads(row[name]) for name in ("call", "chat", "who", "outcome")}
    plain = (
        "approval_id keyword status action words agent_id run_id event_seq conversation_id requester created_at "
        "expires_at decided_at decided_by reason outbox_id"
    )
    return Approval(**{name: row[name] for name in plain.split()}, **decoded)


class ApprovalStore:
    """Reads approvals."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def get(self, approval_id: ApprovalId) -> Approval | None:
        rows = await self._journal.read(Select(APPROVALS, where(approval_id=approval_id), limit=1))
        return from_row(rows[0]) if rows else None

    async def pending(self) -> list[Approval]:
        rows = await self._journal.read(Select(APPROVALS, where(status="pending"), order=("approval_id",)))
        return [from_row(row) for row in rows]

    async def created_since(self, created_at: int) -> list[Approval]:
        query = Select(APPROVALS, where(created_at=at_least(created_at)), order=("approval_id",), limit=1000)
        return [from_row(row) for row in await self._journal.read(query)]
