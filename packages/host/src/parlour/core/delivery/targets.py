"""Where an answer goes: the chat that its event came from, or what the agent's policy names for events without one.

The runner has no say in it.
"""

from typing import cast

from parlour.core.model.delivery_policy import DeliveryPolicy
from parlour.core.model.event import RecordedEvent
from parlour_sdk.protocol.people import ChatType
from parlour_sdk.values import dataclass

PLATFORM = "platform"
UNREAD = ("schedule", "webhook")
"""Surfaces at which nobody waits for an answer: what comes there happened in no chat."""
_PARTS = ("chat_type", "chat_id", "account", "message_id")
OWN = frozenset((*_PARTS, "group", "request_id"))
"""What an event's data say of where it happened. Whoever acts on behalf of an event has these from it."""


@dataclass(frozen=True, slots=True)
class Room:
    """A chat as those see it who count messages: all its threads are one."""

    account: str
    """The bot, and which of its accounts."""
    type: str
    id: str

    @property
    def name(self) -> str:
        return f"{self.account}/{self.type}/{self.id}"


def room(bot_id: str, address: dict[str, str]) -> Room:
    account = f"{bot_id}/{address.get('account', '')}"
    return Room(account, address.get("chat_type", ""), address.get("chat_id", ""))


@dataclass(frozen=True, slots=True)
class Place:
    surface: str
    bot_id: str
    target: str
    """Rows of one target are sent in order."""
    address: dict[str, str]

    @property
    def nowhere(self) -> bool:
        """An event of a platform that happened in no chat."""
        return self.surface == PLATFORM and not self.address.get("chat_id")


def of(event: RecordedEvent, policy: DeliveryPolicy) -> Place:
    envelope = event.envelope
    address = {"chat": envelope.chat, "thread_id": envelope.thread_id}
    if envelope.surface in ("", PLATFORM):
        address |= {part: str(envelope.data[part]) for part in _PARTS if envelope.data.get(part)}
        unread = "chat_id" not in address
    else:
        unread = envelope.surface in UNREAD
    if not unread or not policy.fallback_target:
        return Place(envelope.surface, envelope.bot_id, event.conversation_id, address)
    fallback = dict(policy.fallback_target)
    bot_id = fallback.pop("bot_id", "") or envelope.bot_id
    return named(bot_id, {"thread_id": "", **fallback})


def named(bot_id: str, address: dict[str, str]) -> Place:
    """A chat that somebody named who may."""
    parts = (bot_id, address.get("account", ""), address["chat_type"], address["chat_id"], address.get("thread_id", ""))
    return Place(PLATFORM, bot_id, "/".join(parts), address)


def chat_type(address: dict[str, str]) -> ChatType:
    return cast(ChatType, address.get("chat_type", ""))
