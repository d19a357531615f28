"""Plays WeCom in the shared adapter suite: members write over encrypted calls, and read what the application sends."""

import asyncio
import base64
import itertools
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import parlour.platforms.wecom as package
from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, HostLink
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.wecom.adapter import WecomAdapter
from parlour.platforms.wecom.api import WecomApi
from parlour.testing.adapter_suite import ApiCall, PlatformDriver, Probe, SuiteChat, action_call, api_call
from parlour.testing.adapter_suite.driver import Json
from parlour.testing.errcode_simulator import xml_of
from parlour.testing.native_payloads import read_samples
from parlour.testing.wecom_simulator import SentWecomMessage, WecomSimulator
from parlour.testing.wecom_simulator.simulator import AGENT, CONTACTS_SECRET, CORP, SECRET
from parlour_sdk.protocol.chain import Component, File, Image, Media, MessageChain, Plain, Platform, Video, Voice
from parlour_sdk.protocol.people import ChatType

HELLO = base64.b64encode(b"hello").decode()
ANN, BOB = "ann", "bob"
SAMPLE_MEDIA = {"image": "a.png", "voice": "a.amr", "video": "a.mp4"}
LINK = {"Title": "A page", "Description": "about it", "Url": "https://example.org", "PicUrl": ""}
MANY = {"minute": (10_000.0, 1.0)}


class WecomDriver(PlatformDriver):
    manifest = BuiltinAdapterCatalogue().manifests()["wecom"]
    api = WecomApi
    level = "protocol+"
    samples = read_samples(Path(package.__file__).parent / "samples")
    connects = False
    tokens_per_message = 125

    def __init__(self) -> None:
        self.simulator = simulator = WecomSimulator()
        self.token = SECRET
        self._numbers = itertools.count(1)
        simulator.limits = MANY
        simulator.add_member(ANN, "Ann")
        simulator.add_member(BOB, "Bob")
        for kind, name in SAMPLE_MEDIA.items():
            simulator.add_media(kind, name, b"hello", f"SAMPLE_{kind.upper()}")

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.simulator.listening() as url:
            secrets = self.simulator.secrets
            self.config = {
                "corpid": CORP, "secret": SECRET, "token": secrets.token, "contacts_secret": CONTACTS_SECRET,
                "encoding_aes_key": secrets.encoding_aes_key, "api_base_url": url,
            }  # fmt: skip
            yield

    def called_at(self, address: str) -> None:
        self.simulator.calls.address = address

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        return WecomAdapter(link, backoff)

    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        """Creates a member; WeCom has no groups with applications."""
        user_id = f"member{next(self._numbers)}"
        self.simulator.add_member(user_id, user_id.title())
        return SuiteChat("private", f"{user_id}|{AGENT}")

    def _member(self, chat: SuiteChat) -> str:
        return chat.id.partition("|")[0]

    async def say(self, chat: SuiteChat, text: str) -> None:
        await self.simulator.say(text, self._member(chat))

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
            message = simulator.message(self._member(chat), "text", Content=f"damaged {place}")
            field = generator.choice(("FromUserName", "AgentID", "CreateTime", "MsgId"))
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
            Platform(platform="wecom", component_type="link", data=LINK),
            Plain(text="between"),
            Platform(platform="wecom", component_type="link", data={**LINK, "Title": "Another"}),
            File(base64=HELLO, name="b.pdf", mime_type="application/pdf"),
            Plain(text="the end"),
        ]

    async def reflect(self, chat: SuiteChat) -> int:
        messages = self.simulator.sent(chat.id)
        for each in messages:
            kind, fields = self._reported(each)
            await self.simulator.calls.call(xml_of(self.simulator.message(self._member(chat), kind, **fields)))
        return len(messages)

    def _reported(self, message: SentWecomMessage) -> tuple[str, Json]:
        """Returns kind and fields of a message in the form in which a member would send it."""
        match message.kind:
            case "text":
                return "text", {"Content": message.text}
            case "news":
                names = {"Title": "title", "Description": "description", "Url": "url", "PicUrl": "picurl"}
                [article] = message.content["articles"]
                return "link", {own: article.get(name, "") for own, name in names.items()}
        return message.kind, {"MediaId": message.content["media_id"]}

    def same(self, sent: Component, received: Component) -> bool:
        """Compares what members can send back. WeCom adds sizes to files and a readable form to links."""
        match sent, received:
            case Media(), Media():
                return (sent.base64, sent.name) == (received.base64, received.name)
            case Platform(), Platform():
                return (sent.component_type, sent.data) == (received.component_type, received.data)
        return sent == received

    async def use_apis(self, probe: Probe) -> None:
        simulator = self.simulator
        calls = _calls()
        *first, delete = calls
        answers = await probe.calls(*first)
        sent = next(each["message_id"] for each in answers if isinstance(each, dict) and "message_id" in each)
        await probe.calls(ApiCall(delete.row, delete.method, {**delete.arguments, "message_id": sent}))
        shown = [each for each in simulator.messages if each.chat == f"{BOB}|{AGENT}"]
        assert [(each.text, each.deleted) for each in shown] == [("sent", True), ("to all of you", False)], shown
        assert any(each.text == "a reply" for each in simulator.sent())
        assert simulator.made.count("gettoken") >= 2

    async def cut(self) -> None:
        self.simulator.server.cut()

    async def cut_for_long(self, times: int) -> None:
        self.simulator.server.turned_away = times
        self.simulator.server.cut()

    def refuse_send(self, retry_after: float | None = None) -> None:
        if retry_after is None:
            self.simulator.faults.refuse("message/send", 82001, "all touser invalid")
        else:
            self.simulator.faults.too_many("message/send", retry_after)

    def cut_send(self, happens: bool) -> None:
        self.simulator.faults.cut("message/send", happens)

    def stay_silent(self) -> None:
        self.simulator.faults.stay_silent("message/send")

    def unacknowledged(self) -> int:
        return len(self.simulator.calls.waiting)


def _calls() -> Sequence[ApiCall]:
    text = [{"type": "Plain", "text": "sent"}]
    target = {"target_type": "private", "target_id": f"{BOB}|{AGENT}"}
    place = {"chat_type": "private", "chat_id": f"{BOB}|{AGENT}"}
    return [
        api_call("send_message", "messages.send", **target, chain=text),
        ApiCall("reply_message", "reply", {"message": "a reply", "quote": False}),
        api_call("get_user_info", "users.info", {"nickname": "Ann"}, user_id=ANN),
        action_call("check_access_token", {"valid": True}),
        action_call("refresh_access_token", {"refreshed": True}),
        action_call("get_user_info", {"name": "Ann", "status": 1}, user_id=ANN),
        action_call("send_to_all", None, agent_id=AGENT, text="to all of you"),
        ApiCall("call_platform_api", "platform.call", {"action": "check_access_token", "params": {}}),
        api_call("delete_message", "messages.delete", **place),
    ]
