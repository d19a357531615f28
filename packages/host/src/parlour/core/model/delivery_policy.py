"""How an agent's operator wants its messages delivered. The defaults are what most people want."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from parlour_sdk.values import dataclass

Reply = Literal["message", "quote"]
LEAST_MESSAGE_SIZE = 100
"""Below it an answer is a flood of scraps; a fence of code and the words under a repetition need some room too."""


@dataclass(frozen=True, slots=True)
class DeliveryPolicy:
    streaming: bool = True
    """Whether a message is shown while it grows, where the platform can do that."""
    reply: Reply = "message"
    """Whether the first message of an answer quotes what it answers."""
    max_message_size: int = 0
    """Lower than the platform's own limit, in its unit, and at least the least; 0 leaves it at that."""
    thinking: Literal["hidden", "shown"] = "hidden"
    mention_everyone: bool = False
    """Whether the agent may call everybody of a chat."""
    fallback_target: Mapping[str, str] = field(default_factory=dict)
    """Where answers go to events that have no chat: bot_id, chat_type, chat_id and perhaps account and thread_id."""

    @classmethod
    def decode(cls, values: Mapping[str, Any]) -> "DeliveryPolicy":
        return cls(**bounded(values)) if values else DEFAULT


DEFAULT = DeliveryPolicy()


def bounded(values: Mapping[str, Any]) -> dict[str, Any]:
    """As it is kept, with a size that can be kept to: smaller ones were saved before there was a least."""
    size = values.get("max_message_size")
    return {**values, "max_message_size": max(size, LEAST_MESSAGE_SIZE)} if size else dict(values)
