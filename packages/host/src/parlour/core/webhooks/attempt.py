"""One attempt to call a webhook: builds the request and classifies the response. `outbound` waits and retries."""

from typing import Literal, Protocol

from parlour.core.encoding import dumps, loads
from parlour.core.model import webhook_signing
from parlour.core.model.event import RecordedEvent
from parlour.core.plugin_hooks import payloads
from parlour.core.secrets import SecretBox, SecretUnreadable
from parlour.core.store.webhook_deliveries import WebhookCall
from parlour_sdk.values import dataclass

Meaning = Literal["taken", "again", "refused"]
AGAIN = frozenset((408, 409, 425, 429))
"""Status codes that are retried, besides 5xx."""
ANSWER_BYTES = 1024 * 1024
"""Maximum size of a response; a longer one is not read as a webhook's response."""


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    url: str
    headers: dict[str, str]
    body: bytes
    seconds: float


@dataclass(frozen=True, slots=True)
class Answer:
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


class HookSender(Protocol):
    """Port to the HTTP client."""

    async def send(self, request: Request) -> Answer:
        """Sends a request without following redirects. Raises Unreachable."""
        ...


class NoHookSender:
    async def send(self, request: Request) -> Answer:
        raise Unreachable("this Host sends no webhooks", permanent=True)


@dataclass(frozen=True, slots=True)
class Tried:
    meaning: Meaning
    told: str
    """A text that describes the result."""
    body: bytes = b""
    retry_after: float | None = None


class Sending:
    """Signs and sends the calls of webhooks."""

    def __init__(self, sender: HookSender, secrets: SecretBox) -> None:
        self._sender = sender
        self._secrets = secrets

    async def attempt(self, call: WebhookCall, event: RecordedEvent, now: int) -> Tried:
        try:
            request = self._request(call, event, now)
        except SecretUnreadable as unreadable:
            return Tried("refused", str(unreadable))
        try:
            answer = await self._sender.send(request)
        except Unreachable as failure:
            return Tried("refused" if failure.permanent else "again", failure.reason)
        return _read(answer)

    def _request(self, call: WebhookCall, event: RecordedEvent, now: int) -> Request:
        config = call.config
        secret = self._secrets.open(config["sealed_secret"]) if config["sealed_secret"] else ""
        own = loads(self._secrets.open(config["sealed_headers"])) if config["sealed_headers"] else {}
        body = dumps({"event": payloads.event(event), "bot": call.bot}).encode()
        signed = webhook_signing.headers(secret, call.call_id, now // 1000, body)
        headers = {**own, "content-type": "application/json", **signed}
        return Request(config["method"], config["url"], headers, body, config["timeout"])


def _read(answer: Answer) -> Tried:
    told = f"it answered {answer.status}"
    if 200 <= answer.status < 300:
        return Tried("taken", told, answer.body)
    if answer.status >= 500 or answer.status in AGAIN:
        return Tried("again", told, retry_after=answer.retry_after)
    if 300 <= answer.status < 400:
        told += ", and redirects are not followed; write the address where it leads"
    return Tried("refused", told)
