"""The simulated LINE as a whole: the Messaging API, signed calls of the bot, and what its users do."""

import asyncio
import base64
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import inf
from typing import Any

from aiohttp import ClientError, ClientSession, web

from parlour.testing.simulator import (
    Outcome,
    PlatformSimulator,
    RateWindows,
    SimulatorFaults,
    SimulatorServer,
    SingleUseTokens,
)
from parlour.testing.simulator.server import answer_call
from parlour.testing.simulator.validation import InvalidRequest

from .forms import ID, RETRY_KEY, check_body, check_messages, invalid
from .world import BOT_USER, Json, LineRefusal, LineWorld, SentLineMessage

ACCESS_TOKEN, CHANNEL_SECRET = "the-long-lived-channel-access-token", "the-channel-secret-of-line"
REPLY_TOKEN_SECONDS = 60.0
"""Seconds for which a reply token is accepted after the call that delivered its event."""
REDELIVERY_SECONDS = 0.3
QUICK_SECONDS = 1.0
PUSHES = (2000.0, 1.0)
QUOTABLE = ("text", "sticker", "image", "video")
FILE_KINDS = ("image", "video", "audio")


@dataclass
class LineFaults(SimulatorFaults[LineRefusal]):
    """The faults of the simulated LINE."""

    def refuse(self, call: str, status: int = 400, message: str = "The request body has 1 error(s)") -> None:
        self.refuse_with(call, LineRefusal(status, message))

    def too_many(self, call: str) -> None:
        self.refuse_with(call, LineRefusal(429, "The API rate limit has been exceeded. Try again later."))


