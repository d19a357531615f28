"""Pending deliveries of events to webhooks: one row per delivery, deleted when it is done."""

from dataclasses import replace
from typing import Any

from parlour.core.encoding import dumps, loads
from parlour.core.journal import Delete, Insert, Journal, Row, Select, Update, where
from parlour_sdk.values import dataclass

from .tables import WEBHOOK_CALLS


@dataclass(frozen=True, slots=True)
class WebhookDelivery:
    """A pending delivery of one event to the webhook of a route."""

    call_id: str
    event_seq: int
    bot: dict[str, str]
    """Id, name and adapter of the bot at the time of the event."""
    config: dict[str, Any]
    """Configuration of the route at the time of the event; secrets are sealed."""
    created_at: int
    attempts: int = 0
    not_before: int = 0

    def with_attempt(self) -> "WebhookDelivery":
        return replace(self, attempts=self.attempts + 1)


def insert(call: WebhookDelivery) -> Insert:
    values: dict[str, str | int] = {
        "call_id": call.call_id,
        "bot_id": call.bot["id"],
        "request": dumps({"bot": call.bot, "config": call.config}),
        "event_seq": call.event_seq,
        "attempts": call.attempts,
        "not_before": call.not_before,
        "created_at": call.created_at,
    }
    return Insert(WEBHOOK_CALLS, {**values})


def update(call: WebhookDelivery) -> Update:
    values: dict[str, str | int] = {"attempts": call.attempts, "not_before": call.not_before}
    return Update(WEBHOOK_CALLS, {**values}, where(call_id=call.call_id))


def complete(call: WebhookDelivery) -> Delete:
    return Delete(WEBHOOK_CALLS, where(call_id=call.call_id))


class WebhookDeliveryStore:
    """Reads pending deliveries."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def all(self) -> list[WebhookDelivery]:
        return [_restore(row) for row in await self._journal.read(Select(WEBHOOK_CALLS, order=("call_id",)))]


def _restore(row: Row) -> WebhookDelivery:
    request = loads(row["request"])
    return WebhookDelivery(
        row["call_id"],
        row["event_seq"],
        request["bot"],
        request["config"],
        row["created_at"],
        row["attempts"],
        row["not_before"],
    )
