"""The simulated Feishu as a whole: API, long connection, callbacks, and what its users do."""

import base64
import hashlib
import itertools
import json
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import BodyPartReader, ClientSession, web
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from parlour.testing.simulator import Outcome, PlatformSimulator, RateWindows, SimulatorFaults, SimulatorServer
from parlour.testing.simulator.server import answer_call

from .calls import LarkCalls
from .cards import LarkCards
from .checks import buttons_of
from .connection import LongConnectionServer
from .world import BOT, TENANT, Json, LarkRefusal, LarkWorld, SentLarkMessage

APP_ID, APP_SECRET = "cli_9f5343c580712544", "the-secret-of-the-app"
ENCRYPT_KEY, VERIFICATION_TOKEN, APP_TICKET = "the-encrypt-key", "the-verification-token", "the-app-ticket"
ID = "([^/]+)"
CALLS: list[tuple[str, str, str]] = [
    ("POST", "im/v1/messages", "message_send"), ("POST", f"im/v1/messages/{ID}/reply", "message_reply"),
    ("GET", f"im/v1/messages/{ID}", "message_get"), ("PUT", f"im/v1/messages/{ID}", "message_edit"),
    ("PATCH", f"im/v1/messages/{ID}", "message_patch"), ("DELETE", f"im/v1/messages/{ID}", "message_delete"),
    ("POST", f"im/v1/messages/{ID}/forward", "message_forward"),
    ("GET", f"im/v1/messages/{ID}/resources/{ID}", "resource"),
    ("POST", f"im/v1/messages/{ID}/reactions", "reaction_add"),
    ("GET", f"im/v1/messages/{ID}/reactions", "reaction_list"),
    ("DELETE", f"im/v1/messages/{ID}/reactions/{ID}", "reaction_delete"),
    ("POST", "im/v1/images", "image_upload"), ("POST", "im/v1/files", "file_upload"),
    ("GET", "bot/v3/info", "bot_info"),
    ("GET", "im/v1/chats", "chat_list"), ("GET", f"im/v1/chats/{ID}", "chat_get"),
    ("PUT", f"im/v1/chats/{ID}", "chat_update"),
    ("GET", f"im/v1/chats/{ID}/members", "chat_members"), ("DELETE", f"im/v1/chats/{ID}/members", "chat_remove"),
    ("GET", f"contact/v3/users/{ID}", "user_get"),
    ("POST", "cardkit/v1/cards", "card_create"), ("POST", "cardkit/v1/cards/id_convert", "card_convert"),
    ("PUT", f"cardkit/v1/cards/{ID}", "card_replace"), ("PATCH", f"cardkit/v1/cards/{ID}/settings", "card_settings"),
    ("PUT", f"cardkit/v1/cards/{ID}/elements/{ID}/content", "card_write"),
]  # fmt: skip
SENDS = ("message_send", "message_reply")


@dataclass
class LarkFaults(SimulatorFaults[LarkRefusal]):
    """The faults of the simulated Feishu."""

    def refuse(self, call: str, code: int, times: int = 1) -> None:
        self.refuse_with(call, LarkRefusal(code), times)

    def too_many(self, call: str, seconds: float) -> None:
        self.refuse_with(call, LarkRefusal(99991400, "request trigger frequency limit", 429, seconds))


