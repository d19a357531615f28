"""Accepts inbound webhook calls: a call is verified and becomes one event, even if it is repeated."""

from collections.abc import Mapping
from typing import Any

from parlour.core.encoding import loads
from parlour.core.model.event import EventContext, EventEnvelope, Participant
from parlour.core.model.ids import EventId
from parlour.core.model.inbound_webhook import EVENT_TYPE, MalformedCall, Webhook, verify_call
from parlour.core.model.ports import Clock, Ids
from parlour.core.secrets import SecretBox

from .acceptance import IngestResult
from .gateway import Gateway


class InboundWebhookReceiver:
    """Verifies inbound webhook calls and passes them to the gateway."""

    def __init__(self, gateway: Gateway, secrets: SecretBox, ids: Ids, clock: Clock) -> None:
        self._gateway = gateway
        self._secrets = secrets
        self._ids = ids
        self._clock = clock

    async def receive(self, webhook: Webhook, headers: Mapping[str, str], body: bytes) -> IngestResult:
        """Accepts one call. Raises InvalidSignature or CallMalformed."""
        now = self._clock.now()
        call_key = verify_call(webhook, self._secrets.open(webhook.sealed_secret), headers, body, now)
        content = _parse_body(body)
        text = content.get("text")
        event = EventEnvelope(
            event_id=EventId(f"webhook:{webhook.webhook_id}:{call_key}"),
            event_type=EVENT_TYPE,
            source="webhook",
            chat=webhook.webhook_id,
            context=EventContext(self._ids.new(), origin="webhook"),
            surface="webhook",
            bot_id=webhook.bot_id,
            agent_id=webhook.agent_id,
            event_time=now,
            actor=Participant("webhook", webhook.webhook_id, webhook.name),
            subject=Participant("request", call_key),
            input={"text": text} if isinstance(text, str) and text else {},
            data={"webhook_id": webhook.webhook_id, "content": content},
        )
        return await self._gateway.ingest(event)


def _parse_body(body: bytes) -> dict[str, Any]:
    try:
        content = loads(body.decode()) if body else {}
    except ValueError as error:
        raise MalformedCall("the body must be JSON in UTF-8") from error
    return content if isinstance(content, dict) else {"value": content}
