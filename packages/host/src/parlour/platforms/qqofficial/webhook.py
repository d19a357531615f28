"""Receives the calls of QQ: signed with Ed25519, with a key that is made of the secret."""

import logging
from collections.abc import Callable

from parlour.core.encoding import dumps
from parlour.core.journal import StorageFailed
from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.core.platforms.port import HostLink
from parlour.platforms._kit.json_frames import FrameUnreadable, read_frame
from parlour.platforms._kit.payloads import Payload, object_in, text
from parlour.platforms._kit.turns import Turns
from parlour.platforms._kit.webhooks import (
    ReplayGuard,
    WebhookRejected,
    ed25519_public_key,
    ed25519_seed,
    ed25519_sign,
    verify_ed25519,
)

from .decode import chat_of, decode

logger = logging.getLogger(__name__)

SIGNATURE_HEADER, TIME_HEADER, APP_HEADER = "x-signature-ed25519", "x-signature-timestamp", "x-bot-appid"
WINDOW_SECONDS = 300.0
DISPATCH, VALIDATION, ACKNOWLEDGED = 0, 13, 12


class QQWebhook:
    """Handles the calls for one bot."""

    def __init__(self, link: HostLink, app_id: str, secret: str) -> None:
        self._link = link
        self._app_id = app_id
        self._seed = ed25519_seed(secret)
        self._public_key = ed25519_public_key(self._seed)
        self._guard = ReplayGuard(WINDOW_SECONDS)
        self._turns = Turns()
        self.bot_id = ""
        """The bot's own id, as soon as it is known."""

    async def hook(self, call: HookCall, stored: Callable[[Payload], None]) -> HookResponse:
        """Handles a call; `stored` gets the event after it was stored."""
        try:
            frame = self._verified(call)
        except WebhookRejected as rejected:
            logger.debug("a call was refused: %s", rejected)
            return HookResponse(401, str(rejected))
        if frame.get("op") == VALIDATION:
            return self._answer_check(object_in(frame, "d"))
        if frame.get("op") == DISPATCH:
            try:
                async with self._turns.turn(chat_of(frame)):
                    await self._link.receive(*decode(frame, self._link.bot_id, self.bot_id))
                    stored(frame)
            except StorageFailed as error:
                return HookResponse(503, error.message)
        return HookResponse.json({"op": ACKNOWLEDGED})

    def _verified(self, call: HookCall) -> Payload:
        """Returns the frame of a genuine and recent call. Raises WebhookRejected."""
        moment = call.headers.get(TIME_HEADER, "")
        verify_ed25519(call.headers.get(SIGNATURE_HEADER, ""), self._public_key, moment.encode() + call.body)
        self._guard.check_time(moment)
        if call.headers.get(APP_HEADER, self._app_id) != self._app_id:
            raise WebhookRejected("the call is for another bot")
        try:
            return read_frame(call.body)
        except FrameUnreadable:
            raise WebhookRejected("the call is no JSON") from None

    def _answer_check(self, data: Payload) -> HookResponse:
        """Answers the check of the address with a signature of what it contains."""
        token = text(data, "plain_token")
        signature = ed25519_sign(self._seed, (text(data, "event_ts") + token).encode())
        return HookResponse(200, dumps({"plain_token": token, "signature": signature}), "application/json")
