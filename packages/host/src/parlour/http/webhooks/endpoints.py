"""Endpoints to create, change and delete inbound webhooks, and to call them."""

import os
from base64 import b64encode
from dataclasses import replace
from operator import attrgetter
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from parlour.core.config.webhooks import WebhookBook
from parlour.core.ingest.inbound_webhooks import WebhookCalls
from parlour.core.model.inbound_webhook import EVENT_TYPE, CallMalformed, NotGenuine, Scheme, Webhook
from parlour.core.model.ports import Clock, Ids
from parlour.core.pagination import Cursors
from parlour.core.secrets import SecretBox

from ..auth import Admin, Viewer
from ..crud import Shelf
from ..errors import Problem, not_found
from ..etags import IfMatch
from ..pagination import Cursor, Limit
from ..responses import Answer, Json, Page
from ..target_validation import Targets
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
    scheme: Scheme = "standard"
    agent_id: str = Field(default="", max_length=64)
    bot_id: str = Field(default="", max_length=64)
    enabled: bool = True
    secret: str | None = Field(default=None, min_length=16, max_length=200)
    """Signing secret. None creates one for a new webhook, and keeps the stored one otherwise."""


def router(
    book: WebhookBook,
    calls: WebhookCalls,
    targets: Targets,
    box: SecretBox,
    cursors: Cursors,
    ids: Ids,
    clock: Clock,
    public_url: str,
) -> APIRouter:
    routes = APIRouter(tags=["webhooks"])

    def answered(webhook: Webhook) -> Json:
        shown = _shown(webhook)
        return {**shown, "url": public_url + shown["path"] if public_url else None}

    shelf = Shelf("webhook", "/webhooks", book.get, attrgetter("webhook_id"), _shown, cursors, clock, _parts)

    @routes.post("/webhooks", status_code=201)
    async def create_webhook(
        body: WebhookBody, principal: Admin, response: Response
    ) -> Annotated[Json, Answer(responses.NewWebhook)]:
        """The secret is in this answer only."""
        targets.check(body.agent_id, body.bot_id, EVENT_TYPE)
        secret = body.secret or f"whsec_{b64encode(os.urandom(32)).decode()}"
        fields = body.model_dump(exclude={"secret"})
        webhook = Webhook(ids.new(), sealed_secret=box.seal(secret), **fields)
        await book.add(webhook, shelf.change(principal, None, webhook))
        return {**answered(shelf.told(webhook, response)), "secret": secret}

    @routes.get("/webhooks")
    async def list_webhooks(
        principal: Viewer, limit: Limit = 50, cursor: Cursor = None
    ) -> Annotated[Json, Answer(Page[responses.Webhook])]:
        return shelf.page(book.all(), answered, limit, cursor)

    @routes.get("/webhooks/{webhook_id}")
    async def read_webhook(
        webhook_id: WebhookId, principal: Viewer, response: Response
    ) -> Annotated[Json, Answer(responses.Webhook)]:
        return answered(shelf.told(shelf.existing(webhook_id), response))

    @routes.put("/webhooks/{webhook_id}")
    async def replace_webhook(
        webhook_id: WebhookId, body: WebhookBody, principal: Admin, response: Response, if_match: IfMatch = None
    ) -> Annotated[Json, Answer(responses.Webhook)]:
        async with shelf.changing(webhook_id, if_match) as before:
            targets.check(body.agent_id, body.bot_id, EVENT_TYPE)
            sealed = box.seal(body.secret) if body.secret else before.sealed_secret
            webhook = replace(before, sealed_secret=sealed, **body.model_dump(exclude={"secret"}))
            await book.replace(webhook, shelf.change(principal, before, webhook))
        return answered(shelf.told(webhook, response))

    @routes.delete("/webhooks/{webhook_id}", status_code=204)
    async def delete_webhook(webhook_id: WebhookId, principal: Admin, if_match: IfMatch = None) -> Response:
        async with shelf.changing(webhook_id, if_match) as before:
            await book.remove(webhook_id, shelf.change(principal, before, None))
        return Response(status_code=204)

    @routes.post("/webhooks/{webhook_id}/events", status_code=202)
    async def call_webhook(webhook_id: WebhookId, request: Request) -> Annotated[Json, Answer(responses.WebhookCall)]:
        """For the other program: it signs the body with the webhook's secret, and needs no key."""
        webhook = book.get(webhook_id)
        if webhook is None or not webhook.enabled:
            raise not_found("this webhook", "ask for its present address")
        try:
            accepted = await calls.take(webhook, request.headers, await request.body())
        except NotGenuine as error:
            raise Problem(401, "unauthenticated", str(error)) from error
        except CallMalformed as error:
            raise Problem(400, "invalid_argument", str(error)) from error
        return {"event_id": accepted.event_id, "seq": accepted.seq, "duplicate": accepted.duplicate}

    return routes


def _shown(webhook: Webhook) -> dict[str, Any]:
    """Serializes the webhook without its secret."""
    told = {name: value for name, value in webhook.encoded().items() if name != "sealed_secret"}
    return {**told, "path": f"/api/v1/webhooks/{webhook.webhook_id}/events"}


def _parts(webhook: Webhook) -> dict[str, Any]:
    """Returns the fields from which the webhook's ETag is computed."""
    kept = webhook.encoded()
    secret = kept.pop("sealed_secret")
    return {**kept, "secret": secret}
