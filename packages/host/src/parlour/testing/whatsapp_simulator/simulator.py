"""The simulated WhatsApp as a whole: the Cloud API, signed calls of the bot, and what its users do."""

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import ClientError, ClientSession, web

from parlour.testing.simulator import Outcome, PlatformSimulator, RateWindows, SimulatorFaults, SimulatorServer
from parlour.testing.simulator.server import answer_call

from .forms import MEDIA_TYPES, check_message, invalid
from .world import (
    ACCOUNT_ID,
    NUMBER_ID,
    OWN_NUMBER,
    SHOWN_NUMBER,
    Json,
    SentWhatsAppMessage,
    WhatsAppRefusal,
    WhatsAppWorld,
    number_of,
    user_id,
)

ACCESS_TOKEN, APP_SECRET, VERIFY_TOKEN = "EAAJtheaccesstokenofasystemuser", "theappsecretofmeta", "a-token-of-my-choice"
WINDOW_SECONDS = 24 * 3600.0
REDELIVERY_SECONDS = 0.3
QUICK_SECONDS = 1.0
ACCOUNT_LIMIT, PAIR_LIMIT = (80.0, 1.0), (45.0, 6.0)


@dataclass
class WhatsAppFaults(SimulatorFaults[WhatsAppRefusal]):
    """The faults of the simulated WhatsApp."""

    def refuse(self, call: str, code: int = 131009, message: str = "Parameter value is not valid") -> None:
        self.refuse_with(call, WhatsAppRefusal(code, message))

    def too_many(self, call: str, retry_after: float) -> None:
        refusal = WhatsAppRefusal(131056, "(Business Account, Consumer Account) pair rate limit hit")
        refusal.retry_after = retry_after
        self.refuse_with(call, refusal)


