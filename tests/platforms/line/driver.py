"""Plays LINE in the shared adapter suite, over the simulated Messaging API and signed calls."""

import itertools
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import parlour.platforms.line as package
from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, HostLink
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.line.adapter import LineAdapter
from parlour.platforms.line.api import LineApi
from parlour.testing.adapter_suite import ApiCall, PlatformDriver, Probe, SuiteChat, action_call, api_call
from parlour.testing.adapter_suite.driver import Json
from parlour.testing.line_simulator import LineSimulator, SentLineMessage
from parlour.testing.line_simulator.simulator import ACCESS_TOKEN, CHANNEL_SECRET
from parlour.testing.line_simulator.world import BOT_USER, line_id
from parlour.testing.native_payloads import read_samples
from parlour.testing.simulator import damaged
from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    Component,
    Face,
    Image,
    Media,
    MessageChain,
    Plain,
    Platform,
    Quote,
    Video,
    Voice,
)
from parlour_sdk.protocol.people import ChatType

HELLO = "aGVsbG8="
ANN, BOB, SPEAKER = line_id("U", 0xA1), line_id("U", 0xB0B), line_id("U", 0x5A)
GROUP, ROOM = line_id("C", 0xC1), line_id("R", 0xD1)
SAMPLE_CONTENTS = {f"1000{number}": b"hello" for number in range(4)}
UNREADABLE = (None, True, 1.5, "", [], [[]], {}, {"id": {}}, [None])
"""Values that are no source and no time."""


class LineDriver(PlatformDriver):
    manifest = BuiltinAdapterCatalogue().manifests()["line"]
    api = LineApi
    level = "protocol+"
    samples = read_samples(Path(package.__file__).parent / "samples")
    tokens_per_message = 25
    connects = False

    def __init__(self) -> None:
        self.simulator = simulator = LineSimulator()
        self.token = ACCESS_TOKEN
        self._numbers = itertools.count(1)
        self._quotable = ""
        world = simulator.world
        for user_id, name in ((ANN, "Ann"), (BOB, "Bob"), (SPEAKER, "Sam")):
            world.add_user(name, user_id)
        world.add_group("talk", ANN, BOB, SPEAKER, group_id=GROUP)
        world.add_group("", ANN, BOB, group_id=ROOM, kind="room")
        world.contents |= SAMPLE_CONTENTS

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.simulator.listening() as url:
            self.config = {
                "channel_access_token": ACCESS_TOKEN, "channel_secret": CHANNEL_SECRET, "api_base_url": url,
                "public_url": self.simulator.public_address,
            }  # fmt: skip
            yield

    def called_at(self, address: str) -> None:
        self.simulator.request_url = address
        self.simulator.real_address = address.partition("/hooks/")[0]

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        return LineAdapter(link, backoff)

    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        world, number = self.simulator.world, next(self._numbers)
        if kind == "private":
            return SuiteChat(kind, world.add_user(f"user {number}"))
        return SuiteChat(kind, world.add_group(f"group {number}", ANN, SPEAKER))

    async def chat_for_components(self) -> SuiteChat:
        """Creates a group with a message that can be quoted, which does not count as one for the bot."""
        chat = await self.chat("group")
        event = self.simulator.message(chat.id, SPEAKER, type="text", text="quoted")
        self._quotable = str(event["message"]["id"])
        await self.simulator.report({**event, "mode": "standby"})
        return chat

    def _person(self, chat: SuiteChat) -> str:
        return chat.id if chat.kind == "private" else SPEAKER

    async def say(self, chat: SuiteChat, text: str) -> None:
        fields: Json = {}
        if chat.kind == "group":
            mentionee = {"index": 0, "length": 8, "type": "user", "userId": BOT_USER, "isSelf": True}
            text, fields = f"@Parlour {text}", {"mention": {"mentionees": [mentionee]}}
        await self.simulator.say(text, self._person(chat), chat.id, **fields)

    def read(self, chat: SuiteChat) -> list[str]:
        return self.simulator.texts(chat.id)

    async def deliver(self, native: Any) -> None:
        await self.simulator.report(native)

    async def repeat(self) -> None:
        event = self.simulator.reported[-1]
        await self.simulator.report({**event, "deliveryContext": {"isRedelivery": True}})

    async def echo(self, chat: SuiteChat) -> None:
        raise NotImplementedError

    async def malformed(self, chat: SuiteChat, seed: int, number: int) -> None:
        generator = random.Random(seed)
        event = self.simulator.message(chat.id, self._person(chat), type="text", text="damaged")
        for place in range(number):
            changed = {**damaged(event, generator), "webhookEventId": f"damaged-{seed}-{place}"}
            changed[generator.choice(("source", "timestamp"))] = generator.choice(UNREADABLE)
            await self.simulator.report(generator.choice(UNREADABLE) if generator.random() < 0.1 else changed)

    def components(self, chat: SuiteChat) -> MessageChain:
        place = {"title": "A place", "address": "A street 1", "latitude": 35.6, "longitude": 139.7}
        return [
            Quote(id=self._quotable),
            At(target=ANN),
            Plain(text=" says {that} "),
            AtAll(),
            Plain(text=" like "),
            Face(id="emoji|5ac1bfd5040ab15980c9b435|001"),
            Image(base64=HELLO, mime_type="image/png"),
            Video(base64=HELLO, mime_type="video/mp4"),
            Voice(base64=HELLO, mime_type="audio/mpeg", duration=3),
            Face(id="sticker|446|1988"),
            Platform(platform="line", component_type="location", data=place),
            Plain(text="the end 👨‍👩‍👧"),
            Image(base64=HELLO, mime_type="image/png"),
        ]

    async def reflect(self, chat: SuiteChat) -> int:
        messages = self.simulator.sent(chat.id)
        for message in messages:
            await self._reflect(chat, message)
        return len(messages)

    async def _reflect(self, chat: SuiteChat, message: SentLineMessage) -> None:
        payload = message.payload
        match payload["type"]:
            case "image" | "video" | "audio" as kind:
                assert message.content == b"hello"
                await self.simulator.send_file(kind, message.content, SPEAKER, chat.id, duration=3000)
            case "text" | "textV2":
                text, fields = native_text(payload)
                if "quoteToken" in payload:
                    fields["quotedMessageId"] = self.simulator.world.quote_tokens[payload["quoteToken"]]
                await self.simulator.say(text, SPEAKER, chat.id, **fields)
            case _:
                await self.simulator.report(self.simulator.message(chat.id, SPEAKER, **payload))

    def same(self, sent: Component, received: Component) -> bool:
        """LINE keeps no names of files and shows mentions with a name of its own."""
        match sent, received:
            case Media(), Media():
                return sent.base64 == received.base64
            case At(), At():
                return sent.target == received.target
            case Face(), Face():
                return sent.id == received.id
            case Platform(), Platform():
                return (sent.component_type, sent.data) == (received.component_type, received.data)
        return sent == received

    async def use_apis(self, probe: Probe) -> None:
        simulator = self.simulator
        left = simulator.world.add_group("left soon", ANN)
        seen = await simulator.say("look", ANN, GROUP)
        await probe.calls(*_calls(left, seen["message"]["id"]))
        assert left not in simulator.world.chats
        assert simulator.world.typing == [ANN]
        assert simulator.texts(GROUP) == ["sent"]
        [quoting] = [each for each in simulator.sent(ANN) if each.text == "quoting"]
        assert simulator.world.quote_tokens[quoting.payload["quoteToken"]] == seen["message"]["id"]
        assert any(each.text == "a reply" and each.is_reply for each in simulator.sent())

    async def cut(self) -> None:
        self.simulator.server.cut()

    async def cut_for_long(self, times: int) -> None:
        raise NotImplementedError

    def refuse_send(self, retry_after: float | None = None) -> None:
        if retry_after is None:
            self.simulator.faults.refuse("reply")
        else:
            self.simulator.faults.too_many("reply")

    def cut_send(self, happens: bool) -> None:
        self.simulator.faults.cut("reply", happens)

    def stay_silent(self) -> None:
        self.simulator.faults.stay_silent("reply")

    def unacknowledged(self) -> int:
        return len(self.simulator.waiting)


