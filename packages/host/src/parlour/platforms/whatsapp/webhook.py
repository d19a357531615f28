"""Receives the signed calls of WhatsApp: verifies them, stores their events with files, and only then acknowledges."""

import asyncio
import base64
import logging
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from parlour.core.journal import StorageFailed
from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.core.platforms.port import HostLink, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.json_frames import FrameUnreadable, read_frame
from parlour.platforms._kit.payloads import UNREADABLE, Payload, object_in, objects_in, text
from parlour.platforms._kit.turns import Turns
from parlour.platforms._kit.webhooks import WebhookRejected, verify_signature, verify_token

from .client import WhatsAppClient, explain_error
from .content import CONTENT, FILES, PROBLEM
from .decode import MESSAGE, STATUS, WhatsAppDecodeContext, decode, split_reports
from .deliveries import FAILED, DeliveryReports
from .entities import chat_of

logger = logging.getLogger(__name__)

SIGNATURE_HEADER = "x-hub-signature-256"
WRONG_SIGNATURE = "calls arrive with another signature; app_secret must be the secret of the app that has the webhook"
WRONG_TOKEN = "the webhook is being verified with another token; verify_token must be the one that is entered at Meta"


class WhatsAppWebhook:
    """Handles the calls for one phone number."""

    def __init__(
        self,
        link: HostLink,
        client: WhatsAppClient,
        deliveries: DeliveryReports,
        latest: BoundedMap[str, str],
        report_problem: Callable[[str], None],
    ) -> None:
        config = link.config
        self._link = link
        self._client = client
        self._deliveries = deliveries
        self._latest = latest
        self._report_problem = report_problem
        self._secret = str(config.get("app_secret") or "")
        self._verify_token = str(config.get("verify_token") or "")
        self._number_id = str(config.get("phone_number_id") or "").strip()
        self._reports_delivery = config.get("report_delivery") is True
        self._was_called = False
        """True after a call with a right signature: from then on a wrong one is another program's."""
        self._turns = Turns()
        self.own_number = ""

    def verify(self, call: HookCall) -> HookResponse:
        """Answers the question whether this is the right address, which Meta asks when it is entered."""
        if call.query.get("hub.mode") != "subscribe":
            return HookResponse(200, "this address takes the calls of WhatsApp")
        try:
            verify_token(call.query.get("hub.verify_token", ""), self._verify_token)
        except WebhookRejected as rejected:
            if not self._was_called:
                self._report_problem(WRONG_TOKEN)
            return HookResponse(403, str(rejected))
        self._report_problem("")
        return HookResponse(200, call.query.get("hub.challenge", ""))

    async def hook(self, call: HookCall) -> HookResponse:
        try:
            verify_signature(call.headers.get(SIGNATURE_HEADER, ""), self._secret, call.body, prefix="sha256=")
        except WebhookRejected as rejected:
            if not self._was_called:
                self._report_problem(WRONG_SIGNATURE)
            return HookResponse(401, str(rejected))
        if not self._was_called:
            self._was_called = True
            self._report_problem("")
        try:
            payload = read_frame(call.body)
        except FrameUnreadable:
            logger.warning("bot %s was called with something that is not a report", self._link.bot_id)
            return HookResponse(200)  # an error status would only make WhatsApp repeat it
        chats = defaultdict(list)
        for report in split_reports(payload, self._number_id):
            chats[_chat(report)].append(report)
        try:
            await asyncio.gather(*(self._store(chat, reports) for chat, reports in chats.items()))
        except StorageFailed as error:
            return HookResponse(503, error.message)
        return HookResponse(200)

    async def _store(self, chat: str, reports: list[Any]) -> None:
        """Stores the reports about a chat in their order, behind those of earlier calls."""
        async with self._turns.turn(chat):
            for report in reports:
                if isinstance(report, dict) and STATUS in report and not self._is_shown(object_in(report, STATUS)):
                    continue
                try:
                    report = await self._completed(report)
                except UNREADABLE:
                    logger.warning("a report for bot %s does not match WhatsApp's format", self._link.bot_id)
                context = WhatsAppDecodeContext(self._link.bot_id, self.own_number)
                await self._link.receive(decode(report, context))

    def _is_shown(self, status: Payload) -> bool:
        """Notes what became of a message. Returns whether an event reports it: a failure always, others if wanted."""
        self._deliveries.note(status)
        if status.get("status") != FAILED:
            return self._reports_delivery or not isinstance(status.get("status"), str)
        reason = next((explain_error(each) for each in objects_in(status, "errors")), "") or "WhatsApp gives no reason"
        self._report_problem(f"a message was not delivered: {reason}")
        return True

    async def _completed(self, report: Payload) -> Payload:
        """Adds the content of a file, or the reason why there is none."""
        message = object_in(report, MESSAGE)
        if message_id := text(message, "id"):
            self._latest.set(chat_of(message).id, message_id)
        if message.get("type") == "edit":
            edit = object_in(message, "edit")
            inner = await self._with_file(object_in(edit, "message"))
            return {**report, MESSAGE: {**message, "edit": {**edit, "message": inner}}}
        return {**report, MESSAGE: await self._with_file(message)} if message else report

    async def _with_file(self, message: Payload) -> Payload:
        kind = text(message, "type")
        media = object_in(message, kind)
        if kind not in FILES or not text(media, "id"):
            return message
        try:
            content = base64.b64encode(await self._client.download(text(media, "id"))).decode()
        except (PlatformRefused, PlatformUncertain) as error:
            return {**message, kind: {**media, PROBLEM: str(error)}}
        return {**message, kind: {**media, CONTENT: content}}


def _chat(report: Any) -> str:
    """Returns the chat of a report, which orders it among others."""
    try:
        return chat_of(report[MESSAGE]).id if MESSAGE in report else ""
    except UNREADABLE:
        return ""
