"""Plays DingTalk in the shared adapter suite, over the simulated stream mode and APIs."""

import base64
import itertools
import json
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import parlour.platforms.dingtalk as package
from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, HostLink
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.dingtalk.adapter import DingTalkAdapter
from parlour.platforms.dingtalk.api import DingTalkApi
from parlour.testing.adapter_suite import ApiCall, PlatformDriver, Probe, SuiteChat, action_call, api_call
from parlour.testing.adapter_suite.driver import Json
from parlour.testing.dingtalk_simulator import DingTalkSimulator, SentDingTalkMessage
from parlour.testing.dingtalk_simulator.simulator import CLIENT, SECRET, TEMPLATE
from parlour.testing.native_payloads import read_samples
from parlour_sdk.protocol.chain import Component, File, Image, Media, MessageChain, Plain, Voice
from parlour_sdk.protocol.people import ChatType

HELLO = base64.b64encode(b"hello").decode()
ANN, BOB = "0123ann", "0123bob"
SEND = "v1.0/robot/oToMessages/batchSend"
FILES = {
    "SAMPLE_PICTURE": "image/png", "SAMPLE_AUDIO": "audio/amr", "SAMPLE_VIDEO": "video/mp4",
    "SAMPLE_FILE": "application/pdf",
}  # fmt: skip
UNREADABLE = (None, True, 1.5, "", [], {})


class DingTalkDriver(PlatformDriver):
    manifest = BuiltinAdapterCatalogue().manifests()["dingtalk"]
    api = DingTalkApi
    level = "protocol+"
    samples = read_samples(Path(package.__file__).parent / "samples")
    tokens_per_message = 50

    def __init__(self) -> None:
        self.simulator = simulator = DingTalkSimulator()
        self.token = SECRET
        self._numbers = itertools.count(1)
        simulator.add_user(ANN, "Ann")
        simulator.add_user(BOB, "Bob")
        for code, mime_type in FILES.items():
            simulator.add_file(b"hello", mime_type, code)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.simulator.listening() as url:
            self.config = {
                "client_id": CLIENT, "client_secret": SECRET, "card_template_id": TEMPLATE, "api_base_url": url,
                "oapi_base_url": url,
            }  # fmt: skip
            yield

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        return DingTalkAdapter(link, backoff)

    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        name = f"user{next(self._numbers)}"
        if kind == "private":
            self.simulator.add_user(name, name.title())
            return SuiteChat(kind, name)
        return SuiteChat(kind, f"cidGroup{next(self._numbers)}==")

    def _place(self, chat: SuiteChat) -> tuple[str, str]:
        return (chat.id, "") if chat.kind == "private" else (ANN, chat.id)

    async def say(self, chat: SuiteChat, text: str) -> None:
        await self.simulator.say(text, *self._place(chat))

    def read(self, chat: SuiteChat) -> list[str]:
        return self.simulator.texts(chat.id)

    async def deliver(self, native: Any) -> None:
        frame = {**native, "headers": {**native["headers"], "messageId": f"sample{next(self._numbers)}"}}
        if native["headers"]["topic"].endswith("callback"):
            frame["headers"]["messageId"] = native["headers"]["messageId"]
        await self.simulator.stream.report({**frame, "data": json.dumps(native["data"], ensure_ascii=False)})

    async def repeat(self) -> None:
        await self.simulator.report(self.simulator.reported[-1])

    async def echo(self, chat: SuiteChat) -> None:
        raise NotImplementedError

    async def malformed(self, chat: SuiteChat, seed: int, number: int) -> None:
        generator = random.Random(seed)
        for place in range(number):
            user_id, group = self._place(chat)
            message = self.simulator.message(user_id, "text", group, content=f"damaged {place}")
            message[generator.choice(("msgId", "createAt", "conversationType", "text"))] = generator.choice(UNREADABLE)
            await self.simulator.report(generator.choice(("no json", [], 7)) if generator.random() < 0.1 else message)

    def components(self, chat: SuiteChat) -> MessageChain:
        return [
            Plain(text="a < b & c 👨‍👩‍👧"),
            Image(base64=HELLO, mime_type="image/png"),
            Voice(base64=HELLO, mime_type="audio/amr", duration=3),
            Plain(text="between"),
            File(base64=HELLO, name="b.pdf", mime_type="application/pdf"),
            Image(base64=HELLO, mime_type="image/png"),
            Plain(text="the end"),
        ]

    async def reflect(self, chat: SuiteChat) -> int:
        messages = self.simulator.sent(chat.id)
        for each in messages:
            await self.simulator.report(self.reported(chat, each))
        return len(messages)

    def reported(self, chat: SuiteChat, sent: SentDingTalkMessage) -> Json:
        """Returns a message in the form in which a user would send it."""
        user_id, group = self._place(chat)
        media_id = sent.params.get("mediaId") or sent.params.get("photoURL")
        if media_id is None:
            return self.simulator.message(user_id, "text", group, content=sent.text)
        code = self.simulator.add_file(self.simulator.media[media_id][2])
        kind = {"sampleImageMsg": "picture", "sampleAudio": "audio", "sampleFile": "file"}[sent.kind]
        fields = {"fileName": sent.params["fileName"]} if kind == "file" else {}
        return self.simulator.message(user_id, kind, group, downloadCode=code, **fields)

    def same(self, sent: Component, received: Component) -> bool:
        """DingTalk keeps the names of files only, and adds sizes."""
        match sent, received:
            case File(), File():
                return (sent.base64, sent.name) == (received.base64, received.name)
            case Media(), Media():
                return sent.base64 == received.base64
        return sent == received

    async def use_apis(self, probe: Probe) -> None:
        *first, delete = _calls()
        answers = await probe.calls(*first)
        sent = next(each["message_id"] for each in answers if isinstance(each, dict) and "message_id" in each)
        await probe.calls(ApiCall(delete.row, delete.method, {**delete.arguments, "message_id": sent}))
        assert [each.deleted for each in self.simulator.messages if each.chat == BOB] == [True]
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
            self.simulator.faults.refuse(SEND, 400, "robot.stopped")
        else:
            self.simulator.faults.too_many(SEND)

    def cut_send(self, happens: bool) -> None:
        self.simulator.faults.cut(SEND, happens)

    def stay_silent(self) -> None:
        self.simulator.faults.stay_silent(SEND)

    def unacknowledged(self) -> int:
        return len(self.simulator.stream.waiting)


def _calls() -> Sequence[ApiCall]:
    text = [{"type": "Plain", "text": "sent"}]
    hello = {"base64": HELLO}
    return [
        api_call("send_message", "messages.send", target_type="private", target_id=BOB, chain=text),
        ApiCall("reply_message", "reply", {"message": "a reply", "quote": False}),
        api_call("get_user_info", "users.info", {"nickname": "Ann"}, user_id=ANN),
        action_call("check_access_token", {"valid": True}),
        action_call("refresh_access_token", {"refreshed": True}),
        action_call("get_file_url", {"url": None}, download_code="SAMPLE_FILE"),
        action_call("get_audio_base64", hello, download_code="SAMPLE_AUDIO"),
        action_call("download_image_base64", hello, download_code="SAMPLE_PICTURE"),
        ApiCall("call_platform_api", "platform.call", {"action": "check_access_token", "params": {}}),
        api_call("delete_message", "messages.delete", chat_type="private", chat_id=BOB),
    ]