def native_text(payload: Json) -> tuple[str, Json]:
    """Returns a sent text in the form in which LINE reports the text of a user."""
    text, mentionees, emojis = "", [], []
    parts = payload["text"].replace("{{", "\x01").replace("}}", "\x02").split("{")
    if payload["type"] == "text":
        return payload["text"], {}
    for place, part in enumerate(parts):
        name, _, rest = part.partition("}") if place else ("", "", part)
        if name:
            value = payload["substitution"][name]
            index = len(text.encode("utf-16-le")) // 2
            if value["type"] == "emoji":
                emojis.append({"index": index, "length": 7, **value})
                text += "(brown)"
            else:
                mentionees.append({"index": index, "length": 5, **value["mentionee"]})
                text += "@name"
        text += rest.replace("\x01", "{").replace("\x02", "}")
    return text, {"mention": {"mentionees": mentionees}, "emojis": emojis}


def _calls(left: str, seen: str) -> Sequence[ApiCall]:
    group = {"group_id": GROUP}
    text = [{"type": "Plain", "text": "sent"}]
    quoting = [{"type": "Quote", "id": seen}, {"type": "Plain", "text": "quoting"}]
    return [
        ApiCall("reply_message", "reply", {"message": "a reply", "quote": False}),
        api_call("send_message", "messages.send", target_type="group", target_id=GROUP, chain=text),
        api_call("send_message", "messages.send", target_type="private", target_id=ANN, chain=quoting),
        api_call("send_typing", "messages.typing", chat_type="private", chat_id=ANN),
        api_call("get_group_info", "groups.info", {"name": "talk", "member_count": 3}, **group),
        api_call("get_group_member_info", "groups.member", {"user": {"nickname": "Bob"}}, **group, user_id=BOB),
        api_call("leave_group", "groups.leave", group_id=left),
        api_call("get_user_info", "users.info", {"nickname": "Ann"}, user_id=ANN),
        action_call("get_quota", {"type": "none"}),
        action_call("get_bot_info", {"userId": BOT_USER}),
        ApiCall("call_platform_api", "platform.call", {"action": "get_bot_info", "params": {}}),
    ]
