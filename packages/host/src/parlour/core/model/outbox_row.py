"""A row of the outbox: a message, notice, approval prompt or action for one target."""

from dataclasses import replace
from typing import Any, Literal

from parlour_sdk.values import dataclass

State = Literal["pending", "streaming", "sending", "sent", "failed", "expired"]
Kind = Literal["message", "notice", "approval", "action"]
SAID: tuple[Kind, ...] = ("message", "notice")
"""What the people of a conversation were told by a run."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    outbox_id: str
    surface: str
    target: str
    conversation_id: str
    bot_id: str
    run_id: str
    kind: Kind
    state: State
    message: dict[str, Any]
    address: dict[str, str]
    """Where the platform shows it: chat and thread, as the event named them."""
    feed_seq: int
    created_at: int
    expires_at: int
    code: str = ""
    """Of a notice: what went wrong."""
    locale: str = ""
    """The locale of the sender it answers, if known; the Host's own texts in it use this language."""
    seq: int = 0
    attempts: int = 0
    possibly_repeated: bool = False
    not_before: int = 0
    reason: str = ""
    """Of one that failed before it was tried."""
    message_id: str = ""
    """The platform's own, of a message that was shown as it grew: it is edited, not sent."""

    @property
    def is_edit(self) -> bool:
        """Whether it changes a message that was sent before; where that can't be changed, it is sent as a new one."""
        return bool(self.message_id or self.message.get("edits"))

    def with_state(self, state: State) -> "Outgoing":
        return replace(self, state=state)