class WhatsAppSimulator(PlatformSimulator[SentWhatsAppMessage, WhatsAppRefusal]):
    def __init__(self) -> None:
        self.world = WhatsAppWorld()
        self.faults = WhatsAppFaults()
        super().__init__(self.faults, self.world.sent)
        self.request_url = ""
        """The bot's address, as it is entered at Meta."""
        self.webhook: Json | None = None
        """The webhook configuration of the number; None for the bot's address."""
        self.closes_by_report = True
        """True if a message outside the window is accepted and reported as failed, as mostly; False for a refusal."""
        self.reports_sent = True
        self.redelivers = True
        self.last_call: Json = {}
        self.waiting: list[Json] = []
        """Calls that were not answered with 200 yet."""
        self.responses: list[tuple[int, float]] = []
        """Status and seconds of each answer to a call."""
        self.rates = RateWindows()
        self.pair_limit = PAIR_LIMIT
        self.now = time.time
        self.address = ""
        self.server = SimulatorServer()
        for method, path, handler in (
            ("POST", "/{version}/{number}/messages", self._on_messages),
            ("POST", "/{version}/{number}/media", self._api("media", self._upload)),
            ("GET", "/{version}/{number}/whatsapp_business_profile", self._api("profile", self._profile)),
            ("GET", "/{version}/{id}", self._api("object", self._object)),
            ("GET", "/attachments/{id}", self._content),
        ):
            self.server.route(method, path, handler)

    @asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator[str]:
        async with self.server.listening(port) as self.address:
            try:
                yield self.address
            finally:
                await self.end_tasks()

    # --- the Cloud API

    def _api(self, name: str, action: Callable[[web.Request], Awaitable[Any]]) -> Any:
        async def handle(request: web.Request) -> web.Response:
            return await self._perform(request, name, lambda: action(request))

        return handle

    async def _perform(self, request: web.Request, name: str, action: Callable[[], Awaitable[Any]]) -> web.Response:
        async def act() -> Any:
            _authorize(request)
            if request.match_info.get("number", NUMBER_ID) != NUMBER_ID:
                raise _unknown_object()
            return await action()

        outcome = await self.perform(name, act, WhatsAppRefusal)
        return await answer_call(request, outcome, _answer, self.notify)

    async def _on_messages(self, request: web.Request) -> web.Response:
        try:
            body = await request.json()
        except ValueError:
            body = None
        if isinstance(body, dict) and body.get("status") == "read":
            return await self._perform(request, "read", lambda: self._read(body))
        return await self._perform(request, "messages", lambda: self._message(body))

    async def _read(self, body: Json) -> Json:
        for name in sorted(set(body) - {"messaging_product", "status", "message_id", "typing_indicator"}):
            raise WhatsAppRefusal(100, "Invalid parameter", f'Unexpected key "{name}"')
        chat = self.world.received.get(body.get("message_id", ""))
        if chat is None:
            raise invalid("message_id", "is not a message of a user")
        self.world.read.append(body["message_id"])
        if "typing_indicator" in body:
            if body["typing_indicator"] != {"type": "text"}:
                raise invalid("typing_indicator", "must have the type text")
            self.world.typing.append(chat)
        return {"success": True}

    async def _message(self, body: Any) -> Json:
        message = check_message(body, self.world)
        chat = self._target(message)
        if self.rates.seconds_to_wait({"account": ACCOUNT_LIMIT}):
            raise WhatsAppRefusal(130429, "Rate limit hit", status=429)
        if self.rates.seconds_to_wait({f"pair {chat}": self.pair_limit}):
            raise WhatsAppRefusal(131056, "(Business Account, Consumer Account) pair rate limit hit")
        message_id = self.world.message_id()
        problem = self._problem(message, chat)
        if problem is not None and problem.code == 131047 and not self.closes_by_report:
            raise problem
        if problem is None:
            self._show(message, chat, message_id)
        if problem is not None or self.reports_sent:
            self._report_status(message, chat, message_id, problem)
        return {
            "messaging_product": "whatsapp",
            "contacts": [{"input": chat, "wa_id": chat}],
            "messages": [{"id": message_id}],
        }

    def _target(self, message: Json) -> str:
        """Returns the chat of a message. Raises WhatsAppRefusal if it names none."""
        kind, target = message.get("recipient_type", "individual"), message.get("to") or message.get("recipient")
        if kind not in ("individual", "group") or not isinstance(target, str) or not target:
            raise WhatsAppRefusal(131008, "Required parameter is missing", "to is required")
        if kind == "group":
            if target not in self.world.groups:
                raise invalid("to", "is not a group of the business")
            return target
        return number_of(target)

    def _problem(self, message: Json, chat: str) -> WhatsAppRefusal | None:
        """Returns why a message that is well formed does not arrive."""
        if chat not in self.world.users and chat not in self.world.groups:
            return WhatsAppRefusal(131026, "Message undeliverable")
        is_open = self.now() - self.world.wrote_at.get(chat, 0.0) < WINDOW_SECONDS
        if message["type"] != "template" and not is_open:
            details = "More than 24 hours have passed since the customer last replied to this number."
            return WhatsAppRefusal(131047, "Re-engagement message", details)
        return None

    def _show(self, message: Json, chat: str, message_id: str) -> None:
        kind = message["type"]
        if kind == "reaction":
            self.world.reactions.append((message["reaction"]["message_id"], message["reaction"]["emoji"]))
            return
        media = self.world.media.get(message[kind].get("id", "")) if kind in MEDIA_TYPES else None
        self.world.sent.append(SentWhatsAppMessage(message, chat, message_id, media.content if media else b""))

    def _report_status(self, message: Json, chat: str, message_id: str, problem: WhatsAppRefusal | None) -> None:
        status: Json = {
            "id": message_id,
            "status": "sent" if problem is None else "failed",
            "timestamp": str(round(self.now())),
            "recipient_id": chat,
            "recipient_type": message.get("recipient_type", "individual"),
        }
        if "biz_opaque_callback_data" in message:
            status["biz_opaque_callback_data"] = message["biz_opaque_callback_data"]
        if problem is not None:
            status["errors"] = [{"code": problem.code, "title": str(problem), "message": str(problem),
                                 "error_data": {"details": problem.details}}]  # fmt: skip
        if self.request_url:
            self.begin(self._deliver(call_body(self.value([chat], statuses=[status]))))

    async def _upload(self, request: web.Request) -> Json:
        form = await request.post()
        if form.get("messaging_product") != "whatsapp":
            raise WhatsAppRefusal(100, "The parameter messaging_product is required.")
        file = form.get("file")
        if not isinstance(file, web.FileField):
            raise WhatsAppRefusal(100, "The parameter file is required.")
        content = file.file.read()
        if not content:
            raise WhatsAppRefusal(131053, "Media upload error", "the file is empty")
        if len(content) > MEDIA_TYPES["document"][1]:
            raise WhatsAppRefusal(131053, "Media upload error", "the file is too large")
        return {"id": self.world.add_media(content, file.content_type)}

    async def _profile(self, request: web.Request) -> Json:
        return {"data": [{"messaging_product": "whatsapp", "about": "A bot", "email": "bot@example.com"}]}

    async def _object(self, request: web.Request) -> Json:
        """Answers for a number or a file, which have ids of the same form."""
        found = request.match_info["id"]
        if found == NUMBER_ID:
            known: Json = {
                "display_phone_number": SHOWN_NUMBER, "verified_name": "Parlour", "quality_rating": "GREEN",
                "throughput": {"level": "STANDARD"},
                "webhook_configuration": {"application": self.request_url} if self.webhook is None else self.webhook,
            }  # fmt: skip
            wanted = request.query.get("fields", "display_phone_number,verified_name").split(",")
            return {"id": NUMBER_ID, **{name: known[name] for name in wanted if name in known}}
        media = self.world.media.get(found)
        if media is None:
            raise _unknown_object()
        return {
            "messaging_product": "whatsapp", "id": found, "url": f"{self.address}/attachments/{found}",
            "mime_type": media.mime_type, "sha256": hashlib.sha256(media.content).hexdigest(),
            "file_size": len(media.content),
        }  # fmt: skip

    async def _content(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {ACCESS_TOKEN}":
            return web.Response(status=401)
        media = self.world.media.get(request.match_info["id"])
        if media is None:
            return web.Response(status=404)
        return web.Response(body=media.content, content_type=media.mime_type.partition(";")[0])

    # --- calls of the bot

    def value(self, users: list[str], **items: Any) -> Json:
        """Returns the value of a change of the field `messages`, with the contacts that belong to it."""
        contacts = [
            {"profile": {"name": self.world.users.get(each, "")}, "wa_id": each, "user_id": user_id(each)}
            for each in users
        ]
        metadata = {"display_phone_number": OWN_NUMBER, "phone_number_id": NUMBER_ID}
        return {"messaging_product": "whatsapp", "metadata": metadata, "contacts": contacts, **items}

    async def report(self, call: Json) -> None:
        """Calls the bot, and again until it answers 200 if redelivery is on. Goes on without the answer if that takes
        long.
        """
        for each in self.scheduled(call):
            work = self.begin(self._deliver(each))
            await asyncio.wait([work], timeout=QUICK_SECONDS)
        await self.notify()

    async def _deliver(self, call: Json) -> None:
        self.waiting.append(call)
        try:
            status = await self._attempt(call)
            while status != 200 and self.redelivers:
                await asyncio.sleep(REDELIVERY_SECONDS)
                status = await self._attempt(call)
        finally:
            self.waiting.remove(call)
        await self.notify()

    async def _attempt(self, call: Json) -> int:
        try:
            return await self.call_bot(call)
        except (ClientError, OSError):
            return 0

    async def call_bot(self, payload: Any, secret: str = APP_SECRET) -> int:
        """Calls the bot's address, signed, and returns the status."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        headers = {"Content-Type": "application/json", "X-Hub-Signature-256": f"sha256={signature}"}
        started_at = time.monotonic()
        async with ClientSession() as session, session.post(self.request_url, data=body, headers=headers) as response:
            self.responses.append((response.status, time.monotonic() - started_at))
            return response.status

    async def verify(self, token: str = VERIFY_TOKEN) -> tuple[int, str]:
        """Asks the bot's address whether it is right, as Meta does when it is entered."""
        query = {"hub.mode": "subscribe", "hub.verify_token": token, "hub.challenge": "1158201444"}
        async with ClientSession() as session, session.get(self.request_url, params=query) as response:
            return response.status, await response.text()

    # --- what users do

    def message(self, user: str, group: str = "", **content: Any) -> Json:
        """Returns a message of a user, and opens the window of its chat."""
        message_id = self.world.message_id()
        chat = group or user
        self.world.received[message_id] = chat
        self.world.wrote_at[chat] = self.now()
        place = {"group_id": group} if group else {}
        sender = {"from": user, "from_user_id": user_id(user)}
        return {**sender, "id": message_id, "timestamp": str(round(self.now())), **place, **content}

    async def post(self, message: Json) -> Json:
        """Reports a message of a user."""
        self.last_call = call_body(self.value([message.get("from", "")], messages=[message]))
        await self.report(self.last_call)
        return message

    async def say(self, text: str, user: str, group: str = "", **fields: Any) -> Json:
        return await self.post(self.message(user, group, type="text", text={"body": text}, **fields))

    async def send_file(
        self, kind: str, content: bytes, mime_type: str, user: str, group: str = "", **fields: Any
    ) -> Json:
        media_id = self.world.add_media(content, mime_type)
        media = {"id": media_id, "mime_type": mime_type, "sha256": hashlib.sha256(content).hexdigest(), **fields}
        return await self.post(self.message(user, group, type=kind, **{kind: media}))

    async def press(self, message: SentWhatsAppMessage, title: str, user: str, group: str = "") -> Json:
        """Lets a user press a button, or choose a row of a list."""
        action = message.payload["interactive"]["action"]
        kind = "button_reply" if "buttons" in action else "list_reply"
        choices = [each["reply"] for each in action.get("buttons", ())]
        choices += [row for section in action.get("sections", ()) for row in section["rows"]]
        chosen = next(each for each in choices if each["title"] == title)
        context = {"from": OWN_NUMBER, "id": message.message_id}
        interactive = {"type": kind, kind: {"id": chosen["id"], "title": title}}
        return await self.post(self.message(user, group, type="interactive", interactive=interactive, context=context))


def call_body(value: Any, field: str = "messages") -> Json:
    """Returns the body of a call with one change."""
    entry = {"id": ACCOUNT_ID, "changes": [{"field": field, "value": value}]}
    return {"object": "whatsapp_business_account", "entry": [entry]}


def _authorize(request: web.Request) -> None:
    if request.headers.get("Authorization") != f"Bearer {ACCESS_TOKEN}":
        raise WhatsAppRefusal(190, "Invalid OAuth access token - Cannot parse access token", status=401)


def _unknown_object() -> WhatsAppRefusal:
    problem = "Unsupported request. Object does not exist, or cannot be loaded due to missing permissions."
    return WhatsAppRefusal(100, problem, subcode=33)


def _answer(outcome: Outcome[WhatsAppRefusal]) -> web.Response:
    refusal = outcome.refusal
    if refusal is None:
        return web.json_response(outcome.result)
    headers = {"Retry-After": str(refusal.retry_after)} if refusal.retry_after else {}
    return web.json_response(refusal.body(), status=refusal.status, headers=headers)
