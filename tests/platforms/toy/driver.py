"""The simulator of the toy platform on the simulator base, and its driver for the shared adapter suite."""

import itertools
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from aiohttp import web

from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, HostLink
from parlour.testing.adapter_suite import ApiCall, PlatformDriver, Probe, SuiteChat
from parlour.testing.native_payloads import Sample
from parlour.testing.simulator import (
    InvalidRequest,
    Outcome,
    PlatformSimulator,
    RateWindows,
    SimulatedMessage,
    SimulatedWorld,
    SimulatorFaults,
    SimulatorServer,
    SimulatorSocket,
    check_fields,
    damaged,
    text_field,
)
from parlour.testing.simulator.server import answer_call
from parlour_sdk.protocol.chain import MessageChain, Plain
from parlour_sdk.protocol.people import ChatType

from .adapter import MANIFEST, ToyAdapter, ToyApi

TOKEN = "the-secret-of-the-toy"
MAX_TEXT = 4000
RATE = (50.0, 1.0)
NATIVE = {"id": "m1", "chat": "ann", "user": "ann", "text": "hello", "time": 1, "number": 1}
ODD = {"number": 2, "poke": True}
DECODED = {
    "type": "message.received", "event_id": "m1", "timestamp": 1, "bot_id": "", "adapter_name": "toy",
    "message_id": "m1", "chat_type": "private", "chat_id": "ann",
    "sender": {"id": "ann", "nickname": "", "is_bot": False},
    "message_chain": [{"type": "Source", "id": "m1", "time": 1}, {"type": "Plain", "text": "hello"}],
}  # fmt: skip
DECODED_ODD = {
    "type": "platform.toy.malformed", "event_id": "odd-2", "timestamp": 0, "bot_id": "", "adapter_name": "toy",
    "action": "malformed", "data": {"frame": json.dumps(ODD)},
}  # fmt: skip


class ToySimulator(PlatformSimulator[SimulatedMessage, InvalidRequest]):
    def __init__(self) -> None:
        self.world = SimulatedWorld()
        self.faults: SimulatorFaults[InvalidRequest] = SimulatorFaults()
        super().__init__(self.faults, self.world.sent)
        self.rate = RATE
        self.waiting: dict[Any, str] = {}
        """Frames that the bot has not acknowledged."""
        self.server = SimulatorServer()
        self.server.route("POST", "/send", self._send)
        self.server.route_socket("/events", self._talk)
        self._rates = RateWindows()
        self._socket: SimulatorSocket | None = None

    async def report(self, event: dict[str, Any]) -> None:
        """Reports an event until it is acknowledged."""
        frame = json.dumps(event)
        self.waiting[event.get("number")] = frame
        for each in self.scheduled(frame):
            if self._socket is not None:
                with suppress(ConnectionResetError):  # it is sent again to the next connection
                    await self._socket.send(each)

    async def _talk(self, socket: SimulatorSocket) -> None:
        if socket.request.headers.get("Authorization") != TOKEN:
            await socket.close(4001, "wrong token")
            return
        self._socket = socket
        for frame in list(self.waiting.values()):
            await socket.send(frame)
        await self.notify()
        async for frame in socket.frames():
            self.waiting.pop(json.loads(frame)["ack"], None)
            await self.notify()
        self._socket = None

    async def _send(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization") != TOKEN:
            return web.json_response({"error": "wrong token"}, status=401)
        body = await request.json()

        async def show() -> str:
            fields = check_fields(body, {"chat": text_field(64), "text": text_field(MAX_TEXT)})
            if wait := self._rates.seconds_to_wait({"sends": self.rate}):
                raise InvalidRequest("rate", str(wait))
            if fields["chat"] not in self.world.chats:
                raise InvalidRequest("chat", "does not exist")
            return self.world.show(fields["chat"], self.world.bot.id, fields["text"]).id

        outcome = await self.perform("send", show, InvalidRequest)
        return await answer_call(request, outcome, _answer, self.notify)


def _answer(outcome: Outcome[InvalidRequest]) -> web.Response:
    if outcome.refusal is None:
        return web.json_response({"id": outcome.result})
    if outcome.refusal.field == "rate":
        return web.json_response({"error": "busy", "retry_after": float(outcome.refusal.problem)}, status=429)
    return web.json_response({"error": str(outcome.refusal)}, status=400)


class ToyDriver(PlatformDriver):
    manifest = MANIFEST
    api = ToyApi
    samples = (
        Sample("message", "message.received", NATIVE, DECODED),
        Sample("odd", "platform.toy.x", ODD, DECODED_ODD),
    )
    token = TOKEN

    def __init__(self) -> None:
        self.simulator = ToySimulator()
        self._numbers = itertools.count(10)
        self._last: dict[str, Any] = {}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.simulator.server.listening() as url:
            self.config = {"url": url, "token": TOKEN}
            yield

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        return ToyAdapter(link, backoff)

    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        name = f"person{next(self._numbers)}"
        self.simulator.world.add_chat(name, name)
        return SuiteChat("private", name)

    async def say(self, chat: SuiteChat, text: str, user: str = "") -> None:
        message = self.simulator.world.show(chat.id, user or chat.id, text)
        about = {"id": message.id, "chat": chat.id, "user": message.sender, "text": text}
        self._last = {**about, "time": 1, "number": next(self._numbers)}
        await self.simulator.report(self._last)

    def read(self, chat: SuiteChat) -> list[str]:
        return self.simulator.texts(chat.id)

    async def deliver(self, native: Any) -> None:
        await self.simulator.report(native)

    async def repeat(self) -> None:
        await self.simulator.report(self._last)

    async def echo(self, chat: SuiteChat) -> None:
        await self.say(chat, "I said this myself", self.simulator.world.bot.id)

    async def malformed(self, chat: SuiteChat, seed: int, number: int) -> None:
        generator = random.Random(seed)
        whole = {name: value for name, value in NATIVE.items() if name != "number"}
        for _ in range(number):
            broken = damaged(whole, generator)
            broken.pop(generator.choice(("id", "chat", "user")), None)
            await self.simulator.report({**broken, "number": next(self._numbers)})

    def components(self, chat: SuiteChat) -> MessageChain:
        return [Plain(text="all that it carries")]

    async def reflect(self, chat: SuiteChat) -> int:
        texts = self.read(chat)
        for text in texts:
            await self.say(chat, text)
        return len(texts)

    async def use_apis(self, probe: Probe) -> None:
        chat = await self.chat()
        target = {"target_type": "private", "target_id": chat.id, "chain": [{"type": "Plain", "text": "sent"}]}
        reply = ApiCall("reply_message", "reply", {"message": "a reply"})
        await probe.calls(ApiCall("send_message", "messages.send", target), reply)
        assert self.read(chat) == ["sent"]

    async def cut(self) -> None:
        self.simulator.server.cut()

    async def cut_for_long(self, times: int) -> None:
        self.simulator.server.turned_away = times
        await self.cut()

    def refuse_send(self, retry_after: float | None = None) -> None:
        refusal = InvalidRequest("text", "is not liked") if retry_after is None else InvalidRequest("rate", "0.2")
        self.simulator.faults.refuse_with("send", refusal)

    def cut_send(self, happens: bool) -> None:
        self.simulator.faults.cut("send", happens)

    def stay_silent(self) -> None:
        self.simulator.faults.stay_silent("send")

    def unacknowledged(self) -> int:
        return len(self.simulator.waiting)
