"""A plugin's reply to an event, sent to the chat of that event. The plugin names no target."""

from collections.abc import Iterator
from typing import Any

from parlour.core.journal import Journal, Select, where
from parlour.core.model.event import RecordedEvent
from parlour.core.model.providers import ProviderFailed
from parlour.core.store import event_log
from parlour.core.store.tables import EVENTS
from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class PluginReply:
    account: str
    arguments: dict[str, Any]
    """The arguments of `send_message`."""
    thread_id: str


class PluginReplies:
    """Prepares the replies of plugins to events."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def prepare(self, bot_id: str, event_id: str, chain: list[Any], quote: bool, key: str | None) -> PluginReply:
        """Prepares a reply. Raises ProviderFailed if the bot has no such event, or the event happened in no chat."""
        event = await self._event(bot_id, event_id)
        data = event.envelope.data if event is not None else {}
        if event is None or not data.get("chat_id"):
            raise ProviderFailed("not_found", f"bot '{bot_id}' has no event '{event_id[:64]}' that can be replied to")
        quoted = [{"type": "Quote", "id": data["message_id"]}] if quote and data.get("message_id") else []
        arguments = {
            "target_type": data["chat_type"],
            "target_id": data["chat_id"],
            "chain": [*quoted, *chain],
            "idempotency_key": key,
        }
        return PluginReply(str(data.get("account", "")), arguments, event.envelope.thread_id)

    async def _event(self, bot_id: str, event_id: str) -> RecordedEvent | None:
        """Returns the event. Events injected by an API key are excluded, as they came from no chat of the platform."""
        conditions = where(bot_id=bot_id, event_id=event_id, principal="")
        rows = await self._journal.read(Select(EVENTS, conditions, limit=1))
        return event_log.from_row(rows[0]) if rows else None


def refuse_artifacts(chain: list[Any]) -> None:
    """Refuses chains with artifacts. They belong to conversations and runs; a call outside a run has none."""
    if any("artifact_id" in component and component["artifact_id"] for component in _components(chain)):
        sentence = "chain: artifact_id names a run's file, and this call is outside a run; send a url or base64"
        raise ProviderFailed("invalid_argument", sentence)


def _components(chain: list[Any]) -> Iterator[dict[str, Any]]:
    for component in chain:
        yield component
        yield from _components(component.get("origin") or [])
        for node in component.get("nodes") or []:
            yield from _components(node.get("chain") or [])
