"""Endpoints to create, change and delete inbound webhooks, and to call them."""

import os
from base64 import b64encode
from dataclasses import replace
from operator import attrgetter
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from parlour.core.config.webhooks import WebhookRepository
from parlour.core.ingest.inbound_webhooks import InboundWebhookReceiver
from parlour.core.model.ids import InboundWebhookId
from parlour.core.model.inbound_webhook import EVENT_TYPE, InvalidSignature, MalformedCall, Webhook
from parlour.core.model.ports import Clock, Ids
from parlour.core.pagination import Cursors
from parlour.core.secrets import SecretBox

from ..api_router import ApiRouter
from ..auth import Admin
from ..crud import ConfigResource, CrudOperations, CrudSchemas, Verbs, add_crud_routes, without_wait
from ..errors import Problem, not_found
from ..principals import Principal
from ..responses import Json
from ..target_validation import TargetValidator
from .schemas import NewWebhook, WebhookBody, WebhookCallResponse, WebhookResponse

GENERAL_VERBS: Verbs = ("list", "read", "replace", "delete")
WebhookPath = Annotated[InboundWebhookId, Path(max_length=64)]


class WebhookMapper:
    """Builds webhooks from request bodies and serializes them without their secrets."""

    def __init__(self, targets: TargetValidator, secrets: SecretBox, public_url: str) -> None:
        self._targets = targets
        self._secrets = secrets
        self._public_url = public_url

    def to_new_webhook(self, webhook_id: InboundWebhookId, body: WebhookBody) -> tuple[Webhook, str]:
        """Returns the webhook and its secret, which is created if the body has none."""
        self._targets.check(body.agent_id, body.bot_id, EVENT_TYPE)
        secret = body.secret or f"whsec_{b64encode(os.urandom(32)).decode()}"
        fields = body.model_dump(exclude={"secret"})
        return Webhook(webhook_id, sealed_secret=self._secrets.seal(secret), **fields), secret

    def to_changed_webhook(self, before: Webhook, body: WebhookBody) -> Webhook:
        self._targets.check(body.agent_id, body.bot_id, EVENT_TYPE)
        sealed = self._secrets.seal(body.secret) if body.secret else before.sealed_secret
        return replace(before, sealed_secret=sealed, **body.model_dump(exclude={"secret"}))

    def to_response(self, webhook: Webhook) -> WebhookResponse:
        path = _path(webhook)
        return {
            "webhook_id": webhook.webhook_id,
            "name": webhook.name,
            "scheme": webhook.scheme,
            "agent_id": webhook.agent_id,
            "bot_id": webhook.bot_id,
            "enabled": webhook.enabled,
            "path": path,
            "url": self._public_url + path if self._public_url else None,
        }


def router(
    repository: WebhookRepository,
    calls: InboundWebhookReceiver,
    form: WebhookMapper,
    cursors: Cursors,
    ids: Ids,
    clock: Clock,
) -> APIRouter:
    routes = ApiRouter(tags=["webhooks"])
    resource = ConfigResource(
        "webhook", "/webhooks", repository.get, attrgetter("webhook_id"), _audit_view, cursors, clock, _version_fields
    )

    @routes.post("/webhooks", status_code=201)
    async def create_webhook(body: WebhookBody, principal: Admin, response: Response) -> NewWebhook:
        """The secret is in this answer only."""
        webhook, secret = form.to_new_webhook(InboundWebhookId(ids.new()), body)
        await repository.add(webhook, resource.audit_entry(principal, None, webhook))
        return {**form.to_response(resource.with_etag(webhook, response)), "secret": secret}

    def build(webhook_id: InboundWebhookId, body: WebhookBody, before: Webhook | None, principal: Principal) -> Webhook:
        assert before is not None
        return form.to_changed_webhook(before, body)

    add_crud_routes(
        routes,
        resource,
        CrudSchemas("webhook", "webhook_id", WebhookBody, WebhookResponse, max_id_length=64),
        CrudOperations(
            repository.all, build, repository.add, repository.replace, repository.remove, without_wait(form.to_response)
        ),
        lambda: InboundWebhookId(ids.new()),
        GENERAL_VERBS,
    )

    @routes.post("/webhooks/{webhook_id}/events", status_code=202)
    async def call_webhook(webhook_id: WebhookPath, request: Request) -> WebhookCallResponse:
        """For the other program: it signs the body with the webhook's secret, and needs no key."""
        webhook = repository.get(webhook_id)
        if webhook is None or not webhook.enabled:
            raise not_found("this webhook", "ask for its present address")
        try:
            receipt = await calls.receive(webhook, request.headers, await request.body())
        except InvalidSignature as error:
            raise Problem(401, "unauthenticated", str(error)) from error
        except MalformedCall as error:
            raise Problem(400, "invalid_argument", str(error)) from error
        return {"event_id": receipt.event_id, "seq": receipt.seq, "duplicate": receipt.duplicate}

    return routes


def _path(webhook: Webhook) -> str:
    return f"/api/v1/webhooks/{webhook.webhook_id}/events"


def _audit_view(webhook: Webhook) -> Json:
    """Serializes the webhook without its secret."""
    fields = {name: value for name, value in webhook.to_dict().items() if name != "sealed_secret"}
    return {**fields, "path": _path(webhook)}


def _version_fields(webhook: Webhook) -> Json:
    """Returns the fields from which the webhook's ETag is computed."""
    fields = webhook.to_dict()
    secret = fields.pop("sealed_secret")
    return {**fields, "secret": secret}
