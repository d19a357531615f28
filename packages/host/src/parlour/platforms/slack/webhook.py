"""Receives reports as signed calls of Slack: events, pressed buttons and commands."""

import logging
from collections.abc import Callable
from urllib.parse import parse_qs

from parlour.core.journal import StorageFailed
from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.core.platforms.port import HostLink
from parlour.platforms._kit.json_frames import FrameUnreadable, read_frame
from parlour.platforms._kit.payloads import Payload, text
from parlour.platforms._kit.webhooks import ReplayGuard, WebhookRejected, verify_signature

from .decode import COMMAND, EVENT, INTERACTIVE
from .event_processor import SlackEventProcessor

logger = logging.getLogger(__name__)

WINDOW_SECONDS = 300.0
SIGNATURE_HEADER, TIME_HEADER = "x-slack-signature", "x-slack-request-timestamp"
WRONG_SIGNATURE = "signing_secret must be the one of the page Basic Information, and the clock of this Host right"
FORM_TYPE = "application/x-www-form-urlencoded"


class SlackWebhook:
    """Verifies and stores the calls for one bot."""

    def __init__(
        self, link: HostLink, signing_secret: str, processor: SlackEventProcessor, problem: Callable[[], str]
    ) -> None:
        """`problem` returns what is wrong with the app itself, for its status."""
        self._link = link
        self._problem = problem
        self._secret = signing_secret
        self._processor = processor
        self._guard = ReplayGuard(WINDOW_SECONDS)
        self._was_called = False
        """True after a call with a right signature: from then on a wrong one is another program's."""

    async def hook(self, call: HookCall) -> HookResponse:
        try:
            moment = call.headers.get(TIME_HEADER, "")
            self._guard.check_time(moment)
            signed = b"v0:" + moment.encode() + b":" + call.body
            verify_signature(call.headers.get(SIGNATURE_HEADER, ""), self._secret, signed, prefix="v0=")
        except WebhookRejected as rejected:
            if not self._was_called:
                self._link.report_status("connected", f"calls are refused: {rejected}; {WRONG_SIGNATURE}")
            return HookResponse(401, str(rejected))
        if not self._was_called:
            self._was_called = True
            self._link.report_status("connected", self._problem())
        try:
            kind, payload = _read(call)
        except FrameUnreadable:
            logger.warning("bot %s was called with something that is not a report", self._link.bot_id)
            return HookResponse(200)  # an error status would only make Slack repeat it
        if payload.get("type") == "url_verification":
            return HookResponse(200, text(payload, "challenge"))
        if payload.get("type") == "app_rate_limited":
            self._link.report_status("connected", "Slack leaves out events, because there are more than 30,000 an hour")
            return HookResponse(200)
        try:
            await self._processor.store(kind, payload)
        except StorageFailed as error:
            return HookResponse(503, error.message)
        return HookResponse(200)


def _read(call: HookCall) -> tuple[str, Payload]:
    """Returns the kind and the content of a call. Raises FrameUnreadable."""
    if not call.headers.get("content-type", "").startswith(FORM_TYPE):
        return EVENT, read_frame(call.body)
    form = {name: values[0] for name, values in parse_qs(call.body.decode(errors="replace")).items()}
    return (INTERACTIVE, read_frame(form["payload"])) if "payload" in form else (COMMAND, dict(form))
