"""Inbound webhooks, and the verification of their calls. Pure functions."""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal

from parlour_sdk.values import dataclass

from . import webhook_signing
from .ids import NO_AGENT, NO_BOT, AgentId, BotId, InboundWebhookId

SignatureScheme = Literal["standard", "github"]
"""Signature scheme: Standard Webhooks, or that of GitHub and compatible services."""
TOLERANCE_SECONDS = 300
"""Largest accepted difference between the timestamp of a call and the Host's clock."""
_TIMESTAMP = re.compile(r"[0-9]{1,15}")
EVENT_TYPE = "api.invoked"


@dataclass(frozen=True, slots=True)
class Webhook:
    """A URL of the Host that another program calls to create events."""

    webhook_id: InboundWebhookId
    name: str
    sealed_secret: str
    scheme: SignatureScheme = "standard"
    agent_id: AgentId = NO_AGENT
    bot_id: BotId = NO_BOT
    enabled: bool = True

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class InvalidSignature(Exception):
    """Raised when a call was not signed with the webhook's secret; the message says what is missing."""


class MalformedCall(Exception):
    """Raised when a call can't be parsed; the message names the header or the body, and what is accepted."""


def verify_call(webhook: Webhook, secret: str, headers: Mapping[str, str], body: bytes, now: int) -> str:
    """Verifies a call and returns its id, which is the same when the call is repeated.

    Raises InvalidSignature or MalformedCall.
    """
    if webhook.scheme == "github":
        return _verify_github(secret, headers, body)
    return _verify_standard(secret, headers, body, now // 1000)


def _verify_standard(secret: str, headers: Mapping[str, str], body: bytes, seconds: int) -> str:
    message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    signatures = headers.get("webhook-signature", "").split()
    if not message_id or not timestamp or not signatures:
        raise InvalidSignature("the headers webhook-id, webhook-timestamp and webhook-signature are needed")
    if not _TIMESTAMP.fullmatch(timestamp):
        raise MalformedCall("webhook-timestamp must be seconds since 1970, in decimal digits")
    if abs(seconds - int(timestamp)) > TOLERANCE_SECONDS:
        raise InvalidSignature("webhook-timestamp is more than five minutes away from now")
    expected = webhook_signing.signature(secret, message_id, int(timestamp), body)
    if not any(hmac.compare_digest(expected.encode(), each.encode()) for each in signatures):
        raise InvalidSignature("webhook-signature does not fit the secret")
    return message_id


def _verify_github(secret: str, headers: Mapping[str, str], body: bytes) -> str:
    signature = headers.get("x-hub-signature-256", "")
    expected = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected.encode(), signature.encode()):
        raise InvalidSignature("x-hub-signature-256 does not fit the secret")
    # Only the body is signed: an observer of one call could repeat it with any x-github-delivery.
    return hashlib.sha256(body).hexdigest()
