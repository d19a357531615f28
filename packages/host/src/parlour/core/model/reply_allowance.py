"""Reply allowances: how often, until when and how a platform lets a bot reply to an event.

An adapter attaches a `ReplyAllowance` to an incoming event. Delivery counts the replies and decides what happens to
those that exceed it.
"""

from dataclasses import field
from typing import Any, Literal

from parlour_sdk.values import dataclass

from .ids import EventId

AllowanceFallback = Literal["push", "refuse", "hold"]
"""Treatment of a reply that exceeds its allowance.

`push`: it is sent as a message of the bot's own. `refuse`: it fails visibly. `hold`: it waits for the next message of
the chat and is sent as a reply to that one.
"""
AllowanceScope = Literal["event", "chat"]
"""`event`: each event has an allowance of its own. `chat`: that of a chat's newest event replaces the earlier ones."""
REPLY_ALLOWANCE = "reply_allowance"
"""Key in an event's metadata: the event has a reply allowance. The value has its count and time, without the handle."""
STREAMS = "streams"
"""Key in that value: the answer may be shown while it is written."""


@dataclass(frozen=True, slots=True)
class ReplyAllowance:
    """The replies that a platform allows to one event."""

    handle: str = field(default="", repr=False)
    """The platform's token or message id that a reply must name; empty if it needs none."""
    count: int = 0
    """Number of replies; 0 if only the time is limited."""
    until: int = 0
    """Milliseconds of the Host's clock after which no reply is accepted; 0 if only the number is limited."""
    then: AllowanceFallback = "push"
    scope: AllowanceScope = "event"
    repeatable: bool = False
    """True if a reply that is sent again with the same handle and number is shown once."""
    reason: str = ""
    """The platform's rule in plain words, such as "LINE accepts one reply within a minute"."""
    streams: bool = False
    """True if an answer that is shown while it is written is one of the replies; it is counted when it is complete."""

    def __post_init__(self) -> None:
        if self.count < 0 or self.until < 0:
            raise ValueError(f"count and until of a reply allowance must be 0 or more, not {self.count}, {self.until}")
        if not self.count and not self.until:
            raise ValueError("a reply allowance must limit the count, the time or both")

    @property
    def summary(self) -> dict[str, int]:
        """The limits as they are stored in the event's metadata."""
        limits = {"count": self.count, "until": self.until}
        return {**limits, STREAMS: 1} if self.streams else limits


@dataclass(frozen=True, slots=True)
class ReplyUse:
    """The use of an event's allowance by one outbox row."""

    event_id: EventId
    number: int = 0
    """Number of this reply among those to the event, from 1; 0 until it is sent as a reply."""
    handle: str = field(default="", repr=False)
    repeatable: bool = False
    until: int = 0
    pushed: bool = False
    """True if it is sent as a message of the bot's own, because the allowance was exceeded."""
    uncertain: bool = False
    """True if an earlier try may have been shown; then it is sent under the same number or not at all."""

    def without_number(self) -> "ReplyUse":
        """Returns the use without its number, so that another one has to be counted."""
        return ReplyUse(self.event_id, uncertain=self.uncertain)

    def is_late(self, now: int) -> bool:
        return 0 < self.until <= now

    def encode(self) -> dict[str, Any]:
        """Returns the fields that differ from their defaults, for storage."""
        optional: dict[str, Any] = {
            "number": self.number,
            "handle": self.handle,
            "repeatable": self.repeatable,
            "until": self.until,
            "pushed": self.pushed,
            "uncertain": self.uncertain,
        }
        return {"event_id": self.event_id, **{name: value for name, value in optional.items() if value}}


@dataclass(frozen=True, slots=True)
class ReplyHandle:
    """Identifies one reply to the platform: the event's handle, and the number of the reply."""

    handle: str = field(repr=False)
    number: int
    event_id: EventId
