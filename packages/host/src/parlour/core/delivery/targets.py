"""Determines the target of an answer: the chat of its event, or the policy's fallback for events without a chat.

The runner cannot choose it.
"""

from typing import cast

from parlour.core.model.delivery_policy import DeliveryPolicy
from parlour.core.model.event import RecordedEvent
from parlour_sdk.protocol.people import ChatType
from parlour_sdk.values import dataclass

PLATFORM = "platform"
SURFACES_WITHOUT_READER = ("schedule", "webhook")
"""Surfaces without a reader: events from there happened in no chat, so their answers need a fallback target."""
_PARTS = ("chat_type", "chat_id", "account", "message_id")
ADDRESS_FIELDS = frozenset((*_PARTS, "group", "request_id"))
"""Fields of an event's data that say where it happened. Actions on behalf of the event take them from it."""


@dataclass(frozen=True, slots=True)
class RateScope:
    """A chat as rate limits count it: all its threads together."""

    account: str
    """The bot and which of its accounts."""
    type: str
    id: str

    @property
    def name(self) -> str:
        return f"{self.account}/{self.type}/{self.id}"


def rate_scope(bot_id: str, address: dict[str, str]) -> RateScope:
    account = f"{bot_id}/{address.get('account', '')}"
    return RateScope(account, address.get("chat_type", ""), address.get("chat_id", ""))


@dataclass(frozen=True, slots=True)
class ReplyTarget:
    """The surface, bot and address that a row is sent to."""

    surface: str
    bot_id: str
    target: str
    """Rows of one target are sent in order."""
    address: dict[str, str]

    @property
    def has_no_chat(self) -> bool:
        """True if the surface is a platform, but the event happened in no chat."""
        return self.surface == PLATFORM and not self.address.get("chat_id")


def reply_target(event: RecordedEvent, policy: DeliveryPolicy) -> ReplyTarget:
    """Returns the target for answers to an event."""
    envelope = event.envelope
    address = {"chat": envelope.chat, "thread_id": envelope.thread_id}
    if envelope.surface in ("", PLATFORM):
        address |= {part: str(envelope.data[part]) for part in _PARTS if envelope.data.get(part)}
        unread = "chat_id" not in address
    else:
        unread = envelope.surface in SURFACES_WITHOUT_READER
    if not unread or not policy.fallback_target:
        return ReplyTarget(envelope.surface, envelope.bot_id, event.conversation_id, address)
    fallback = dict(policy.fallback_target)
    bot_id = fallback.pop("bot_id", "") or envelope.bot_id
    return explicit_target(bot_id, {"thread_id": "", **fallback})


def explicit_target(bot_id: str, address: dict[str, str]) -> ReplyTarget:
    """Returns the target for a chat that was named explicitly, by configuration or by a permitted action."""
    parts = (bot_id, address.get("account", ""), address["chat_type"], address["chat_id"], address.get("thread_id", ""))
    return ReplyTarget(PLATFORM, bot_id, "/".join(parts), address)


def chat_type(address: dict[str, str]) -> ChatType:
    return cast(ChatType, address.get("chat_type", ""))


def quoted_message_id(address: dict[str, str], policy: DeliveryPolicy, first: bool) -> str:
    """Returns the id of the message that an answer quotes: the first message of a run quotes the one it answers."""
    return address.get("message_id", "") if first and policy.reply == "quote" else ""
