"""Plays WeCom for AI bots in the shared adapter suite, over the simulated long connection."""

import base64
import itertools
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import parlour.platforms.wecombot as package
from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, HostLink
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.wecombot.adapter import WecomBotAdapter
from parlour.platforms.wecombot.api import WecomBotApi
from parlour.testing.adapter_suite import ApiCall, PlatformDriver, Probe, SuiteChat, action_call, api_call
from parlour.testing.adapter_suite.driver import Json
from parlour.testing.native_payloads import Sample, read_samples
from parlour.testing.wecombot_simulator import SentBotMessage, WecomBotSimulator
from parlour.testing.wecombot_simulator.simulator import BOT, NAME, SECRET
from parlour_sdk.protocol.chain import At, Component, File, Image, Media, MessageChain, Plain, Video
from parlour_sdk.protocol.people import ChatType

HELLO = base64.b64encode(b"hello").decode()
ANN, BOB = "ann", "bob"
ADDRESS = "SAMPLES/"
"""Stands in samples for the address of files, which differs from test to test."""
UNREADABLE = (None, True, 1.5, "", [], {})


class WecomBotDriver(PlatformDriver):
    manifest = BuiltinAdapterCatalogue().manifests()["wecombot"]
    api = WecomBotApi
    level = "protocol+"
    samples: Sequence[Sample] = read_samples(Path(package.__file__).parent / "samples")
    tokens_per_message = 50

    def __init__(self) -> None:
        self.simulator = WecomBotSimulator()
        self.token = SECRET
        self._numbers = itertools.count(1)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.simulator.listening() as url:
            self.config = {"bot_id": BOT, "secret": SECRET, "robot_name": NAME, "ws_url": url}
            yield

    def called_at(self, address: str) -> None:
        self.simulator.calls.address = address

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        return WecomBotAdapter(link, backoff)

    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        """Creates a chat in which a user has written before."""
        name = f"{'user' if kind == 'private' else 'wrGroup'}{next(self._numbers)}"
        self.simulator.chats.add(name)
        return SuiteChat(kind, name)

    async def chat_for_components(self) -> SuiteChat:
        return await self.chat("group")

    def _place(self, chat: SuiteChat) -> tuple[str, str]:
        return (chat.id, "") if chat.kind == "private" else (ANN, chat.id)

    async def say(self, chat: SuiteChat, text: str) -> None:
        await self.simulator.say(text, *self._place(chat))

    def read(self, chat: SuiteChat) -> list[str]:
        return self.simulator.texts(chat.id)

    async def deliver(self, native: Any) -> None:
        await self.simulator.report(self._with_files(native))

    def _with_files(self, native: Any) -> Any:
        """Returns a sample with addresses of files that exist now, each with its key."""
        match native:
            case dict() if str(native.get("url", "")).startswith(ADDRESS):
                name = native["url"].removeprefix(ADDRESS)
                given = {"url": f"{self.simulator.files.address}/files/{quote(name)}"}
                return {
                    **native,
                    **(given if name == "gone" else self.simulator.files.add(name, b"hello", quote(name))),
                }
            case dict():
                return {name: self._with_files(each) for name, each in native.items()}
            case list():
                return [self._with_files(each) for each in native]
        return native

    async def repeat(self) -> None:
        await self.simulator.report(self.simulator.reported[-1])

    async def echo(self, chat: SuiteChat) -> None:
        raise NotImplementedError

    async def malformed(self, chat: SuiteChat, seed: int, number: int) -> None:
        generator = random.Random(seed)
        for place in range(number):
            user_id, group = self._place(chat)
            message = self.simulator.message(user_id, "text", group, content=f"damaged {place}")
            field = generator.choice(("from", "create_time", "msgid", "msgtype", "text", "aibotid"))
            message[field] = generator.choice(UNREADABLE)
            await self.simulator.report(message)

    def components(self, chat: SuiteChat) -> MessageChain:
        return [
            At(target=BOT),
            Plain(text="a < b & c 👨‍👩‍👧"),
            Image(base64=HELLO, name="a.png", mime_type="image/png"),
            Video(base64=HELLO, name="a.mp4", mime_type="video/mp4"),
            Plain(text="between"),
            File(base64=HELLO, name="b.pdf", mime_type="application/pdf"),
            Plain(text="the end"),
            Image(base64=HELLO, name="c.png", mime_type="image/png"),
        ]

    async def reflect(self, chat: SuiteChat) -> int:
        messages = self.simulator.sent(chat.id)
        for each in messages:
            await self.simulator.report(self.reported(chat, each))
        return len(messages)

    def reported(self, chat: SuiteChat, sent: SentBotMessage) -> Json:
        """Returns a message in the form in which a user would send it."""
        user_id, group = self._place(chat)
        if sent.kind in ("image", "video", "file"):
            kind, name, data = self.simulator.files.media[sent.content["media_id"]]
            return self.simulator.message(user_id, kind, group, **self.simulator.files.add(name, data))
        shown = sent.text.replace(f"<@{BOT}>", f"@{NAME} ")
        return self.simulator.message(user_id, "text", group, content=shown)

    def same(self, sent: Component, received: Component) -> bool:
        """Compares what users can send back. WeCom adds sizes to files and names to mentions."""
        match sent, received:
            case Media(), Media():
                return (sent.base64, sent.name) == (received.base64, received.name)
            case At(), At():
                return sent.target == received.target
        return sent == received

    async def use_apis(self, probe: Probe) -> None:
        self.simulator.chats |= {ANN, BOB}
        await probe.calls(*_calls())
        assert self.simulator.texts(BOB) == ["sent", "**bold**"]
        assert any(each.text == "a reply" for each in self.simulator.sent())

    def streamed(self, chat: SuiteChat) -> int:
        return sum(len(set(each.versions)) - 1 for each in self.simulator.sent(chat.id))

    async def cut(self) -> None:
        self.simulator.server.cut()

    async def cut_for_long(self, times: int) -> None:
        self.simulator.server.turned_away = times
        self.simulator.server.cut()

    def refuse_send(self, retry_after: float | None = None) -> None:
        if retry_after is None:
            self.simulator.faults.refuse("aibot_respond_msg", 40058)
        else:
            self.simulator.faults.refuse("aibot_respond_msg", -1)

    def cut_send(self, happens: bool) -> None:
        self.simulator.faults.cut("aibot_respond_msg", happens)

    def stay_silent(self) -> None:
        self.simulator.faults.stay_silent("aibot_respond_msg")


def _calls() -> Sequence[ApiCall]:
    text = [{"type": "Plain", "text": "sent"}]
    return [
        api_call("send_message", "messages.send", target_type="private", target_id=BOB, chain=text),
        ApiCall("reply_message", "reply", {"message": "a reply", "quote": False}),
        action_call("is_websocket_mode", {"websocket": True}),
        action_call("get_stream_session_status", {"active": False}, chat_id=BOB),
        action_call("send_markdown", None, chat_id=BOB, content="**bold**"),
        ApiCall("call_platform_api", "platform.call", {"action": "is_websocket_mode", "params": {}}),
    ]
