"""The simulated KOOK as a whole: one server with gateway and HTTP API, and what its users do."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import BodyPartReader, web

from parlour.testing.simulator import Outcome, PlatformSimulator, RateWindows, SimulatorFaults, SimulatorServer
from parlour.testing.simulator.server import answer_call

from .calls import KookCalls
from .gateway import KookGatewayServer
from .world import Json, KookRefusal, KookWorld, SentKookMessage

TOKEN = "1/MTAwMDA=/the-secret-token-of-kook=="
API = "/api/v3"
LIMIT = (120.0, 60.0)
"""Calls per seconds of each bucket, which is the path of the call."""


@dataclass
class KookFaults(SimulatorFaults[KookRefusal]):
    """The faults of the simulated KOOK."""

    def refuse(self, call: str, code: int, message: str, times: int = 1) -> None:
        self.refuse_with(call, KookRefusal(code, message), times)

    def too_many(self, call: str, seconds: float) -> None:
        self.refuse_with(call, KookRefusal(42900, "请求过于频繁", retry_after=seconds))


class KookSimulator(PlatformSimulator[SentKookMessage, KookRefusal]):
    def __init__(self) -> None:
        self.token = TOKEN
        self.world = KookWorld()
        self.faults = KookFaults()
        super().__init__(self.faults, self.world.sent)
        self.gateway = KookGatewayServer(self.notify)
        self.calls = KookCalls(self.world, self.gateway)
        self.limit = LIMIT
        self.rates = RateWindows()
        self.made: list[str] = []
        """The paths of all calls, in order."""
        self.reported: list[Json] = []
        """The frames of users' messages, in order."""
        self.server = SimulatorServer()
        for (method, path), call in self.calls.routes().items():
            self._route(method, path, call)
        self.server.route("POST", f"{API}/asset/create", self._upload)
        self.server.route("GET", "/assets/{name}", self._download)
        self.server.route_socket("/gateway", self.gateway.serve)

    @asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator[str]:
        """Yields the address of the HTTP API."""
        async with self.server.listening(port) as address:
            self.calls.address = address
            self.gateway.address = f"ws{address.removeprefix('http')}"
            try:
                yield f"{address}{API}"
            finally:
                await self.end_tasks()

    def chat_of(self, message: SentKookMessage) -> str:
        return message.chat

    def _route(self, method: str, path: str, call: Any) -> None:
        async def serve(request: web.Request) -> web.Response:
            params: Json = dict(request.query)
            if method == "POST" and request.can_read_body:
                params |= await _body(request)

            async def act() -> Any:
                self._check(request, path)
                return await call(params)

            self.made.append(path)
            outcome = await self.perform(path, act, KookRefusal)
            return await answer_call(request, outcome, _answer, self.notify)

        self.server.route(method, f"{API}/{path}", serve)

    def _check(self, request: web.Request, path: str) -> None:
        if request.headers.get("Authorization") != f"Bot {TOKEN}":
            raise KookRefusal(40101, "无效的 token")
        if wait := self.rates.seconds_to_wait({path: self.limit}):
            raise KookRefusal(42900, "请求过于频繁", retry_after=wait)

    async def _upload(self, request: web.Request) -> web.Response:
        part = await (await request.multipart()).next()
        assert isinstance(part, BodyPartReader)
        data, name = bytes(await part.read()), f"{self.world.number()}-{part.filename}"

        async def act() -> Json:
            self._check(request, "asset/create")
            if part.name != "file" or not data:
                raise KookRefusal(40000, "文件不能为空")
            self.world.assets[name] = data
            return {"url": f"{self.calls.address}/assets/{name}"}

        outcome = await self.perform("asset/create", act, KookRefusal)
        return await answer_call(request, outcome, _answer, self.notify)

    async def _download(self, request: web.Request) -> web.Response:
        data = self.world.assets.get(request.match_info["name"])
        return web.Response(body=data) if data is not None else web.Response(status=404)

    # --- what users do

    async def say(self, chat_type: str, chat_id: str, user_id: str, content: str, kind: int = 9, **fields: Any) -> Json:
        """Lets a user write, and returns the message."""
        message = self.world.write(chat_type, chat_id, user_id, kind, content, **fields)
        await self.report(self.world.event(message))
        return message

    async def report(self, data: Json) -> None:
        for each in self.scheduled(data):
            frame = await self.gateway.dispatch(each)
            if frame is not None:
                self.reported.append(frame)
        await self.notify()

    async def press(self, sent: SentKookMessage, label: str, user_id: str) -> None:
        """Lets a user press a button of a message in a channel."""
        button = next(each for each in sent.buttons if each["text"] == label)
        guild_id = self.world.channels[sent.chat]["guild_id"]
        body = {
            "value": button["value"], "msg_id": sent.payload["id"], "user_id": user_id, "target_id": sent.chat,
            "channel_type": "GROUP", "guild_id": guild_id, "user_info": self.world.member(guild_id, user_id),
        }  # fmt: skip
        await self.report(self.world.system_event("message_btn_click", body, sent.chat))


async def _body(request: web.Request) -> Json:
    if request.content_type == "application/json":
        return dict(await request.json())
    return {name: str(value) for name, value in (await request.post()).items()}


def _answer(outcome: Outcome[KookRefusal]) -> web.Response:
    refusal = outcome.refusal
    if refusal is None:
        result = outcome.result if outcome.result is not None else []
        return web.json_response({"code": 0, "message": "操作成功", "data": result})
    headers: dict[str, str] = {}
    status = 401 if refusal.code == 40101 else 200
    if refusal.retry_after is not None:
        headers, status = {"X-Rate-Limit-Reset": f"{refusal.retry_after:.2f}"}, 429
    body = json.dumps({"code": refusal.code, "message": refusal.message, "data": []})
    return web.Response(text=body, content_type="application/json", status=status, headers=headers)
