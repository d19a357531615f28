"""Determines the target of an answer, and reaches the chat of a row on its platform.

The target is the chat of the event, or the policy's fallback for events without a chat. The runner cannot choose it.
"""

from dataclasses import replace
from functools import cache
from typing import Any, cast

from pydantic import TypeAdapter

from parlour.core.model.delivery_policy import DeliveryPolicy
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import BotId, EventId, OutboxId
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import SendReceipt
from parlour.core.model.reply_allowance import REPLY_ALLOWANCE, STREAMS, ReplyHandle, ReplyUse
from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.connections import PlatformBots
from parlour.core.platforms.port import PlatformOffline
from parlour.core.texts.languages import Languages
from parlour_sdk.protocol.chain import MessageChain
from parlour_sdk.protocol.people import ChatType
from parlour_sdk.values import dataclass

from .rendering.repeat_notes import with_repeat_note

Chain = list[dict[str, Any]]

NO_EVENT = EventId("")
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


def rate_scope(bot_id: BotId, address: dict[str, str]) -> RateScope:
    account = f"{bot_id}/{address.get('account', '')}"
    return RateScope(account, address.get("chat_type", ""), address.get("chat_id", ""))


@dataclass(frozen=True, slots=True)
class ReplyTarget:
    """The surface, bot and address that a row is sent to."""

    surface: str
    bot_id: BotId
    target: str
    """Rows of one target are sent in order."""
    address: dict[str, str]
    reply_event_id: EventId = NO_EVENT
    """The event whose reply allowance counts; empty if the platform does not limit replies to it."""
    can_stream: bool = True
    """False if an answer that is shown while it is written would not be counted as a reply."""

    @property
    def has_no_chat(self) -> bool:
        """True if the surface is a platform, but the event happened in no chat."""
        return self.surface == PLATFORM and not self.address.get("chat_id")


def reply_target(event: RecordedEvent, policy: DeliveryPolicy) -> ReplyTarget:
    """Returns the event's own chat, or the policy's fallback target if the event happened in no chat and the policy
    names one.
    """
    envelope = event.envelope
    address = {"chat": envelope.chat, "thread_id": envelope.thread_id}
    if envelope.surface in ("", PLATFORM):
        address |= {part: str(envelope.data[part]) for part in _PARTS if envelope.data.get(part)}
        has_no_reader = "chat_id" not in address
    else:
        has_no_reader = envelope.surface in SURFACES_WITHOUT_READER
    if not has_no_reader or not policy.fallback_target:
        limits = envelope.metadata.get(REPLY_ALLOWANCE)
        limited_event = NO_EVENT if limits is None else envelope.event_id
        can_stream = limits is None or bool(limits.get(STREAMS))
        return ReplyTarget(envelope.surface, envelope.bot_id, event.conversation_id, address, limited_event, can_stream)
    fallback = dict(policy.fallback_target)
    bot_id = BotId(fallback.pop("bot_id", "")) or envelope.bot_id
    return explicit_target(bot_id, {"thread_id": "", **fallback})


def explicit_target(bot_id: BotId, address: dict[str, str]) -> ReplyTarget:
    """Returns the target for a chat that was named explicitly, by configuration or by a permitted action."""
    parts = (bot_id, address.get("account", ""), address["chat_type"], address["chat_id"], address.get("thread_id", ""))
    return ReplyTarget(PLATFORM, bot_id, "/".join(parts), address)


def chat_type(address: dict[str, str]) -> ChatType:
    return cast(ChatType, address.get("chat_type", ""))


def quoted_message_id(address: dict[str, str], policy: DeliveryPolicy, first: bool) -> str:
    """Returns the id of the message that an answer quotes: the first message of a run quotes the one it answers."""
    return address.get("message_id", "") if first and policy.reply == "quote" else ""


@cache
def _chains() -> TypeAdapter[MessageChain]:
    return TypeAdapter(MessageChain)


def row_chain(row: OutboxRow) -> Chain:
    """Returns the row's message chain, or its text as one component if it was composed while the platform was
    unknown.
    """
    chain: Chain | None = row.message.get("chain")
    return chain if chain is not None else [{"type": "Plain", "text": str(row.message["content"])}]


def parse_chain(chain: Chain) -> MessageChain:
    """Validates a chain of plain dicts into components."""
    return _chains().validate_python(chain)


class ChatTarget:
    """The address of one outbox row on its platform."""

    def __init__(self, row: OutboxRow) -> None:
        address = row.address
        self.type = chat_type(address)
        self.id = address.get("chat_id", "")
        self.thread_id = address.get("thread_id", "")
        self.target = row.target
        self.account = address.get("account", "")
        self.rate_scope = rate_scope(row.bot_id, address)
        self._row = row

    @property
    def name(self) -> str:
        """The unique name of this chat and thread."""
        return f"{self.rate_scope.name}/{self.thread_id}"

    def api(self, bots: PlatformBots) -> PlatformApi:
        """Returns the API of the row's bot and account. Raises PlatformOffline if the bot is deleted or not running."""
        adapter = bots.adapter(self._row.bot_id)
        if adapter is None and bots.manifest(self._row.bot_id) is None:
            raise PlatformOffline("the bot was deleted", permanent=True)
        if adapter is None:
            raise PlatformOffline(f"bot '{self._row.bot_id}' is not running")
        return adapter.api(self.account)

    def continuation_row(self, outbox_id: OutboxId, now: int) -> OutboxRow:
        """Returns a new row for the part of a streamed message that exceeds the first row's message."""
        expiry_period = self._row.expires_at - self._row.created_at
        return replace(self._row, outbox_id=outbox_id, feed_seq=0, created_at=now, expires_at=now + expiry_period)

    async def send(self, api: PlatformApi, chain: Chain, key: str, reply: ReplyUse | None = None) -> SendReceipt:
        """Sends a chain, as a counted reply if `reply` has a number."""
        parsed = parse_chain(chain)
        if reply is not None and reply.number:
            handle = ReplyHandle(reply.handle, reply.number, reply.event_id)
            result = await api.send_reply(handle, self.type, self.id, parsed, key, self.thread_id)
        else:
            result = await api.send_message(self.type, self.id, parsed, key, self.thread_id)
        return SendReceipt(result.message_id or "")

    async def send_row(
        self, api: PlatformApi, row: OutboxRow, languages: Languages, use_new_key: bool = False
    ) -> SendReceipt:
        """Sends the row's message. `use_new_key` sets another idempotency key, because something else was sent under
        the row's own.
        """
        chain = row_chain(row)
        if row.possibly_repeated:
            chain = with_repeat_note(chain, languages.for_locale(row.locale))
        return await self.send(api, chain, f"{row.outbox_id}:final" if use_new_key else row.outbox_id, row.reply)
