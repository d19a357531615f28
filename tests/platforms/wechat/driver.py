"""Plays WeChat in the shared adapter suite: users write to the account of the bot, and the adapter polls."""

import base64
import itertools
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import parlour.platforms.wechat as package
from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, HostLink
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.wechat.adapter import WechatAdapter
from parlour.platforms.wechat.api import WechatApi
from parlour.testing.adapter_suite import ApiCall, PlatformDriver, Probe, SuiteChat
from parlour.testing.adapter_suite.driver import Json
from parlour.testing.memory_link import MemoryLink
from parlour.testing.native_payloads import read_samples
from parlour.testing.wechat_simulator import TOKEN, SentWechatMessage, WechatSimulator
from parlour_sdk.protocol.chain import Component, File, Image, Media, MessageChain, Plain, Video
from parlour_sdk.protocol.people import ChatType

PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n and more").decode()
HELLO = base64.b64encode(b"hello").decode()
ANN, BOB = "o9cq80ann@im.wechat", "o9cq80bob@im.wechat"
SAMPLE_FILES = {
    "SAMPLE_IMAGE": b"\x89PNG", "SAMPLE_VOICE": b"#!SILK_V3", "SAMPLE_FILE": b"%PDF", "SAMPLE_VIDEO": b"mp4",
}  # fmt: skip
UNREADABLE = (None, True, 1.5, "", {})


class WechatDriver(PlatformDriver):
    manifest = BuiltinAdapterCatalogue().manifests()["wechat"]
    api = WechatApi
    level = "protocol+"
    samples = read_samples(Path(package.__file__).parent / "samples")
    tokens_per_message = 125

    def __init__(self) -> None:
        self.simulator = simulator = WechatSimulator()
        self.token = TOKEN
        self._numbers = itertools.count(1)
        self._link: HostLink | None = None
        simulator.window_messages = 10_000
        for parameter, content in SAMPLE_FILES.items():
            simulator.files.add(content, parameter)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.simulator.listening() as url:
            self.config = {"token": TOKEN, "base_url": url, "cdn_base_url": self.simulator.files.base_url}
            yield

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        self._link = link
        return WechatAdapter(link, backoff)

    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        """Creates a user; bots of WeChat have no groups."""
        return SuiteChat("private", f"o9cq80user{next(self._numbers)}@im.wechat")

    async def chat_for_components(self) -> SuiteChat:
        """Creates a user who has written before, so that the bot may write."""
        chat = await self.chat()
        if isinstance(self._link, MemoryLink):
            context = self.simulator.message(chat.id)["context_token"]
            self._link.handles["private", chat.id] = context
        else:
            await self.open_window(chat.id)
        return chat

    async def open_window(self, user: str) -> None:
        """Lets a user write, and waits until the message is stored."""
        await self.simulator.say("hello", user)
        await self.until(lambda: self.unacknowledged() == 0)

    async def say(self, chat: SuiteChat, text: str) -> None:
        await self.simulator.say(text, chat.id)

    def read(self, chat: SuiteChat) -> list[str]:
        return self.simulator.texts(chat.id)

    async def deliver(self, native: Any) -> None:
        await self.simulator.report(native)

    async def repeat(self) -> None:
        last = next(each for each in reversed(self.simulator.feed) if isinstance(each, dict))
        await self.simulator.report(last)

    async def echo(self, chat: SuiteChat) -> None:
        item = {"type": 1, "text_item": {"text": "from the bot"}}
        await self.simulator.report(self.simulator.message(chat.id, item, message_type=2))

    async def malformed(self, chat: SuiteChat, seed: int, number: int) -> None:
        generator = random.Random(seed)
        damaged: list[Any] = []
        for place in range(number):
            message = self.simulator.message(chat.id, {"type": 1, "text_item": {"text": f"damaged {place}"}})
            field = generator.choice(("from_user_id", "create_time_ms", "item_list"))
            message[field] = generator.choice(UNREADABLE)
            damaged.append(generator.choice((None, [], "x")) if generator.random() < 0.1 else message)
        self.simulator.feed += damaged
        await self.simulator.notify()

    def components(self, chat: SuiteChat) -> MessageChain:
        return [
            Plain(text="a < b & c 👨‍👩‍👧"),
            Image(base64=PICTURE, mime_type="image/png"),
            Video(base64=HELLO, mime_type="video/mp4"),
            Plain(text="between"),
            Image(base64=HELLO, mime_type="image/jpeg"),
            File(base64=HELLO, name="b.pdf", mime_type="application/pdf"),
            Plain(text="the end"),
        ]

    async def reflect(self, chat: SuiteChat) -> int:
        messages = self.simulator.sent(chat.id)
        for each in messages:
            await self.deliver(self.reported(chat, each))
        return len(messages)

    def reported(self, chat: SuiteChat, message: SentWechatMessage) -> Json:
        """Returns a message in the form in which a user would send it."""
        return self.simulator.message(chat.id, message.item)

    def same(self, sent: Component, received: Component) -> bool:
        """Compares what users can send back. The gateway has names only of files."""
        if isinstance(sent, Media) and isinstance(received, Media):
            return sent.base64 == received.base64 and sent.name in (None, received.name)
        return sent == received

    async def use_apis(self, probe: Probe) -> None:
        await self.open_window(BOB)
        text = [{"type": "Plain", "text": "sent"}]
        await probe.calls(
            ApiCall("send_message", "messages.send", {"target_type": "private", "target_id": BOB, "chain": text}),
            ApiCall("reply_message", "reply", {"message": "a reply", "quote": False}),
            ApiCall("send_typing", "messages.typing", {"chat_type": "private", "chat_id": BOB}),
        )
        assert self.simulator.texts(BOB) == ["sent"]
        assert any(each.text == "a reply" for each in self.simulator.sent())
        assert self.simulator.typing == [BOB]

    async def cut(self) -> None:
        self.simulator.server.cut()

    async def cut_for_long(self, times: int) -> None:
        self.simulator.server.turned_away = times
        self.simulator.server.cut()

    def refuse_send(self, retry_after: float | None = None) -> None:
        if retry_after is None:
            self.simulator.faults.refuse("sendmessage", -1)
        else:
            self.simulator.faults.too_many("sendmessage", retry_after)

    def cut_send(self, happens: bool) -> None:
        self.simulator.faults.cut("sendmessage", happens)

    def stay_silent(self) -> None:
        self.simulator.faults.stay_silent("sendmessage")

    def unacknowledged(self) -> int:
        return self.simulator.unread()
