"""Receives reports as calls of Lark: encrypted and signed, or with the verification token."""

import hashlib
import hmac
import logging

from parlour.core.journal import StorageFailed
from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.core.platforms.port import HostLink
from parlour.platforms._kit.encrypted_callbacks import decrypt_with_secret
from parlour.platforms._kit.json_frames import FrameUnreadable, read_frame
from parlour.platforms._kit.payloads import Payload, object_in, text
from parlour.platforms._kit.webhooks import ReplayGuard, WebhookRejected, verify_token

from .event_processor import LarkEventProcessor

logger = logging.getLogger(__name__)

WINDOW_SECONDS = 300.0
SIGNATURE_HEADER, TIME_HEADER, NONCE_HEADER = "x-lark-signature", "x-lark-request-timestamp", "x-lark-request-nonce"
VERIFICATION = "url_verification"


class LarkWebhook:
    """Verifies and stores the calls for one bot."""

    def __init__(
        self, link: HostLink, encrypt_key: str, verification_token: str, processor: LarkEventProcessor
    ) -> None:
        self._link = link
        self._key = encrypt_key
        self._token = verification_token
        self._processor = processor
        self._guard = ReplayGuard(WINDOW_SECONDS)

    async def hook(self, call: HookCall) -> HookResponse:
        try:
            report = self._read(call)
        except WebhookRejected as rejected:
            logger.debug("bot %s refused a call: %s", self._link.bot_id, rejected)
            return HookResponse(401, str(rejected))
        if report.get("type") == VERIFICATION:
            return HookResponse.json({"challenge": text(report, "challenge")})
        try:
            return HookResponse.json(await self._processor.store(report))
        except StorageFailed as error:
            return HookResponse(503, error.message)

    def _read(self, call: HookCall) -> Payload:
        """Returns the report of a call. Raises WebhookRejected for one that is not from Lark."""
        body = _parse(call.body)
        if self._key:
            report = _parse(decrypt_with_secret(self._key, text(body, "encrypt")))
            if report.get("type") != VERIFICATION:  # the question about the address is not signed
                self._check_signature(call)
        else:
            report = body
        if self._token or not self._key:
            verify_token(text(object_in(report, "header"), "token") or text(report, "token"), self._token)
        return report

    def _check_signature(self, call: HookCall) -> None:
        moment, nonce = call.headers.get(TIME_HEADER, ""), call.headers.get(NONCE_HEADER, "")
        self._guard.check_time(moment)
        expected = hashlib.sha256((moment + nonce + self._key).encode() + call.body).hexdigest()
        given = call.headers.get(SIGNATURE_HEADER, "")
        if not hmac.compare_digest(given.lower().encode(errors="replace"), expected.encode()):
            raise WebhookRejected("the signature is missing or wrong")


def _parse(body: bytes) -> Payload:
    try:
        return read_frame(body)
    except FrameUnreadable:
        raise WebhookRejected("the call is no report") from None
