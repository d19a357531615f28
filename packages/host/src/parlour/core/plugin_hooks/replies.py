"""A plugin's reply to an event, sent to the chat of that event. The plugin names no target."""

from collections.abc import Iterator
from typing import Any

from parlour.core.delivery.reply_policy import ReplyPolicy
from parlour.core.journal import Journal, Select, where
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ids import BotId, EventId
from parlour.core.model.providers import ProviderFailed
from parlour.core.model.reply_allowance import REPLY_ALLOWANCE, ReplyHandle, ReplyUse
from parlour.core.store import event_log
from parlour.core.store.tables import EVENTS
from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class PluginReply:
    account: str
    arguments: dict[str, Any]
    """The arguments of `send_message`."""
    thread_id: str
    handle: ReplyHandle | None = None
    """The counted reply that it uses, if its platform limits replies to the event."""


class PluginReplies:
    """Prepares the replies of plugins to events."""

    def __init__(self, journal: Journal, reply_policy: ReplyPolicy) -> None:
        self._journal = journal
        self._reply_policy = reply_policy

    async def prepare(
        self, bot_id: BotId, event_id: EventId, chain: list[Any], quote: bool, key: str | None
    ) -> PluginReply:
        """Prepares a reply, and counts it if the platform limits replies to the event. Raises ProviderFailed if the bot
        has no such event, the event happened in no chat, or no further reply is allowed.
        """
        event = await self._event(bot_id, event_id)
        data = event.envelope.data if event is not None else {}
        if event is None or not data.get("chat_id"):
            raise ProviderFailed("not_found", f"bot '{bot_id}' has no event '{event_id[:64]}' that can be replied to")
        quote_components = [{"type": "Quote", "id": data["message_id"]}] if quote and data.get("message_id") else []
        arguments = {
            "target_type": data["chat_type"],
            "target_id": data["chat_id"],
            "chain": [*quote_components, *chain],
            "idempotency_key": key,
        }
        handle = await self._count(bot_id, event.envelope) if REPLY_ALLOWANCE in event.envelope.metadata else None
        return PluginReply(str(data.get("account", "")), arguments, event.envelope.thread_id, handle)

    async def _count(self, bot_id: BotId, event: EventEnvelope) -> ReplyHandle | None:
        """Counts the reply. Returns None if it is sent as a message of the bot's own."""
        decision = await self._reply_policy.use_now(bot_id, event.chat, ReplyUse(event.event_id))
        if decision.kind in ("hold", "refuse"):
            raise ProviderFailed("rate_limited", decision.reason)
        use = decision.use
        return ReplyHandle(use.handle, use.number, use.event_id) if use.number else None

    async def _event(self, bot_id: BotId, event_id: EventId) -> RecordedEvent | None:
        """Returns the event. Events injected by an API key are excluded, as they came from no chat of the platform."""
        conditions = where(bot_id=bot_id, event_id=event_id, principal="")
        rows = await self._journal.read(Select(EVENTS, conditions, limit=1))
        return event_log.from_row(rows[0]) if rows else None


def refuse_artifacts(chain: list[Any]) -> None:
    """Refuses chains with artifacts. They belong to conversations and runs; a call outside a run has none."""
    if any("artifact_id" in component and component["artifact_id"] for component in _components(chain)):
        message = "chain: artifact_id names a run's file, and this call is outside a run; send a url or base64"
        raise ProviderFailed("invalid_argument", message)


def _components(chain: list[Any]) -> Iterator[dict[str, Any]]:
    for component in chain:
        yield component
        yield from _components(component.get("origin") or [])
        for node in component.get("nodes") or []:
            yield from _components(node.get("chain") or [])
