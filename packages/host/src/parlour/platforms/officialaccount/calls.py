"""Verifies the calls of WeChat to an official account, which are plain or encrypted, and answers them alike.

A call that is not genuine gets 401 and leaves no line in the log, because anyone can send one.
"""

import hashlib
from collections.abc import Callable
from time import time

from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.encrypted_callbacks import CallbackCipher
from parlour.platforms._kit.encrypted_calls import MAX_CALL_BYTES, WINDOW_SECONDS, XML_TYPE, EncryptedCalls, refuse
from parlour.platforms._kit.webhooks import ReplayGuard, WebhookRejected, verify_sorted_digest

NOT_ENCRYPTED = (
    "WeChat calls without encryption; choose the safe mode in its console, or leave EncodingAESKey empty here"
)
UNEXPECTED_ENCRYPTION = (
    "WeChat calls with encryption; enter its EncodingAESKey, or choose the plain mode in its console"
)


class WrongMode(WebhookRejected):
    """Raised for a genuine call whose encryption does not match the configuration."""


class OfficialAccountCalls:
    """Reads the calls for one account. `key` is empty if they are not encrypted."""

    def __init__(self, token: str, key: str, app_id: str, clock: Callable[[], float] = time) -> None:
        self._token = token
        self._clock = clock
        self._guard = ReplayGuard(WINDOW_SECONDS, clock)
        self._encrypted = EncryptedCalls(CallbackCipher(token, key, app_id), clock) if key else None
        self._bodies: BoundedMap[str, str] = BoundedMap()
        """Digests of the bodies of plain calls by their signature, which does not cover the body."""

    def answer_check(self, call: HookCall) -> HookResponse:
        """Answers the check of the address with its text, which is never encrypted."""
        try:
            self._verify(call)
        except WebhookRejected as rejected:
            return refuse(rejected)
        return HookResponse(200, call.query.get("echostr", ""))

    def read_message(self, call: HookCall) -> bytes:
        """Returns the content of a genuine and recent call. Raises WebhookRejected."""
        is_encrypted = call.query.get("encrypt_type", "raw") == "aes"
        if self._encrypted is not None and is_encrypted:
            return self._encrypted.read_message(call)
        if len(call.body) > MAX_CALL_BYTES:
            raise WebhookRejected(f"the call is larger than {MAX_CALL_BYTES // 1024} KiB")
        self._verify(call)
        if self._encrypted is not None:
            raise WrongMode(NOT_ENCRYPTED)
        if is_encrypted:
            raise WrongMode(UNEXPECTED_ENCRYPTION)
        self._check_body(call)
        return call.body

    def reply(self, content: str, call: HookCall) -> HookResponse:
        """Returns the response with a reply, in the form of the call."""
        if self._encrypted is not None:
            return self._encrypted.xml_reply(content, call.query.get("nonce", ""))
        return HookResponse(200, content, XML_TYPE)

    def _verify(self, call: HookCall) -> None:
        timestamp, nonce = call.query.get("timestamp", ""), call.query.get("nonce", "")
        verify_sorted_digest(call.query.get("signature", ""), self._token, timestamp, nonce)
        self._guard.check_time(timestamp)

    def _check_body(self, call: HookCall) -> None:
        """Refuses a second body under the signature of an earlier call."""
        signature, digest = call.query.get("signature", "").lower(), hashlib.sha256(call.body).hexdigest()
        if self._bodies.get(signature) not in (None, digest):
            raise WebhookRejected("the signature was used with another content before")
        self._bodies.set(signature, digest)
