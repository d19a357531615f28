"""The delivery policy of an agent: how its messages are shown. The defaults suit most operators."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from parlour_sdk.values import dataclass

Reply = Literal["message", "quote"]
MIN_MESSAGE_SIZE = 100
"""Smallest accepted `max_message_size`, in the platform's unit.

Smaller messages would split an answer into fragments; a code fence and the note on a repeated message need room too.
"""


@dataclass(frozen=True, slots=True)
class DeliveryPolicy:
    """Options for the delivery of an agent's messages."""

    streaming: bool = True
    """True if a message is shown while it is being written, on platforms that support it."""
    reply: Reply = "message"
    """`quote` makes the first message of an answer quote the message that it answers."""
    max_message_size: int = 0
    """Limit below the platform's own, in the platform's unit, at least `MIN_MESSAGE_SIZE`; 0 means the platform's."""
    thinking: Literal["hidden", "shown"] = "hidden"
    mention_everyone: bool = False
    """True if the agent may mention all members of a chat."""
    fallback_target: Mapping[str, str] = field(default_factory=dict)
    """Target of answers to events without a chat: bot_id, chat_type, chat_id, and optionally account and thread_id."""

    mention_sender: bool = False
    """True if the first message of an answer in a group mentions the sender; a message policy decides it."""
    delay_ms: int = 0
    """Milliseconds by which an answer is delayed; a message policy decides it."""
    forward_over: int = 0
    """Characters above which a message is sent as a merged forward; a message policy decides it, and 0 means never."""

    @classmethod
    def decode(cls, values: Mapping[str, Any]) -> "DeliveryPolicy":
        return cls(**with_min_message_size(values)) if values else DEFAULT_DELIVERY_POLICY


DEFAULT_DELIVERY_POLICY = DeliveryPolicy()


def with_min_message_size(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the stored policy with its message size raised to the minimum.

    Smaller sizes were saved before the minimum was introduced.
    """
    size = values.get("max_message_size")
    return {**values, "max_message_size": max(size, MIN_MESSAGE_SIZE)} if size else dict(values)