class LarkSimulator(PlatformSimulator[SentLarkMessage, LarkRefusal]):
    def __init__(self) -> None:
        self.world = LarkWorld()
        self.faults = LarkFaults()
        super().__init__(self.faults, self.world.sent)
        self.calls = LarkCalls(self.world)
        self.cards = LarkCards(self.world)
        self.connection = LongConnectionServer(self.notify)
        self.rates = RateWindows()
        self.sends_per_second = 5.0
        self.made: list[str] = []
        self.tokens: dict[str, str] = {}
        """Tenants by their valid access tokens."""
        self.endpoint_code = 0
        self.tickets_asked = 0
        self.request_url = ""
        """Where events are sent as calls; empty for the long connection."""
        self.encrypt_key = ENCRYPT_KEY
        self.responses: list[tuple[int, Any]] = []
        self.reported: list[Any] = []
        self.server = SimulatorServer()
        self.server.route("POST", "/callback/ws/endpoint", self._endpoint)
        self.server.route("POST", "/open-apis/auth/v3/{path:.*}", self._authenticate)
        self.server.route("*", "/open-apis/{path:.*}", self._call)
        self.server.route_socket("/ws/v2", self.connection.serve)
        self._numbers = itertools.count(1)

    @asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator[str]:
        async with self.server.listening(port) as address:
            self.connection.address = f"ws{address.removeprefix('http')}"
            try:
                yield address
            finally:
                await self.end_tasks()

    def chat_of(self, message: SentLarkMessage) -> str:
        return message.chat

    # --- the API

    async def _endpoint(self, request: web.Request) -> web.Response:
        body = await request.json()
        code = self.endpoint_code
        if (body.get("AppID"), body.get("AppSecret")) != (APP_ID, APP_SECRET):
            code = 514
        if code:
            return web.json_response({"code": code, "msg": "refused", "data": None})
        config = {
            "ReconnectCount": -1, "ReconnectInterval": 1, "ReconnectNonce": 0,
            "PingInterval": self.connection.ping_interval,
        }  # fmt: skip
        return web.json_response({"code": 0, "msg": "", "data": {"URL": self.connection.url(), "ClientConfig": config}})

    async def _authenticate(self, request: web.Request) -> web.Response:
        body, path = await request.json(), request.match_info["path"]
        is_known = (body.get("app_id"), body.get("app_secret")) == (APP_ID, APP_SECRET)
        tenant = ""
        if path == "tenant_access_token":
            is_known, tenant = body.get("app_access_token") == "a-app-token", body.get("tenant_key", "")
        if path == "app_access_token" and body.get("app_ticket") != APP_TICKET:
            is_known = False
        if not is_known:
            return web.json_response({"code": 10003, "msg": "invalid app_id or app_secret"}, status=400)
        if path == "app_ticket/resend":
            self.tickets_asked += 1
            await self.notify()
            return web.json_response({"code": 0, "msg": "success"})
        if path == "app_access_token":
            return web.json_response({"code": 0, "msg": "ok", "app_access_token": "a-app-token", "expire": 7200})
        token = f"t-{tenant or 'own'}-{next(self._numbers)}"
        self.tokens[token] = tenant
        return web.json_response({"code": 0, "msg": "ok", "tenant_access_token": token, "expire": 7200})

    async def _call(self, request: web.Request) -> web.Response:
        name, ids = self._find(request.method, request.match_info["path"])
        call: Json = {"query": dict(request.query), "body": {}, "form": {}, "token": ""}
        if request.content_type == "multipart/form-data":
            call["form"] = await _form(request)
        elif request.can_read_body:
            call["body"] = await request.json()

        async def act() -> Any:
            token = request.headers.get("Authorization", "").removeprefix("Bearer").strip()
            if token not in self.tokens:
                raise LarkRefusal(99991663 if token else 99991661, "Invalid access token for authorization.")
            call["token"] = token
            if name in SENDS:
                self._count(str(call["body"].get("receive_id") or ids))
            return await self._handler(name)(call, *ids)

        self.made.append(name)
        outcome = await self.perform("message_send" if name in SENDS else name, act, LarkRefusal)

        def answer(outcome: Outcome[LarkRefusal]) -> web.Response:
            return _answer(outcome, name)

        return await answer_call(request, outcome, answer, self.notify)

    def _find(self, method: str, path: str) -> tuple[str, tuple[str, ...]]:
        for verb, pattern, name in CALLS:
            match = re.fullmatch(pattern, path) if verb == method else None
            if match:
                return name, match.groups()
        return "unknown", ()

    def _handler(self, name: str) -> Callable[..., Awaitable[Any]]:
        for part in (self.calls, self.cards):
            if hasattr(part, name):
                return getattr(part, name)  # type: ignore[no-any-return]
        raise LarkRefusal(404, "no such call", 404)

    def _count(self, place: str) -> None:
        if wait := self.rates.seconds_to_wait({place: (self.sends_per_second, 1.0)}):
            raise LarkRefusal(230020, "The chat receives too many messages", 400, wait)

    # --- reports

    def event(self, event_type: str, event: Json, tenant: str = TENANT) -> Json:
        """Returns an event in the form in which Lark reports it."""
        header = {
            "event_id": f"event-{next(self._numbers)}", "event_type": event_type, "token": VERIFICATION_TOKEN,
            "create_time": str(round(time.time() * 1000)), "app_id": APP_ID, "tenant_key": tenant,
        }  # fmt: skip
        return {"schema": "2.0", "header": header, "event": event}

    async def report(self, event_type: str, event: Json) -> None:
        for each in self.scheduled(self.event(event_type, event)):
            self.reported.append(await self.deliver(each))
        await self.notify()

    async def deliver(self, report: Json) -> Any:
        if not self.request_url:
            return await self.connection.report(report)
        return await self.call_bot(report)

    def callback(self, report: Json, key: str | None = None, age: float = 0.0) -> tuple[bytes, dict[str, str]]:
        """Returns body and headers of a call: encrypted and signed, or as it is without a key."""
        key = self.encrypt_key if key is None else key
        body = json.dumps(report, ensure_ascii=False).encode()
        headers = {"content-type": "application/json"}
        if key:
            body = json.dumps({"encrypt": encrypt(key, body)}).encode()
            moment, nonce = str(int(time.time() - age)), os.urandom(8).hex()
            signature = hashlib.sha256((moment + nonce + key).encode() + body).hexdigest()
            headers |= {
                "x-lark-request-timestamp": moment, "x-lark-request-nonce": nonce, "x-lark-signature": signature,
            }  # fmt: skip
        return body, headers

    async def call_bot(self, report: Json, key: str | None = None, age: float = 0.0) -> int:
        """Calls the bot's address and returns the status."""
        body, headers = self.callback(report, key, age)
        async with ClientSession() as session, session.post(self.request_url, data=body, headers=headers) as response:
            text = await response.text()
            self.responses.append((response.status, json.loads(text) if text.startswith("{") else text))
            return response.status

    # --- what users do

    def received(self, message: Json, mentions: list[Json] | None = None) -> Json:
        """Returns a user's message as Lark reports it."""
        user_id, chat_id = message["sender"]["id"], message["chat_id"]
        kept = ("message_id", "root_id", "parent_id", "create_time", "update_time", "chat_id", "thread_id")
        shown = {name: message[name] for name in kept if name in message}
        mode = self.world.chats[chat_id]["chat_mode"]
        shown |= {
            "chat_type": "p2p" if mode == "p2p" else "group", "message_type": message["msg_type"],
            "content": message["body"]["content"], "mentions": mentions or [],
        }  # fmt: skip
        sender = {
            "sender_id": {"open_id": user_id, "union_id": "on_x"},
            "sender_type": message["sender"]["sender_type"],
        }
        return {"sender": {**sender, "tenant_key": TENANT}, "message": shown}

    async def say(self, text: str, user_id: str, chat_id: str, at_bot: bool = False, **fields: Any) -> Json:
        mentions = [self.mention("@_user_1", BOT, "Parlour")] if at_bot else []
        content = {"text": f"@_user_1 {text}" if at_bot else text}
        return await self.write("text", content, user_id, chat_id, mentions, **fields)

    async def write(
        self, kind: str, content: Json, user_id: str, chat_id: str, mentions: list[Json] | None = None, **fields: Any
    ) -> Json:
        message = self.world.write(chat_id, user_id, kind, content, **fields)
        await self.report("im.message.receive_v1", self.received(message, mentions))
        return message

    def mention(self, key: str, user_id: str, name: str) -> Json:
        return {
            "key": key,
            "id": {"open_id": user_id, "union_id": "on_x", "user_id": ""},
            "name": name,
            "tenant_key": TENANT,
        }

    async def press(self, message: SentLarkMessage, label: str, user_id: str) -> None:
        """Lets a user press a button of a card."""
        button = next(each for each in buttons_of(message.card) if each["text"]["content"] == label)
        value = next(each["value"] for each in button["behaviors"] if each["type"] == "callback")
        event = {
            "operator": {"open_id": user_id, "union_id": "on_x", "tenant_key": TENANT},
            "token": f"c-{os.urandom(8).hex()}", "action": {"tag": "button", "value": value}, "host": "im_message",
            "context": {"open_message_id": message.id, "open_chat_id": message.payload["chat_id"]},
        }  # fmt: skip
        await self.report("card.action.trigger", event)


