"""A row of the outbox: a message, notice, approval prompt or action for one target."""

from dataclasses import replace
from typing import Any, Literal

from parlour_sdk.values import dataclass

from .ids import BotId, ConversationId, OutboxId, RunId
from .reply_allowance import ReplyUse

OutboxState = Literal["pending", "streaming", "sending", "held", "sent", "failed", "expired"]
OutboxKind = Literal["message", "notice", "approval", "action"]
MESSAGE_KINDS: tuple[OutboxKind, ...] = ("message", "notice")
"""Kinds of rows that show text to the users of a conversation."""


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """One row of the outbox."""

    outbox_id: OutboxId
    surface: str
    target: str
    conversation_id: ConversationId
    bot_id: BotId
    run_id: RunId
    kind: OutboxKind
    state: OutboxState
    message: dict[str, Any]
    address: dict[str, str]
    """Chat and thread on the platform, as the event named them."""
    feed_seq: int
    created_at: int
    expires_at: int
    code: str = ""
    """Error code, for a notice."""
    locale: str = ""
    """Locale of the sender that it answers, if known; the Host's own texts in it use this language."""
    seq: int = 0
    attempts: int = 0
    possibly_repeated: bool = False
    not_before: int = 0
    reason: str = ""
    """Failure reason of a row that failed before it was sent."""
    message_id: str = ""
    """The platform's id of a message that was streamed: it is edited instead of sent."""
    reply: ReplyUse | None = None
    """Its use of the reply allowance of the event that it answers; None if the platform does not limit replies."""

    @property
    def is_edit(self) -> bool:
        """True if it edits an earlier message; if the platform can't edit that one, it is sent as a new message."""
        return bool(self.message_id or self.message.get("edits"))

    def with_state(self, state: OutboxState) -> "OutboxRow":
        return replace(self, state=state)
