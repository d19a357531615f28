"""The handler `webhook`: queues the webhook call of a route for the event."""

from typing import ClassVar

from parlour.core.config.bots import BotRepository
from parlour.core.config.routes import Route
from parlour.core.journal import UnitBuilder
from parlour.core.model.event import EventEnvelope
from parlour.core.model.ports import Ids
from parlour.core.plugin_hooks import payloads
from parlour.core.routing.decisions import RouteDecision, ToHandler
from parlour.core.runs.event_completion import EventCompleter
from parlour.core.runs.lane_result import LaneResult
from parlour.core.runs.session import QueuedEvent
from parlour.core.webhooks.outbound import OutboundWebhooks
from parlour.core.webhooks.webhook_delivery import WebhookDelivery


class WebhookHandler:
    """Sends events to the webhooks of their routes."""

    type: ClassVar[str] = "webhook"
    answers_by_agent: ClassVar[bool] = False

    def __init__(self, webhooks: OutboundWebhooks, bots: BotRepository, completer: EventCompleter, ids: Ids) -> None:
        self._webhooks = webhooks
        self._bots = bots
        self._completer = completer
        self._ids = ids

    def resolve(self, event: EventEnvelope, route: Route, skipped_routes: str) -> RouteDecision:
        return ToHandler(route, f"{route.label}{skipped_routes}")

    async def handle(self, entry: QueuedEvent, decision: ToHandler) -> LaneResult:
        """Completes the event and queues the webhook call in one unit. The conversation continues without waiting for
        the call.
        """
        bot_id = entry.event.envelope.bot_id
        bot = payloads.bot_payload(self._bots, bot_id) or {
            "id": bot_id,
            "name": "",
            "adapter": entry.event.envelope.source,
        }
        call = WebhookDelivery(self._ids.new(), bot, decision.route.handler_config)
        unit = UnitBuilder("event.hooked")
        inbox_outcome = self._completer.add_outcome(unit, entry.event, "handed", decision.reason)
        unit.add(self._webhooks.enqueue(call, entry.seq))
        await self._completer.commit(unit, inbox_outcome)
        self._webhooks.wake(call)
        return LaneResult()
