"""Plays WeChat in the shared adapter suite: followers write to an account that sends customer-service messages."""

import asyncio
import base64
import itertools
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import parlour.platforms.officialaccount as package
from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, HostLink
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.officialaccount.adapter import OfficialAccountAdapter
from parlour.platforms.officialaccount.api import OfficialAccountApi
from parlour.testing.adapter_suite import ApiCall, PlatformDriver, Probe, SuiteChat, action_call, api_call
from parlour.testing.adapter_suite.driver import Json
from parlour.testing.errcode_simulator import xml_of
from parlour.testing.native_payloads import read_samples
from parlour.testing.officialaccount_simulator import OfficialAccountSimulator, SentOfficialMessage
from parlour.testing.officialaccount_simulator.simulator import APP_ID, APP_SECRET, Window
from parlour_sdk.protocol.chain import Component, Image, Media, MessageChain, Plain, Platform, Video, Voice
from parlour_sdk.protocol.people import ChatType

HELLO = base64.b64encode(b"hello").decode()
ANN, BOB = "oAnn", "oBob"
SAMPLE_MEDIA = {"image": "a.png", "voice": "a.amr", "video": "a.mp4"}
LINK = {"Title": "A page", "Description": "about it", "Url": "https://example.org"}


class OfficialAccountDriver(PlatformDriver):
    manifest = BuiltinAdapterCatalogue().manifests()["officialaccount"]
    api = OfficialAccountApi
    level = "protocol+"
    samples = read_samples(Path(package.__file__).parent / "samples")
    connects = False
    tokens_per_message = 125

    def __init__(self) -> None:
        self.simulator = simulator = OfficialAccountSimulator()
        self.token = APP_SECRET
        self._numbers = itertools.count(1)
        simulator.window_replies = 10_000
        simulator.add_follower(ANN, "Ann")
        simulator.add_follower(BOB, "Bob")
        for kind, name in SAMPLE_MEDIA.items():
            simulator.add_media(kind, name, b"hello", f"SAMPLE_{kind.upper()}")

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.simulator.listening() as url:
            secrets = self.simulator.secrets
            self.config = {
                "app_id": APP_ID, "app_secret": APP_SECRET, "token": secrets.token, "mode": "service",
                "encoding_aes_key": secrets.encoding_aes_key, "api_base_url": url,
            }  # fmt: skip
            yield

    def called_at(self, address: str) -> None:
        self.simulator.calls.address = address

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        return OfficialAccountAdapter(link, backoff)

    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        """Creates a follower who has written before; official accounts have no groups."""
        open_id = f"oFollower{next(self._numbers)}"
        self.simulator.add_follower(open_id, open_id.title())
        self._open_window(open_id)
        return SuiteChat("private", open_id)

    def _open_window(self, open_id: str) -> None:
        self.simulator.windows[open_id] = Window(time.monotonic())

    async def say(self, chat: SuiteChat, text: str) -> None:
        await self.simulator.say(text, chat.id)

    def read(self, chat: SuiteChat) -> list[str]:
        return self.simulator.texts(chat.id)

    async def deliver(self, native: Any) -> None:
        await self.simulator.calls.call(xml_of(native))

    async def repeat(self) -> None:
        self.simulator.calls.start(self.simulator.calls.made[-1].content, "a repetition", self.simulator.begin)

    async def echo(self, chat: SuiteChat) -> None:
        raise NotImplementedError

    async def malformed(self, chat: SuiteChat, seed: int, number: int) -> None:
        generator, simulator = random.Random(seed), self.simulator
        contents = []
        for place in range(number):
            message = simulator.message(chat.id, "text", Content=f"damaged {place}")
            field = generator.choice(("FromUserName", "ToUserName", "CreateTime", "MsgId"))
            message[field] = generator.choice(("x", "-1", "9" * 40, "")) if field == "CreateTime" else ""
            content = xml_of(message)
            contents.append(content[: generator.randrange(len(content))] if generator.random() < 0.1 else content)
        await asyncio.gather(*map(simulator.calls.call, contents))

    def components(self, chat: SuiteChat) -> MessageChain:
        return [
            Plain(text="a < b & c 👨‍👩‍👧"),
            Image(base64=HELLO, name="a.png", mime_type="image/png"),
            Video(base64=HELLO, name="a.mp4", mime_type="video/mp4"),
            Voice(base64=HELLO, name="a.amr", mime_type="audio/amr"),
            Platform(platform="officialaccount", component_type="link", data=LINK),
            Plain(text="between"),
            Platform(platform="officialaccount", component_type="link", data={**LINK, "Title": "Another"}),
            Image(base64=HELLO, name="b.gif", mime_type="image/gif"),
            Plain(text="the end"),
        ]

    async def reflect(self, chat: SuiteChat) -> int:
        messages = self.simulator.sent(chat.id)
        for each in messages:
            kind, fields = self._reported(each)
            await self.simulator.calls.call(xml_of(self.simulator.message(chat.id, kind, **fields)))
        return len(messages)

    def _reported(self, message: SentOfficialMessage) -> tuple[str, Json]:
        """Returns kind and fields of a message in the form in which a follower would send it."""
        match message.kind:
            case "text":
                return "text", {"Content": message.text}
            case "news":
                names = {"Title": "title", "Description": "description", "Url": "url"}
                [article] = message.content["articles"]
                return "link", {own: article.get(name, "") for own, name in names.items()}
        return message.kind, {"MediaId": message.content["media_id"]}

    def same(self, sent: Component, received: Component) -> bool:
        """Compares what followers can send back. WeChat adds sizes to files and a readable form to links."""
        match sent, received:
            case Media(), Media():
                return (sent.base64, sent.name) == (received.base64, received.name)
            case Platform(), Platform():
                return (sent.component_type, sent.data) == (received.component_type, received.data)
        return sent == received

    async def use_apis(self, probe: Probe) -> None:
        self._open_window(BOB)
        await probe.calls(*_calls())
        assert self.simulator.texts(BOB) == ["sent"]
        assert any(each.text == "a reply" for each in self.simulator.sent())
        assert BOB in self.simulator.typing

    async def cut(self) -> None:
        self.simulator.server.cut()

    async def cut_for_long(self, times: int) -> None:
        self.simulator.server.turned_away = times
        self.simulator.server.cut()

    def refuse_send(self, retry_after: float | None = None) -> None:
        if retry_after is None:
            self.simulator.faults.refuse("message/custom/send", 43004, "require subscribe")
        else:
            self.simulator.faults.too_many("message/custom/send", retry_after)

    def cut_send(self, happens: bool) -> None:
        self.simulator.faults.cut("message/custom/send", happens)

    def stay_silent(self) -> None:
        self.simulator.faults.stay_silent("message/custom/send")

    def unacknowledged(self) -> int:
        return len(self.simulator.calls.waiting)


def _calls() -> Sequence[ApiCall]:
    text = [{"type": "Plain", "text": "sent"}]
    return [
        api_call("send_message", "messages.send", target_type="private", target_id=BOB, chain=text),
        ApiCall("reply_message", "reply", {"message": "a reply", "quote": False}),
        api_call("get_user_info", "users.info", {"nickname": "Ann"}, user_id=ANN),
        api_call("send_typing", "messages.typing", chat_type="private", chat_id=BOB),
        action_call("get_mode", {"mode": "service"}),
        action_call("get_cached_response_status", {"pending": False, "ready": False}, user_id=BOB),
        ApiCall("call_platform_api", "platform.call", {"action": "get_mode", "params": {}}),
    ]
