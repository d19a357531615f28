"""Receives the encrypted calls of WeCom and WeChat: the check of the address, and messages in XML or JSON.

A call that is not genuine gets 401 and leaves no line in the log, because anyone can send one.
"""

import logging
from collections.abc import Callable, Mapping
from time import time

from parlour.core.encoding import dumps
from parlour.core.platforms.hooks import HookCall, HookResponse

from .encrypted_callbacks import CallbackCipher, read_xml, write_xml
from .json_frames import FrameUnreadable, read_frame
from .payloads import text
from .webhooks import ReplayGuard, WebhookRejected

logger = logging.getLogger(__name__)

WINDOW_SECONDS = 600.0
"""Age beyond which a call is refused, in both directions of the clock."""
MAX_CALL_BYTES = 256 * 1024
XML_TYPE = "application/xml"


class EncryptedCalls:
    """Verifies, decrypts and answers the calls for one bot."""

    def __init__(self, cipher: CallbackCipher, clock: Callable[[], float] = time) -> None:
        self._cipher = cipher
        self._guard = ReplayGuard(WINDOW_SECONDS, clock)
        self._clock = clock

    def decrypt(self, query: Mapping[str, str], encrypted: str) -> bytes:
        """Returns the content of a genuine and recent call. Raises WebhookRejected.

        The time is checked after the signature, which covers it.
        """
        content = self._cipher.decrypt(query, encrypted)
        self._guard.check_time(query.get("timestamp", ""))
        return content

    def answer_check(self, call: HookCall) -> HookResponse:
        """Answers the check of the address with its decrypted content."""
        try:
            content = self.decrypt(call.query, call.query.get("echostr", ""))
        except WebhookRejected as rejected:
            return refuse(rejected)
        return HookResponse(200, content.decode(errors="replace"))

    def read_message(self, call: HookCall) -> bytes:
        """Returns the decrypted content of a call whose body is XML or JSON. Raises WebhookRejected."""
        if len(call.body) > MAX_CALL_BYTES:
            raise WebhookRejected(f"the call is larger than {MAX_CALL_BYTES // 1024} KiB")
        if call.body.lstrip()[:1] == b"{":
            try:
                encrypted = text(read_frame(call.body), "encrypt")
            except FrameUnreadable:
                raise WebhookRejected("the call is no JSON") from None
        else:
            encrypted = read_xml(call.body).get("Encrypt", "")
        return self.decrypt(call.query, encrypted)

    def xml_reply(self, content: str, nonce: str) -> HookResponse:
        """Encrypts a reply and returns the XML response with it."""
        fields = self._cipher.encrypted_reply(content.encode(), str(round(self._clock())), nonce)
        return HookResponse(200, write_xml(fields), XML_TYPE)

    def json_reply(self, content: Mapping[str, object], nonce: str) -> HookResponse:
        """Encrypts a reply and returns the JSON response with it."""
        moment = round(self._clock())
        fields = self._cipher.encrypted_reply(dumps(content).encode(), str(moment), nonce)
        names = {"encrypt": fields["Encrypt"], "msgsignature": fields["MsgSignature"]}
        return HookResponse.json({**names, "timestamp": moment, "nonce": nonce})


def refuse(rejected: WebhookRejected) -> HookResponse:
    """Returns the response to a call that is not genuine."""
    logger.debug("a call was refused: %s", rejected)
    return HookResponse(401, str(rejected))
