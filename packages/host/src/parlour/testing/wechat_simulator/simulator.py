"""The simulated gateway as a whole: the calls of the bot, and what users do."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from parlour.testing.simulator import Outcome, PlatformSimulator, SimulatorFaults, SimulatorServer
from parlour.testing.simulator.server import answer_call

from .checks import Json, WechatRefusal, check_headers, check_message, check_upload
from .files import SimulatedFiles
from .logins import SimulatedLogins

TOKEN, ACCOUNT, OWNER = "ilink-bot-token-of-the-account", "3c947a6d5e9d@im.bot", "o9cq80owner@im.wechat"
FIRST_ID = 7462301934458820000
HOLD_SECONDS = 30.0
WINDOW_MESSAGES, WINDOW_SECONDS = 10, 24 * 3600.0
OPEN_CALLS = ("get_bot_qrcode",)


@dataclass
class SentWechatMessage:
    """A message of the bot."""

    id: str
    chat: str
    item: Json
    client_id: str
    deleted: bool = False

    @property
    def text(self) -> str:
        return str(self.item["text_item"]["text"]) if self.item["type"] == 1 else ""


@dataclass
class ContextToken:
    """What a message of a user allows."""

    user: str
    opened_at: float
    used: int = 0


@dataclass
class WechatFaults(SimulatorFaults[WechatRefusal]):
    """The faults of the simulated WeChat."""

    def refuse(self, call: str, code: int, message: str = "refused", times: int = 1, status: int = 200) -> None:
        self.refuse_with(call, WechatRefusal(code, message, status), times)

    def too_many(self, call: str, seconds: float) -> None:
        self.refuse_with(call, WechatRefusal(-1, "too many calls", 429, seconds))


class WechatSimulator(PlatformSimulator[SentWechatMessage, WechatRefusal]):
    def __init__(self) -> None:
        self.messages: list[SentWechatMessage] = []
        self.faults = WechatFaults()
        super().__init__(self.faults, self.messages)
        self.tokens = {TOKEN}
        """Tokens that are accepted; any other one is stale."""
        self.feed: list[Any] = []
        self.reached = 0
        """Number of messages behind which the bot has asked."""
        self.hold_seconds = HOLD_SECONDS
        self.window_messages = WINDOW_MESSAGES
        self.contexts: dict[str, ContextToken] = {}
        self.tickets: dict[str, str] = {}
        self.typing: list[str] = []
        """Users who saw the bot typing."""
        self.made: list[str] = []
        self.answers_are_empty = False
        """True for an older server, which answers a message with an empty object."""
        self.logins = SimulatedLogins()
        self.server = SimulatorServer()
        self.files = SimulatedFiles(self._failed_transfer)
        self._numbers = itertools.count(1)
        self.server.route("POST", "/ilink/bot/{path:.*}", self._serve_call)
        self.server.route("GET", "/ilink/bot/get_qrcode_status", self._serve_call)
        self.server.route("POST", "/c2c/upload", self.files.upload)
        self.server.route("GET", "/c2c/download", self.files.download)

    @asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator[str]:
        async with self.server.listening(port) as address:
            self.files.base_url = f"{address}/c2c"
            self.logins.confirmed = {
                "bot_token": TOKEN, "ilink_bot_id": ACCOUNT, "baseurl": address, "ilink_user_id": OWNER,
            }  # fmt: skip
            try:
                yield address
            finally:
                await self.end_tasks()

    # --- calls of the bot

    async def _serve_call(self, request: web.Request) -> web.Response:
        path = request.match_info.get("path", "get_qrcode_status")
        self.made.append(path)

        async def act() -> Any:
            if path == "get_qrcode_status":
                return await self.logins.status(request)
            check_headers(request.headers)
            body = await request.json()
            information = body.get("base_info")
            if path not in OPEN_CALLS and not (isinstance(information, dict) and information.get("channel_version")):
                raise WechatRefusal(-1, "base_info")
            handler = getattr(self, f"call_{path.replace('/', '_')}", None)
            if handler is None:
                raise WechatRefusal(-1, "not found", 404)
            if path not in OPEN_CALLS:
                self._authorize(request)
            return await handler(body)

        outcome = await self.perform(path, act, WechatRefusal)
        return await answer_call(request, outcome, _answer, self.notify)

    def _authorize(self, request: web.Request) -> None:
        if request.headers.get("Authorization", "").removeprefix("Bearer ") not in self.tokens:
            raise WechatRefusal(-14, "session timeout")

    async def call_get_bot_qrcode(self, body: Json) -> Json:
        return self.logins.create(body)

    async def call_msg_notifystart(self, body: Json) -> Json:
        return {"ret": 0}

    async def call_msg_notifystop(self, body: Json) -> Json:
        return {"ret": 0}

    async def call_getupdates(self, body: Json) -> Json:
        position = str(body.get("get_updates_buf") or "p0")
        start = int(position.removeprefix("p"))
        self.reached = max(self.reached, start)
        await self.notify()
        try:
            async with asyncio.timeout(self.hold_seconds), self._changed:
                await self._changed.wait_for(lambda: len(self.feed) > start)
        except TimeoutError:
            return {"ret": 0, "msgs": [], "get_updates_buf": position}
        found = self.feed[start:]
        return {
            "ret": 0, "msgs": found, "get_updates_buf": f"p{start + len(found)}",
            "longpolling_timeout_ms": round(self.hold_seconds * 1000),
        }  # fmt: skip

    async def call_sendmessage(self, body: Json) -> Json:
        item = check_message(body.get("msg"))
        message = body["msg"]
        context = self.contexts.get(str(message.get("context_token")))
        if context is None or context.user != message["to_user_id"]:
            raise WechatRefusal(-2, "prepare failed")
        if context.used >= self.window_messages or time.monotonic() - context.opened_at > WINDOW_SECONDS:
            raise WechatRefusal(-2, "")
        context.used += 1
        number = self._next_id()
        self.messages.append(SentWechatMessage(str(number), message["to_user_id"], item, message["client_id"]))
        return {} if self.answers_are_empty else {"ret": 0, "message_id": number}

    async def call_getuploadurl(self, body: Json) -> Json:
        check_upload(body)
        return {"ret": 0, **self.files.announce(body)}

    async def call_getconfig(self, body: Json) -> Json:
        ticket = f"ticket-{next(self._numbers)}"
        self.tickets[ticket] = str(body.get("ilink_user_id"))
        return {"ret": 0, "typing_ticket": ticket}

    async def call_sendtyping(self, body: Json) -> Json:
        user = self.tickets.get(str(body.get("typing_ticket")))
        if user is None or user != body.get("ilink_user_id") or body.get("status") not in (1, 2):
            raise WechatRefusal(-1, "invalid ticket")
        self.typing.append(user)
        return {"ret": 0}

    def _failed_transfer(self, call: str) -> web.Response | None:
        """Returns the planned failure of an upload or download."""
        self.made.append(call)
        planned = self.faults.next_for(call)
        refusal = planned.refusal if planned is not None else None
        return web.Response(status=refusal.status, headers={"x-error-message": refusal.message}) if refusal else None

    # --- what users do

    def message(self, user: str, *items: Json, **fields: Any) -> Json:
        """Returns a message of a user as the gateway reports it. Its id is a number beyond those exact in JSON."""
        context = f"context-{next(self._numbers)}"
        self.contexts[context] = ContextToken(user, time.monotonic())
        return {
            "seq": next(self._numbers), "message_id": self._next_id(), "from_user_id": user, "to_user_id": ACCOUNT,
            "client_id": f"wx-{next(self._numbers)}", "create_time_ms": round(time.time() * 1000),
            "session_id": f"{user}#{ACCOUNT}", "message_type": 1, "message_state": 2, "context_token": context,
            "item_list": list(items), **fields,
        }  # fmt: skip

    async def say(self, text: str, user: str) -> None:
        await self.report(self.message(user, {"type": 1, "text_item": {"text": text}}))

    async def report(self, message: Any) -> None:
        """Adds a message to what the bot receives, perhaps twice or after the next one."""
        self.feed += self.scheduled(message)
        await self.notify()

    def unread(self) -> int:
        """Returns the number of messages that the gateway would report again."""
        return len(self.feed) - self.reached

    def _next_id(self) -> int:
        return FIRST_ID + next(self._numbers)


def _answer(outcome: Outcome[WechatRefusal]) -> web.Response:
    refusal = outcome.refusal
    if refusal is None:
        return web.json_response(outcome.result if outcome.result is not None else {})
    headers = {"Retry-After": f"{refusal.retry_after:g}"} if refusal.retry_after is not None else {}
    body = {"ret": refusal.code, "errmsg": refusal.message}
    return web.json_response(body, status=refusal.status, headers=headers)
