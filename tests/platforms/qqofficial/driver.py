"""Plays QQ in the shared adapter suite, over the simulated gateway or signed calls."""

import base64
import itertools
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import parlour.platforms.qqofficial as package
from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, HostLink
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.qqofficial.adapter import QQAdapter
from parlour.platforms.qqofficial.api import QQApi
from parlour.testing.adapter_suite import ApiCall, PlatformDriver, Probe, SuiteChat, action_call, api_call
from parlour.testing.adapter_suite.driver import Json
from parlour.testing.native_payloads import read_samples
from parlour.testing.qqofficial_simulator import QQSimulator, SentQQMessage
from parlour.testing.qqofficial_simulator.simulator import APP, SECRET
from parlour_sdk.protocol.chain import Component, File, Image, Media, MessageChain, Plain, Video, Voice
from parlour_sdk.protocol.people import ChatType

HELLO = base64.b64encode(b"hello").decode()
ANN, BOB = "6836D8522EE75AD36836D8522EE75AD3", "B0BB0BB0BB0BB0BB0BB0BB0BB0BB0BB0"
TYPES = {1: "image/png", 2: "video/mp4", 3: "voice", 4: "file"}
UNREADABLE = (None, True, 1.5, [], {})


class QQDriver(PlatformDriver):
    manifest = BuiltinAdapterCatalogue().manifests()["qqofficial"]
    api = QQApi
    level = "protocol+"
    samples = read_samples(Path(package.__file__).parent / "samples")
    tokens_per_message = 50

    def __init__(self) -> None:
        self.simulator = QQSimulator()
        self.simulator.rules.own_messages = 10_000
        self.token = SECRET
        self._numbers = itertools.count(1)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.simulator.listening() as url:
            self.config = {
                "mode": "websocket", "appid": APP, "secret": SECRET, "api_base_url": url,
                "auth_url": f"{url}/app/getAppAccessToken",
            }  # fmt: skip
            yield

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        return QQAdapter(link, backoff)

    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        return SuiteChat(kind, f"{'CC' if kind == 'private' else 'DD'}{next(self._numbers):030X}")

    def _place(self, chat: SuiteChat) -> tuple[str, str]:
        return (chat.id, "") if chat.kind == "private" else (ANN, chat.id)

    async def say(self, chat: SuiteChat, text: str) -> None:
        await self.simulator.say(text, *self._place(chat))

    def read(self, chat: SuiteChat) -> list[str]:
        return self.simulator.texts(chat.id)

    async def deliver(self, native: Any) -> None:
        await self.simulator.deliver(native["t"], native["d"], native.get("id", ""))

    async def repeat(self) -> None:
        await self.simulator.report(*self.simulator.reported[-1])

    async def echo(self, chat: SuiteChat) -> None:
        raise NotImplementedError

    async def malformed(self, chat: SuiteChat, seed: int, number: int) -> None:
        generator = random.Random(seed)
        for place in range(number):
            user_id, _ = self._place(chat)
            message = self.simulator.message("C2C_MESSAGE_CREATE", "", user_id, f"damaged {place}")
            message[generator.choice(("id", "timestamp", "author", "content"))] = generator.choice(UNREADABLE)
            if message["content"] is None:
                message["id"] = None
            odd: Any = generator.choice((None, [], "x")) if generator.random() < 0.1 else message
            await self.simulator.report("C2C_MESSAGE_CREATE", odd)

    def components(self, chat: SuiteChat) -> MessageChain:
        return [
            Plain(text="a [b] & c 👨‍👩‍👧"),
            Image(base64=HELLO, mime_type="image/png"),
            Video(base64=HELLO, mime_type="video/mp4"),
            Voice(base64=HELLO, mime_type="audio/silk"),
            Plain(text="between"),
            File(base64=HELLO, name="b.pdf", mime_type="application/pdf"),
            Image(base64=HELLO, mime_type="image/png"),
            Plain(text="the end"),
        ]

    async def reflect(self, chat: SuiteChat) -> int:
        messages = self.simulator.sent(chat.id)
        for each in messages:
            user_id, group = self._place(chat)
            kind = "GROUP_MESSAGE_CREATE" if group else "C2C_MESSAGE_CREATE"
            await self.simulator.report(
                kind, self.simulator.message(kind, group, user_id, each.text, **self.attached(each))
            )
        return len(messages)

    def attached(self, sent: SentQQMessage) -> Json:
        """Returns the file of a message in the form in which a user would send it."""
        if not sent.file:
            return {}
        file_type, name, data = self.simulator.files[sent.body["media"]["file_info"]]
        self.simulator.served[f"file{next(self._numbers)}"] = data
        url = f"{self.simulator.url}/media/{list(self.simulator.served)[-1]}"
        return {"attachments": [{"content_type": TYPES[file_type], "filename": name, "size": len(data), "url": url}]}

    def same(self, sent: Component, received: Component) -> bool:
        """QQ reports addresses of files, which the Host fetches."""
        match sent, received:
            case Media(), Media():
                served = self.simulator.served.get(str(received.url).rpartition("/")[2], b"")
                return sent.base64 == base64.b64encode(served).decode()
        return sent == received

    async def use_apis(self, probe: Probe) -> None:
        *first, delete = _calls(self.config["mode"])
        answers = await probe.calls(*first)
        sent = next(each["message_id"] for each in answers if isinstance(each, dict) and "message_id" in each)
        await probe.calls(ApiCall(delete.row, delete.method, {**delete.arguments, "message_id": sent}))
        assert [(each.text, each.deleted) for each in self.simulator.messages if each.chat == BOB] == [("sent", True)]
        assert any(each.text == "a reply" and each.body.get("msg_id") for each in self.simulator.sent())

    def streamed(self, chat: SuiteChat) -> int:
        return sum(len(set(each.versions)) - 1 for each in self.simulator.sent(chat.id) if each.versions)

    async def cut(self) -> None:
        self.simulator.server.cut()

    async def cut_for_long(self, times: int) -> None:
        self.simulator.server.turned_away = times
        self.simulator.server.cut()

    def refuse_send(self, retry_after: float | None = None) -> None:
        if retry_after is None:
            self.simulator.faults.refuse("messages", 40034008)
        else:
            self.simulator.faults.too_many("messages")

    def cut_send(self, happens: bool) -> None:
        self.simulator.faults.cut("messages", happens)

    def stay_silent(self) -> None:
        self.simulator.faults.stay_silent("messages")


def _calls(mode: str) -> Sequence[ApiCall]:
    text = [{"type": "Plain", "text": "sent"}]
    return [
        api_call("send_message", "messages.send", target_type="private", target_id=BOB, chain=text),
        ApiCall("reply_message", "reply", {"message": "a reply", "quote": False}),
        action_call("check_access_token", {"valid": True}),
        action_call("refresh_access_token", {"refreshed": True}),
        action_call("get_gateway_url", {"url": None}),
        action_call("get_mode", {"mode": mode}),
        ApiCall("call_platform_api", "platform.call", {"action": "get_mode", "params": {}}),
        api_call("delete_message", "messages.delete", chat_type="private", chat_id=BOB),
    ]
