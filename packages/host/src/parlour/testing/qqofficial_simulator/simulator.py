"""The simulated QQ as a whole: what the bot calls, and what users do."""

import base64
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from parlour.testing.simulator import Outcome, PlatformSimulator, SimulatorFaults, SimulatorServer
from parlour.testing.simulator.server import answer_call

from .gateway import GatewayServer
from .rules import Json, QQSimulatorRefusal, ReplyRules
from .webhook import WebhookCaller

APP, SECRET, BOT = "102000001", "DG5g3B4j9X2KOErG", "11702"
TOKEN_SECONDS = 7200
MESSAGE_PATHS = {
    "users": "/v2/users/{chat}",
    "groups": "/v2/groups/{chat}",
    "channels": "/channels/{chat}",
    "dms": "/dms/{chat}",
}
MENTIONING = ("GROUP_AT_MESSAGE_CREATE", "AT_MESSAGE_CREATE")


@dataclass
class SentQQMessage:
    """A message of the bot."""

    id: str
    chat: str
    kind: str
    body: Json
    file: bytes = b""
    versions: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    """The numbers of the changes of a stream."""
    done: bool = True
    deleted: bool = False

    @property
    def text(self) -> str:
        if self.versions:
            return self.versions[-1]
        markdown = self.body.get("markdown", {}).get("content", "")
        return str(markdown or self.body.get("content") or "").strip()

    @property
    def buttons(self) -> list[Json]:
        rows = self.body.get("keyboard", {}).get("content", {}).get("rows", [])
        return [button for row in rows for button in row["buttons"]]


@dataclass
class QQFaults(SimulatorFaults[QQSimulatorRefusal]):
    def refuse(self, call: str, code: int, status: int = 400, times: int = 1) -> None:
        self.refuse_with(call, QQSimulatorRefusal(status, code), times)

    def too_many(self, call: str) -> None:
        self.refuse_with(call, QQSimulatorRefusal(429, 22009))