class LineSimulator(PlatformSimulator[SentLineMessage, LineRefusal]):
    def __init__(self) -> None:
        self.world = LineWorld()
        self.faults = LineFaults()
        super().__init__(self.faults, self.world.sent)
        self.reply_tokens = SingleUseTokens()
        self.reply_token_seconds = REPLY_TOKEN_SECONDS
        self._issued: dict[str, tuple[float, str]] = {}
        """When each reply token was delivered last, and its chat."""
        self._accepted: dict[str, Json] = {}
        """Answers to pushes by retry key."""
        self.request_url = ""
        """The bot's address."""
        self.endpoint: Json | None = None
        """The webhook settings of the channel; None for the bot's address, switched on."""
        self.public_address, self.real_address = "https://media.parlour.test", ""
        """A public address of the Host, and the one at which it is reached in the test."""
        self.redelivers = True
        self.reported: list[Json] = []
        """Events of users' messages, in order."""
        self.waiting: set[str] = set()
        """Ids of events whose calls were not answered with 200."""
        self.responses: list[tuple[int, float]] = []
        """Status and seconds of each answer to a call."""
        self.quota: int | None = None
        self.used = 0
        self.rates = RateWindows()
        self.limit = PUSHES
        self.made: list[str] = []
        self.server = SimulatorServer()
        self._add_routes()

    @asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator[str]:
        async with self.server.listening(port) as address:
            try:
                yield address
            finally:
                await self.end_tasks()

    # --- the Messaging API

    def _add_routes(self) -> None:
        calls: dict[tuple[str, str], Callable[[web.Request], Awaitable[Any]]] = {
            ("POST", "/v2/bot/message/reply"): self._reply,
            ("POST", "/v2/bot/message/push"): self._push,
            ("POST", "/v2/bot/chat/loading/start"): self._loading,
            ("GET", "/v2/bot/info"): self._info,
            ("GET", "/v2/bot/message/quota"): self._quota,
            ("GET", "/v2/bot/message/quota/consumption"): self._consumption,
            ("GET", "/v2/bot/channel/webhook/endpoint"): self._endpoint,
            ("GET", "/v2/bot/profile/{user}"): self._profile,
            ("GET", "/v2/bot/{kind}/{chat}/member/{user}"): self._member,
            ("GET", "/v2/bot/{kind}/{chat}/members/count"): self._count,
            ("GET", "/v2/bot/group/{chat}/summary"): self._summary,
            ("POST", "/v2/bot/{kind}/{chat}/leave"): self._leave,
        }
        for (method, path), action in calls.items():
            self.server.route(method, path, self._call(path.rpartition("/")[2], action))
        self.server.route("GET", "/v2/bot/message/{message}/content", self._content)

    def _call(self, name: str, action: Callable[[web.Request], Awaitable[Any]]) -> Any:
        async def handle(request: web.Request) -> web.Response:
            async def act() -> Any:
                self._authorize(request)
                return await action(request)

            self.made.append(name)
            outcome = await self.perform(name, act, LineRefusal)
            return await answer_call(request, outcome, _answer, self.notify)

        return handle

    def _authorize(self, request: web.Request) -> None:
        if request.headers.get("Authorization") != f"Bearer {ACCESS_TOKEN}":
            problem = "Authentication failed. Confirm that the access token in the authorization header is valid."
            raise LineRefusal(401, problem)

    async def _reply(self, request: web.Request) -> Json:
        if "X-Line-Retry-Key" in request.headers:
            raise LineRefusal(400, "The retry key is not supported by this API")
        body = check_body(await _json(request), {"replyToken", "messages"}, {"notificationDisabled"})
        token = body["replyToken"]
        delivered_at, chat_id = self._issued.get(token, (-inf, ""))
        if time.monotonic() > delivered_at + self.reply_token_seconds:
            raise LineRefusal(400, "Invalid reply token")
        messages = check_messages(body["messages"], self.world, self.world.chat(chat_id))
        try:
            self.reply_tokens.use(token)
        except InvalidRequest:
            raise LineRefusal(400, "Invalid reply token") from None
        return await self._show(chat_id, messages, is_reply=True)

    async def _push(self, request: web.Request) -> Json:
        key = request.headers.get("X-Line-Retry-Key", "")
        if key and not RETRY_KEY.fullmatch(key):
            raise LineRefusal(400, "The retry key must be a UUID")
        if key in self._accepted:
            raise LineRefusal(409, "The retry key is already accepted", **self._accepted[key])
        body = check_body(await _json(request), {"to", "messages"}, {"notificationDisabled", "customAggregationUnits"})
        if not isinstance(body["to"], str) or not ID.fullmatch(body["to"]) or body["to"] not in self.world.chats:
            raise invalid(("to", "The property, 'to', in the request body is invalid"))
        messages = check_messages(body["messages"], self.world, self.world.chat(body["to"]))
        if self.rates.seconds_to_wait({"push": self.limit}):
            raise LineRefusal(429, "The API rate limit has been exceeded. Try again later.")
        if self.quota is not None and self.used >= self.quota:
            raise LineRefusal(429, "You have reached your monthly limit.")
        self.used += 1
        answer = await self._show(body["to"], messages, is_reply=False)
        if key:
            self._accepted[key] = answer
        return answer

    async def _show(self, chat_id: str, messages: list[Json], is_reply: bool) -> Json:
        shown = []
        for payload in messages:
            message = SentLineMessage(payload, chat_id, self.world.message_id(), is_reply)
            if payload["type"] in FILE_KINDS:
                message.content = await self._fetch(payload["originalContentUrl"])
            self.world.sent.append(message)
            quote = {"quoteToken": self.world.quote_token(message.message_id)} if "text" in payload else {}
            shown.append({"id": message.message_id, **quote})
        return {"sentMessages": shown}

    async def _fetch(self, url: str) -> bytes:
        """Fetches a file as LINE does, without any credentials."""
        if not url.startswith(self.public_address):
            return b""
        address = url.replace(self.public_address, self.real_address, 1)
        async with ClientSession() as session, session.get(address) as response:
            return await response.read() if response.status == 200 else b""

    async def _loading(self, request: web.Request) -> Json:
        body = check_body(await _json(request), {"chatId"}, {"loadingSeconds"})
        seconds = body.get("loadingSeconds", 20)
        if seconds not in range(5, 61, 5):
            raise invalid(("loadingSeconds", "Must be a multiple of 5 between 5 and 60"))
        if body["chatId"] not in self.world.users:
            raise invalid(("chatId", "Must be a user"))
        self.world.typing.append(body["chatId"])
        return {}

    async def _info(self, request: web.Request) -> Json:
        return {"userId": BOT_USER, "basicId": "@parlour", "displayName": "Parlour", "chatMode": "bot",
                "markAsReadMode": "auto"}  # fmt: skip

    async def _quota(self, request: web.Request) -> Json:
        return {"type": "none"} if self.quota is None else {"type": "limited", "value": self.quota}

    async def _consumption(self, request: web.Request) -> Json:
        return {"totalUsage": self.used}

    async def _endpoint(self, request: web.Request) -> Json:
        return self.endpoint or {"endpoint": self.request_url, "active": True}

    async def _profile(self, request: web.Request) -> Json:
        return self._known_user(request.match_info["user"])

    async def _member(self, request: web.Request) -> Json:
        chat, user_id = self._group(request), request.match_info["user"]
        if user_id not in chat.members:
            raise LineRefusal(404, "Not found")
        return self._known_user(user_id)

    async def _count(self, request: web.Request) -> Json:
        return {"count": len(self._group(request).members)}

    async def _summary(self, request: web.Request) -> Json:
        chat = self.world.chat(request.match_info["chat"])
        return {"groupId": chat.id, "groupName": chat.name, "pictureUrl": f"https://obs.line-scdn.net/{chat.id}"}

    async def _leave(self, request: web.Request) -> Json:
        del self.world.chats[self._group(request).id]
        return {}

    def _group(self, request: web.Request) -> Any:
        chat = self.world.chat(request.match_info["chat"])
        if chat.kind != request.match_info["kind"]:
            raise LineRefusal(404, "Not found")
        return chat

    def _known_user(self, user_id: str) -> Json:
        if user_id not in self.world.users:
            raise LineRefusal(404, "Not found")
        return self.world.users[user_id]

    async def _content(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {ACCESS_TOKEN}":
            return web.json_response({"message": "Authentication failed"}, status=401)
        message_id = request.match_info["message"]
        if self.world.preparing.get(message_id, 0) > 0:
            self.world.preparing[message_id] -= 1
            return web.json_response({}, status=202)
        data = self.world.contents.get(message_id)
        return web.Response(body=data) if data is not None else web.json_response({"message": "Gone"}, status=410)

    # --- calls of the bot

    def event(self, kind: str, chat_id: str, user_id: str, answerable: bool = True, **fields: Any) -> Json:
        """Returns an event in the form in which LINE reports it."""
        event: Json = {
            "type": kind, "mode": "active", "timestamp": round(time.time() * 1000),
            "source": self.world.source(chat_id, user_id), "webhookEventId": f"01{self.world.number():024}",
            "deliveryContext": {"isRedelivery": False}, **fields,
        }  # fmt: skip
        if answerable:
            token = self.reply_tokens.issue()
            self._issued[token] = (time.monotonic(), chat_id)
            event["replyToken"] = token
        return event

    async def report(self, *events: Any) -> None:
        """Calls the bot with events, and again until it answers 200 if redelivery is on. Goes on without the answer
        if that takes long.
        """
        for each in self.scheduled(list(events)):
            work = self.begin(self._deliver(each))
            await asyncio.wait([work], timeout=QUICK_SECONDS)
        await self.notify()

    async def _deliver(self, events: list[Any]) -> None:
        ids = {str(each.get("webhookEventId")) for each in events if isinstance(each, dict)}
        self.waiting |= ids
        while await self._attempt({"destination": BOT_USER, "events": events}) != 200 and self.redelivers:
            await asyncio.sleep(REDELIVERY_SECONDS)
            events = [redelivered(each) for each in events]
        self.waiting -= ids
        await self.notify()

    async def _attempt(self, payload: Json) -> int:
        for each in payload["events"]:  # a token counts from the call that delivers it, not from the event
            token = each.get("replyToken") if isinstance(each, dict) else None
            if token in self._issued:
                self._issued[token] = (time.monotonic(), self._issued[token][1])
        try:
            return await self.call_bot(payload)
        except (ClientError, OSError):
            return 0

    async def call_bot(self, payload: Any, secret: str = CHANNEL_SECRET) -> int:
        """Calls the bot's address, signed, and returns the status."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload, ensure_ascii=False).encode()
        signature = base64.b64encode(hmac.new(secret.encode(), body, hashlib.sha256).digest()).decode()
        headers = {"Content-Type": "application/json; charset=utf-8", "X-Line-Signature": signature}
        started_at = time.monotonic()
        async with ClientSession() as session, session.post(self.request_url, data=body, headers=headers) as response:
            self.responses.append((response.status, time.monotonic() - started_at))
            return response.status

    # --- what users do

    def message(self, chat_id: str, user_id: str, **content: Any) -> Json:
        """Returns the event of a message of a user."""
        message_id = self.world.message_id()
        token = {"quoteToken": self.world.quote_token(message_id)} if content.get("type") in QUOTABLE else {}
        return self.event("message", chat_id, user_id, message={"id": message_id, **token, **content})

    async def say(self, text: str, user_id: str, chat_id: str, **fields: Any) -> Json:
        event = self.message(chat_id, user_id, type="text", text=text, **fields)
        self.reported.append(event)
        await self.report(event)
        return event

    async def send_file(self, kind: str, content: bytes, user_id: str, chat_id: str, **fields: Any) -> Json:
        provider = {"contentProvider": {"type": "line"}} if kind in FILE_KINDS else {}
        event = self.message(chat_id, user_id, type=kind, **provider, **fields)
        self.world.contents[event["message"]["id"]] = content
        await self.report(event)
        return event

    async def press(self, message: SentLineMessage, label: str, user_id: str) -> None:
        """Lets a user press a button of a message."""
        buttons = message.payload["contents"]["footer"]["contents"]
        action = next(each["action"] for each in buttons if each["action"]["label"] == label)
        await self.report(self.event("postback", message.chat, user_id, postback={"data": action["data"]}))


def redelivered(event: Json) -> Json:
    return {**event, "deliveryContext": {"isRedelivery": True}} if isinstance(event, dict) else event


async def _json(request: web.Request) -> Any:
    try:
        return await request.json()
    except ValueError:
        return None


def _answer(outcome: Outcome[LineRefusal]) -> web.Response:
    refusal = outcome.refusal
    if refusal is None:
        return web.json_response(outcome.result)
    return web.json_response(refusal.body(), status=refusal.status)