def encrypt(key: str, content: bytes) -> str:
    iv, size = os.urandom(16), 16 - len(content) % 16
    encryptor = Cipher(algorithms.AES(hashlib.sha256(key.encode()).digest()), modes.CBC(iv)).encryptor()
    return base64.b64encode(iv + encryptor.update(content + bytes([size]) * size) + encryptor.finalize()).decode()


async def _form(request: web.Request) -> Json:
    """Reads a form. lark-oapi sends files without a name of their own."""
    form: Json = {}
    reader = await request.multipart()
    while isinstance(part := await reader.next(), BodyPartReader):
        data = bytes(await part.read())
        name = part.name or ""
        form[name] = (part.filename or "", data) if name in ("file", "image") else data.decode()
    return form


def _answer(outcome: Outcome[LarkRefusal], name: str) -> web.Response:
    refusal = outcome.refusal
    if refusal is None:
        if isinstance(outcome.result, bytes):
            return web.Response(body=outcome.result, content_type="application/octet-stream")
        place = "bot" if name == "bot_info" else "data"
        return web.json_response({"code": 0, "msg": "success", place: outcome.result})
    headers = {"X-Tt-Logid": "20260517"}
    if refusal.retry_after is not None:
        headers["x-ogw-ratelimit-reset"] = f"{refusal.retry_after:.2f}"
    return web.json_response({"code": refusal.code, "msg": refusal.message}, status=refusal.status, headers=headers)