class QQSimulator(PlatformSimulator[SentQQMessage, QQSimulatorRefusal]):
    def __init__(self) -> None:
        self.messages: list[SentQQMessage] = []
        self.faults = QQFaults()
        super().__init__(self.faults, self.messages)
        self.server = SimulatorServer()
        self.rules = ReplyRules()
        self.made: list[str] = []
        self.tokens: dict[str, float] = {}
        self.files: dict[str, tuple[int, str, bytes]] = {}
        """Uploaded files by file_info: type, name and content."""
        self.served: dict[str, bytes] = {}
        self.acknowledged: list[str] = []
        self.reported: list[tuple[str, Any, str]] = []
        self.url = ""
        self.is_called = False
        """True if the bot is called instead of connecting to the gateway."""
        self._numbers = itertools.count(1)
        self.gateway = GatewayServer(self.notify, lambda token: self.tokens.get(token, 0) > time.monotonic())
        self.gateway.bot = {"id": BOT, "username": "小助手", "bot": True}
        self.webhook = WebhookCaller(APP, SECRET, self.notify)
        self._route()

    def _route(self) -> None:
        def add(
            verb: str, path: str, name: str, call: Callable[[web.Request], Awaitable[Any]], is_open: bool = False
        ) -> None:
            async def serve(request: web.Request) -> web.Response:
                self.made.append(name)

                async def act() -> Any:
                    if not is_open:
                        self._authorize(request)
                    return await call(request)

                outcome = await self.perform(name, act, QQSimulatorRefusal)
                return await answer_call(request, outcome, _answer, self.notify)

            self.server.route(verb, path, serve)

        add("POST", "/app/getAppAccessToken", "token", self._token, is_open=True)
        add("GET", "/gateway", "gateway", self._gateway_url)
        add("GET", "/gateway/bot", "gateway/bot", self._gateway_bot)
        add("GET", "/users/@me", "me", self._me)
        add("PUT", "/interactions/{id}", "interactions", self._interaction)
        for kind, path in MESSAGE_PATHS.items():
            add("POST", f"{path}/messages", "messages", self._sender(kind))
            add("DELETE", f"{path}/messages/{{id}}", "delete", self._delete)
            if kind in ("users", "groups"):
                add("POST", f"{path}/files", "files", self._upload)
        add("POST", "/v2/users/{chat}/stream_messages", "stream", self._stream)
        self.server.route_socket("/ws", self.gateway.serve)
        self.server.route("GET", "/media/{name}", self._serve_file)

    @asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator[str]:
        """Yields the address of the API."""
        async with self.server.listening(port) as address:
            self.url = address
            self.gateway.address = f"{address.replace('http', 'ws', 1)}/ws"
            try:
                yield address
            finally:
                await self.end_tasks()

    # --- calls

    def _authorize(self, request: web.Request) -> None:
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind != "QQBot" or self.tokens.get(token, 0) <= time.monotonic():
            raise QQSimulatorRefusal(401, 11244, "token expired")

    async def _token(self, request: web.Request) -> Json:
        body = await request.json()
        if (body.get("appId"), body.get("clientSecret")) != (APP, SECRET):
            raise QQSimulatorRefusal(200, 100016, "invalid appid or secret")
        token = f"token-{next(self._numbers)}"
        self.tokens[token] = time.monotonic() + TOKEN_SECONDS
        return {"access_token": token, "expires_in": str(TOKEN_SECONDS)}

    async def _gateway_url(self, request: web.Request) -> Json:
        return {"url": self.gateway.address}

    async def _gateway_bot(self, request: web.Request) -> Json:
        limit = {"total": 1000, "remaining": 900, "reset_after": 1000, "max_concurrency": 1}
        return {"url": self.gateway.address, "shards": 1, "session_start_limit": limit}

    async def _me(self, request: web.Request) -> Json:
        return self.gateway.bot

    async def _interaction(self, request: web.Request) -> None:
        assert (await request.json())["code"] == 0
        self.acknowledged.append(request.match_info["id"])

    def _sender(self, kind: str) -> Callable[[web.Request], Awaitable[Json]]:
        async def send(request: web.Request) -> Json:
            chat, file, body = request.match_info["chat"], b"", dict[str, Any]()
            if request.content_type.startswith("multipart"):
                form = await request.post()
                picture = form["file_image"]
                assert isinstance(picture, web.FileField)
                file, body = picture.file.read(), {name: each for name, each in form.items() if name != "file_image"}
            else:
                body = await request.json()
                self.rules.check_content(body)
            if body.get("msg_type") == 7:
                info = body["media"]["file_info"]
                if info not in self.files or not info.startswith(kind):
                    raise QQSimulatorRefusal(400, 40034012, "invalid file_info")
                file = self.files[info][2]
            self.rules.check_reply(kind, chat, body)
            sent = SentQQMessage(f"ROBOT1.0_{next(self._numbers)}", chat, kind, dict(body), file)
            self.messages.append(sent)
            return {"id": sent.id, "timestamp": _now()}

        return send

    async def _upload(self, request: web.Request) -> Json:
        body, kind = await request.json(), "users" if "users" in request.path else "groups"
        if body.get("file_type") not in (1, 2, 3, 4):
            raise QQSimulatorRefusal(400, 40034013, "invalid file_type")
        info = f"{kind}-file{next(self._numbers)}"
        data = base64.b64decode(body["file_data"], validate=True)
        self.files[info] = (body["file_type"], body.get("file_name", ""), data)
        return {"file_uuid": info, "file_info": info, "ttl": 86400}

    async def _stream(self, request: web.Request) -> Json:
        body, chat = await request.json(), request.match_info["chat"]
        if body.get("input_mode") != "replace" or body.get("input_state") not in (1, 10) or not body.get("content_raw"):
            raise QQSimulatorRefusal(400, 40034010, "invalid stream")
        stream_id = body.get("stream_msg_id")
        found = next((each for each in self.messages if each.id == stream_id), None)
        if found is None:
            self.rules.check_reply("users", chat, body)
            found = SentQQMessage(f"ROBOT1.0_{next(self._numbers)}", chat, "stream", {}, done=False)
            self.messages.append(found)
        elif found.done or body["index"] <= found.numbers[-1]:
            raise QQSimulatorRefusal(400, 40034014, "index must grow")
        found.versions.append(body["content_raw"])
        found.times.append(time.monotonic())
        found.numbers.append(body["index"])
        found.done = body["input_state"] == 10
        return {"id": found.id}

    async def _delete(self, request: web.Request) -> None:
        found = next((each for each in self.messages if each.id == request.match_info["id"]), None)
        if found is None or found.deleted:
            raise QQSimulatorRefusal(404, 40034015, "message not found")
        found.deleted = True

    async def _serve_file(self, request: web.Request) -> web.Response:
        return web.Response(body=self.served.get(request.match_info["name"], b"hello"))

    # --- what users do

    def message(self, kind: str, chat: str, user_id: str, content: str, **fields: Any) -> Json:
        """Returns a message of a user in the form in which QQ reports it."""
        message: Json = {
            "id": f"ROBOT1.0_u{next(self._numbers)}", "content": content, "timestamp": _now(), "attachments": [],
            **fields,
        }  # fmt: skip
        if kind == "C2C_MESSAGE_CREATE":
            return {**message, "author": {"id": user_id, "user_openid": user_id, "username": "小明"}}
        if kind.startswith("GROUP"):
            member = {"id": user_id, "member_openid": user_id, "member_role": "member", "bot": False}
            return {**message, "group_id": chat, "group_openid": chat, "author": member}
        author: Json = {"id": user_id, "username": "小明", "bot": False}
        place = {"guild_id": chat} if kind.startswith("DIRECT") else {"guild_id": "7000", "channel_id": chat}
        return {**message, **place, "author": author, "member": {"nick": "小明", "roles": ["11"]}}

    async def say(self, text: str, user_id: str, chat: str = "", kind: str = "") -> None:
        kind = kind or ("GROUP_AT_MESSAGE_CREATE" if chat else "C2C_MESSAGE_CREATE")
        content = f" {text}" if kind in MENTIONING else text
        await self.report(kind, self.message(kind, chat, user_id, content))

    async def report(self, kind: str, data: Any, event_id: str = "") -> None:
        """Reports an event, perhaps twice or after the next one."""
        for each in self.scheduled((kind, data, event_id)):
            self.reported.append(each)
            await self.deliver(*each)

    async def deliver(self, kind: str, data: Any, event_id: str = "") -> None:
        self._note(kind, data, event_id)
        if self.is_called:
            frame = {"op": 0, "t": kind, "d": data, "s": 1, **({"id": event_id} if event_id else {})}
            self.begin(self.webhook.report(frame))
        else:
            await self.gateway.dispatch(kind, data, event_id)

    def _note(self, kind: str, data: Any, event_id: str) -> None:
        """Remembers what can be answered."""
        from .rules import Answerable

        if not isinstance(data, dict) or not isinstance(data.get("author", {}), dict):
            return
        if "content" in data:
            if kind == "C2C_MESSAGE_CREATE":
                place = ("users", str(data["author"].get("user_openid")))
            elif kind.startswith("GROUP"):
                place = ("groups", str(data.get("group_openid")))
            elif kind.startswith("DIRECT"):
                place = ("dms", str(data.get("guild_id")))
            else:
                place = ("channels", str(data.get("channel_id")))
            self.rules.answerable.setdefault(str(data.get("id")), Answerable(place[1], place[0]))
        elif event_id:
            chat = data.get("group_openid") or data.get("user_openid") or data.get("openid") or ""
            kind_of_chat = "groups" if data.get("group_openid") else "users"
            self.rules.answerable.setdefault(event_id, Answerable(str(chat), kind_of_chat))

    async def press(self, sent: SentQQMessage, label: str, user_id: str) -> str:
        """Lets a user press a button, and returns the id of the press."""
        button = next(each for each in sent.buttons if each["render_data"]["label"] == label)
        interaction_id = f"interaction{next(self._numbers)}"
        scene = {"scene": "c2c", "chat_type": 2, "user_openid": user_id}
        if sent.kind == "groups":
            scene = {"scene": "group", "chat_type": 1, "group_openid": sent.chat, "group_member_openid": user_id}
        resolved = {"button_id": button["id"], "button_data": button["action"]["data"], "message_id": sent.id}
        data = {
            "id": interaction_id,
            "type": 11,
            **scene,
            "timestamp": _now(),
            "data": {"type": 11, "resolved": resolved},
        }
        await self.report("INTERACTION_CREATE", data, f"INTERACTION_CREATE:{interaction_id}")
        return interaction_id


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _answer(outcome: Outcome[QQSimulatorRefusal]) -> web.Response:
    refusal = outcome.refusal
    if refusal is None:
        return web.json_response(outcome.result) if outcome.result is not None else web.Response(status=204)
    body = {"message": refusal.message, "code": refusal.code, "err_code": refusal.code, "trace_id": "8cbf"}
    return web.json_response(body, status=refusal.status)
