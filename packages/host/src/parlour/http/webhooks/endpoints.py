"""Endpoints to create, change and delete inbound webhooks, and to call them."""

import os
from base64 import b64encode
from dataclasses import replace
from operator import attrgetter
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from parlour.core.config.webhooks import WebhookRepository
from parlour.core.ingest.inbound_webhooks import InboundWebhookReceiver
from parlour.core.model.inbound_webhook import EVENT_TYPE, InvalidSignature, MalformedCall, SignatureScheme, Webhook
from parlour.core.model.ports import Clock, Ids
from parlour.core.pagination import Cursors
from parlour.core.secrets import SecretBox

from ..auth import Admin, Viewer
from ..crud import ConfigResource
from ..errors import Problem, not_found
from ..etags import IfMatch
from ..pagination import Cursor, Limit
from ..responses import Json, PageResponse, ResponseSchema
from ..target_validation import TargetValidator
from . import responses

WebhookId = Annotated[str, Path(max_length=64)]


class WebhookBody(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"name": "Pushes", "scheme": "github", "agent_id": "01992f1c-5a70-7c3e-8d11-0a8f6c2b9e41"}]
        },
    )

    name: str = Field(min_length=1, max_length=200)
    scheme: SignatureScheme = "standard"
    agent_id: str = Field(default="", max_length=64)
    bot_id: str = Field(default="", max_length=64)
    enabled: bool = True
    secret: str | None = Field(default=None, min_length=16, max_length=200)
    """Signing secret. None creates one for a new webhook, and keeps the stored one otherwise."""


def router(
    book: WebhookRepository,
    calls: InboundWebhookReceiver,
    targets: TargetValidator,
    box: SecretBox,
    cursors: Cursors,
    ids: Ids,
    clock: Clock,
    public_url: str,
) -> APIRouter:
    routes = APIRouter(tags=["webhooks"])

    def answered(webhook: Webhook) -> Json:
        shown = _to_response(webhook)
        return {**shown, "url": public_url + shown["path"] if public_url else None}

    shelf = ConfigResource(
        "webhook", "/webhooks", book.get, attrgetter("webhook_id"), _to_response, cursors, clock, _version_fields
    )

    @routes.post("/webhooks", status_code=201)
    async def create_webhook(
        body: WebhookBody, principal: Admin, response: Response
    ) -> Annotated[Json, ResponseSchema(responses.NewWebhook)]:
        """The secret is in this answer only."""
        targets.check(body.agent_id, body.bot_id, EVENT_TYPE)
        secret = body.secret or f"whsec_{b64encode(os.urandom(32)).decode()}"
        fields = body.model_dump(exclude={"secret"})
        webhook = Webhook(ids.new(), sealed_secret=box.seal(secret), **fields)
        await book.add(webhook, shelf.audit_entry(principal, None, webhook))
        return {**answered(shelf.with_etag(webhook, response)), "secret": secret}

    @routes.get("/webhooks")
    async def list_webhooks(
        principal: Viewer, limit: Limit = 50, cursor: Cursor = None
    ) -> Annotated[Json, ResponseSchema(PageResponse[responses.WebhookResponse])]:
        return shelf.list_page(book.all(), answered, limit, cursor)

    @routes.get("/webhooks/{webhook_id}")
    async def read_webhook(
        webhook_id: WebhookId, principal: Viewer, response: Response
    ) -> Annotated[Json, ResponseSchema(responses.WebhookResponse)]:
        return answered(shelf.with_etag(shelf.get_or_404(webhook_id), response))

    @routes.put("/webhooks/{webhook_id}")
    async def replace_webhook(
        webhook_id: WebhookId, body: WebhookBody, principal: Admin, response: Response, if_match: IfMatch = None
    ) -> Annotated[Json, ResponseSchema(responses.WebhookResponse)]:
        async with shelf.edit(webhook_id, if_match) as before:
            targets.check(body.agent_id, body.bot_id, EVENT_TYPE)
            sealed = box.seal(body.secret) if body.secret else before.sealed_secret
            webhook = replace(before, sealed_secret=sealed, **body.model_dump(exclude={"secret"}))
            await book.replace(webhook, shelf.audit_entry(principal, before, webhook))
        return answered(shelf.with_etag(webhook, response))

    @routes.delete("/webhooks/{webhook_id}", status_code=204)
    async def delete_webhook(webhook_id: WebhookId, principal: Admin, if_match: IfMatch = None) -> Response:
        async with shelf.edit(webhook_id, if_match) as before:
            await book.remove(webhook_id, shelf.audit_entry(principal, before, None))
        return Response(status_code=204)

    @routes.post("/webhooks/{webhook_id}/events", status_code=202)
    async def call_webhook(
        webhook_id: WebhookId, request: Request
    ) -> Annotated[Json, ResponseSchema(responses.WebhookCallResponse)]:
        """For the other program: it signs the body with the webhook's secret, and needs no key."""
        webhook = book.get(webhook_id)
        if webhook is None or not webhook.enabled:
            raise not_found("this webhook", "ask for its present address")
        try:
            accepted = await calls.receive(webhook, request.headers, await request.body())
        except InvalidSignature as error:
            raise Problem(401, "unauthenticated", str(error)) from error
        except MalformedCall as error:
            raise Problem(400, "invalid_argument", str(error)) from error
        return {"event_id": accepted.event_id, "seq": accepted.seq, "duplicate": accepted.duplicate}

    return routes


def _to_response(webhook: Webhook) -> dict[str, Any]:
    """Serializes the webhook without its secret."""
    told = {name: value for name, value in webhook.to_dict().items() if name != "sealed_secret"}
    return {**told, "path": f"/api/v1/webhooks/{webhook.webhook_id}/events"}


def _version_fields(webhook: Webhook) -> dict[str, Any]:
    """Returns the fields from which the webhook's ETag is computed."""
    kept = webhook.to_dict()
    secret = kept.pop("sealed_secret")
    return {**kept, "secret": secret}
