"""One attempt to call a webhook: builds the request and classifies the response. `outbound` waits and retries."""

from typing import Literal, Protocol

from parlour.core.encoding import dumps, loads
from parlour.core.model import webhook_signing
from parlour.core.model.event import RecordedEvent
from parlour.core.plugin_hooks import payloads
from parlour.core.secrets import SecretBox, SecretUnreadable
from parlour_sdk.values import dataclass

from .webhook_delivery import WebhookDelivery

AttemptOutcome = Literal["taken", "again", "refused"]
RETRYABLE_STATUS_CODES = frozenset((408, 409, 425, 429))
"""Status codes that are retried, besides 5xx."""
MAX_RESPONSE_BYTES = 1024 * 1024
"""Maximum size of a response; a longer one is not read as a webhook's response."""


@dataclass(frozen=True, slots=True)
class WebhookHttpRequest:
    method: str
    url: str
    headers: dict[str, str]
    body: bytes
    timeout_seconds: float


@dataclass(frozen=True, slots=True)
class WebhookHttpResponse:
    status: int
    body: bytes
    """The beginning of the body; if it is longer than the limit, at least one byte more than the limit."""
    retry_after: float | None = None


class Unreachable(Exception):
    """Raised when there is no response. The message contains no secrets; `permanent` if retrying is useless."""

    def __init__(self, reason: str, permanent: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.permanent = permanent


class WebhookSender(Protocol):
    """Port to the HTTP client."""

    async def send(self, request: WebhookHttpRequest) -> WebhookHttpResponse:
        """Sends a request without following redirects. Raises Unreachable."""
        ...


class NullWebhookSender:
    async def send(self, request: WebhookHttpRequest) -> WebhookHttpResponse:
        raise Unreachable("this Host sends no webhooks", permanent=True)


@dataclass(frozen=True, slots=True)
class AttemptResult:
    outcome: AttemptOutcome
    description: str
    """A text that describes the result."""
    body: bytes = b""
    retry_after: float | None = None


class WebhookClient:
    """Signs and sends the calls of webhooks."""

    def __init__(self, sender: WebhookSender, secrets: SecretBox) -> None:
        self._sender = sender
        self._secrets = secrets

    async def send(self, call: WebhookDelivery, event: RecordedEvent, now: int) -> AttemptResult:
        try:
            request = self._request(call, event, now)
        except SecretUnreadable as error:
            return AttemptResult("refused", str(error))
        try:
            answer = await self._sender.send(request)
        except Unreachable as failure:
            return AttemptResult("refused" if failure.permanent else "again", failure.reason)
        return _classify(answer)

    def _request(self, call: WebhookDelivery, event: RecordedEvent, now: int) -> WebhookHttpRequest:
        config = call.config
        secret = self._secrets.open(config["sealed_secret"]) if config["sealed_secret"] else ""
        configured_headers = loads(self._secrets.open(config["sealed_headers"])) if config["sealed_headers"] else {}
        body = dumps({"event": payloads.event_payload(event), "bot": call.bot}).encode()
        signed = webhook_signing.signature_headers(secret, call.call_id, now // 1000, body)
        headers = {**configured_headers, "content-type": "application/json", **signed}
        return WebhookHttpRequest(config["method"], config["url"], headers, body, config["timeout"])


def _classify(answer: WebhookHttpResponse) -> AttemptResult:
    description = f"it answered {answer.status}"
    if 200 <= answer.status < 300:
        return AttemptResult("taken", description, answer.body)
    if answer.status >= 500 or answer.status in RETRYABLE_STATUS_CODES:
        return AttemptResult("again", description, retry_after=answer.retry_after)
    if 300 <= answer.status < 400:
        description += ", and redirects are not followed; write the address where it leads"
    return AttemptResult("refused", description)
