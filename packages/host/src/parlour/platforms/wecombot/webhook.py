"""Receives the encrypted calls of WeCom for an AI bot: messages, events, and questions for the text of an answer."""

from parlour.core.journal import StorageFailed
from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.core.platforms.port import HostLink
from parlour.platforms._kit.encrypted_callbacks import CallbackCipher
from parlour.platforms._kit.encrypted_calls import EncryptedCalls, refuse
from parlour.platforms._kit.json_frames import FrameUnreadable, read_frame
from parlour.platforms._kit.login import required
from parlour.platforms._kit.payloads import Payload, object_in, text
from parlour.platforms._kit.turns import Turns
from parlour.platforms._kit.webhooks import WebhookRejected

from .api import WecomBotApi
from .callbacks import WecomBotCallbacks
from .decode import chat_of, decode, event_kind
from .entities import FEEDBACK_PREFIX
from .files import WecomBotFiles
from .replies import Replies, stream_of_message

COMPANY = ""
"""The receiver of the calls of an AI bot of the company's own."""


class WecomBotWebhook:
    """Handles the calls for one bot."""

    def __init__(
        self, link: HostLink, api: WecomBotApi, replies: Replies, callbacks: WecomBotCallbacks, files: WecomBotFiles
    ) -> None:
        token = required(link, "token", "the token is needed, from the page of the bot where the address is entered")
        key = required(link, "encoding_aes_key", "the EncodingAESKey is needed, from the same page as the token")
        self._link = link
        self._api = api
        self._replies = replies
        self._callbacks = callbacks
        self._files = files
        self._calls = EncryptedCalls(CallbackCipher(token, key, COMPANY))
        self._turns = Turns()
        self._robot_name = str(link.config.get("robot_name") or "").strip()
        self._welcome = str(link.config.get("welcome_message") or "").strip()
        self._asks_for_feedback = link.config.get("feedback_buttons") is not False

    def verify(self, call: HookCall) -> HookResponse:
        """Answers the check of the address."""
        return self._calls.answer_check(call)

    async def hook(self, call: HookCall) -> HookResponse:
        try:
            content = self._calls.read_message(call)
        except WebhookRejected as rejected:
            return refuse(rejected)
        try:
            body = read_frame(content)
        except FrameUnreadable:
            body = {"unreadable": content[:1000].decode(errors="replace")}
        if body.get("msgtype") == "stream":
            stream = self._callbacks.poll(text(object_in(body, "stream"), "id"))
            return self._reply(call, {"msgtype": "stream", "stream": stream})
        try:
            async with self._turns.turn(chat_of(body)):
                await self._store(body)
        except StorageFailed as error:
            return HookResponse(503, error.message)
        answer = self._event_answer(body) if body.get("msgtype") == "event" else self._first_answer(body)
        return self._reply(call, answer) if answer else HookResponse()

    def _reply(self, call: HookCall, answer: Payload) -> HookResponse:
        return self._calls.json_reply(answer, call.query.get("nonce", ""))

    async def _store(self, body: Payload) -> None:
        """Stores a message with the ids under which answers are shown, also after a restart."""
        completed, cursor = await self._files.complete(body), None
        chat_id, message_id = chat_of(body), text(body, "msgid")
        if chat_id and message_id and body.get("msgtype") != "event":
            cursor = self._replies.dump(chat_id, message_id)
            self._replies.received(chat_id, message_id)
            self._callbacks.heard(chat_id, text(body, "response_url"))
        await self._link.receive(decode(completed, self._link.bot_id, self._robot_name), cursor=cursor)

    def _first_answer(self, body: Payload) -> Payload:
        """Returns the beginning of an answer, for whose text WeCom then asks; the same for a repeated call."""
        message_id = text(body, "msgid")
        if not message_id or not chat_of(body):
            return {}
        stream = self._callbacks.poll(stream_of_message(message_id))
        if self._asks_for_feedback:
            stream["feedback"] = {"id": f"{FEEDBACK_PREFIX}{stream['id']}"}
        return {"msgtype": "stream", "stream": stream}

    def _event_answer(self, body: Payload) -> Payload:
        """Returns what a user sees at once: a greeting, or the buttons of a card as used."""
        kind, event = event_kind(body), object_in(body, "event")
        if kind == "enter_chat" and self._welcome:
            return {"msgtype": "text", "text": {"content": self._welcome}}
        if kind == "template_card_event":
            return self._api.used_card(text(object_in(event, kind), "task_id"))
        return {}
