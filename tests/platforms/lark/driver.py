"""Plays Feishu in the shared adapter suite, over the simulated API and long connection."""

import itertools
import json
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import parlour.platforms.lark as package
from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, HostLink
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.lark.adapter import LarkAdapter
from parlour.platforms.lark.api import LarkApi
from parlour.testing.adapter_suite import ApiCall, PlatformDriver, Probe, SuiteChat, action_call, api_call
from parlour.testing.adapter_suite.driver import Json, known_fields
from parlour.testing.lark_simulator import LarkSimulator
from parlour.testing.lark_simulator.simulator import APP_ID, APP_SECRET
from parlour.testing.lark_simulator.world import BOT
from parlour.testing.native_payloads import read_samples
from parlour.testing.simulator import damaged
from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    Component,
    File,
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
CHAT, LEFT = "oc_sample", "oc_left"
ANN, BOB, EVE, SPEAKER = "ou_ann", "ou_bob", "ou_eve", "ou_sam"
QUOTED, FORWARDED = "om_quoted", "om_forwarded"
UNREADABLE = (None, True, 1.5, "", [], [[]], {}, {"id": {}}, [None])
"""Values that are no id and no time."""
CARD = {"schema": "2.0", "body": {"elements": [{"tag": "markdown", "content": "A card"}]}}


class LarkDriver(PlatformDriver):
    manifest = BuiltinAdapterCatalogue().manifests()["lark"]
    api = LarkApi
    level = "protocol+"
    samples = read_samples(Path(package.__file__).parent / "samples")
    tokens_per_message = 50

    def __init__(self) -> None:
        self.simulator = simulator = LarkSimulator()
        self.token = APP_SECRET
        simulator.sends_per_second = 1000.0
        self._numbers = itertools.count(1)
        world = simulator.world
        for user_id, name in ((ANN, "Ann"), (BOB, "Bob"), (EVE, "Eve"), (SPEAKER, "Sam")):
            world.add_user(name, user_id)
        world.add_chat("talk", ANN, BOB, EVE, SPEAKER, chat_id=CHAT)
        world.direct_chat(ANN)
        quoted = world.write(CHAT, BOB, "text", {"text": "the question"})
        world.messages[QUOTED] = {**quoted, "message_id": QUOTED, "create_time": "1779012300000"}
        forward = world.write(CHAT, ANN, "merge_forward", "Merged and Forwarded Message")
        world.messages[FORWARDED] = {**forward, "message_id": FORWARDED}
        for user_id, text in ((BOB, "first"), (EVE, "second")):
            child = world.write(CHAT, user_id, "text", {"text": text}, upper_message_id=FORWARDED)
            child["create_time"] = "1779012200000"
            world.messages[f"om_child_{text}"] = world.messages.pop(child["message_id"])
            child["message_id"] = f"om_child_{text}"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.simulator.listening() as url:
            self.config = {
                "app_id": APP_ID,
                "app_secret": APP_SECRET,
                "domain": "feishu",
                "mode": "long_connection",
                "api_base_url": url,
            }
            yield

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        return LarkAdapter(link, backoff)

    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        world = self.simulator.world
        if kind == "private":
            user_id = world.add_user(f"user {next(self._numbers)}")
            world.direct_chat(user_id)
            return SuiteChat(kind, user_id)
        return SuiteChat(kind, world.add_chat(f"group {next(self._numbers)}", SPEAKER))

    def _person(self, chat: SuiteChat) -> str:
        return chat.id if chat.kind == "private" else SPEAKER

    def _place(self, chat: SuiteChat) -> str:
        return self.simulator.world.direct_chat(chat.id) if chat.kind == "private" else chat.id

    async def say(self, chat: SuiteChat, text: str) -> None:
        await self.simulator.say(text, self._person(chat), self._place(chat), at_bot=chat.kind == "group")

    def read(self, chat: SuiteChat) -> list[str]:
        return self.simulator.texts(chat.id)

    async def deliver(self, native: Any) -> None:
        await self.simulator.deliver(native)

    async def repeat(self) -> None:
        await self.simulator.connection.send(self.simulator.reported[-1])

    async def echo(self, chat: SuiteChat) -> None:
        message = self.simulator.world.write(self._place(chat), BOT, "text", {"text": "I said this myself"})
        await self.simulator.report("im.message.receive_v1", self.simulator.received(message))

    async def malformed(self, chat: SuiteChat, seed: int, number: int) -> None:
        generator = random.Random(seed)
        message = self.simulator.world.write(self._place(chat), self._person(chat), "text", {"text": "damaged"})
        whole = self.simulator.received(message)
        for _ in range(number):
            event: Any = damaged(whole, generator)
            event["sender"] = whole["sender"]
            event["message"] = {
                **(event["message"] if isinstance(event.get("message"), dict) else {}),
                generator.choice(("message_id", "create_time", "message_type")): generator.choice(UNREADABLE),
            }
            report = self.simulator.event("im.message.receive_v1", event)
            if generator.random() < 0.1:
                report["event"] = generator.choice(UNREADABLE)
            await self.simulator.deliver(report)

    def components(self, chat: SuiteChat) -> MessageChain:
        quoted = self.simulator.world.write(self._place(chat), self._person(chat), "text", {"text": "a question"})
        origin: MessageChain = [Plain(text="a question")]
        return [
            Quote(id=quoted["message_id"], sender=self._person(chat), origin=origin),
            At(target=ANN),
            Plain(text=" says that a < b & c_d, "),
            AtAll(),
            Image(base64=HELLO, mime_type="image/png"),
            Video(base64=HELLO, name="a.mp4", mime_type="video/mp4"),
            Voice(base64=HELLO, mime_type="audio/ogg"),
            File(base64=HELLO, name="a.pdf", mime_type="application/pdf"),
            Platform(platform="lark", component_type="card", data=CARD),
            Platform(platform="lark", component_type="card", data={**CARD, "config": {"update_multi": True}}),
            Plain(text="between"),
            File(base64=HELLO, name="b.pdf", mime_type="application/pdf"),
            Plain(text="the end 👨‍👩‍👧"),
        ]

    async def reflect(self, chat: SuiteChat) -> int:
        """Lets a user send what the bot sent, in the form in which Lark reports messages of users."""
        messages = [each.payload for each in self.simulator.sent(chat.id)]
        for message in messages:
            content, mentions = json.loads(message["body"]["content"]), list[Json]()
            if message["msg_type"] == "post":
                [language] = content.values()
                content = {"title": "", "content": [_elements(row[0]["text"], mentions) for row in language["content"]]}
            if message["msg_type"] in ("file", "media"):
                content["file_name"] = self.simulator.world.files[content["file_key"]][0]
            shown = [self.simulator.mention(each["key"], each["id"], "") for each in mentions]
            place = {"parent_id": message["parent_id"]} if "parent_id" in message else {}
            await self.simulator.write(
                message["msg_type"], content, self._person(chat), self._place(chat), shown, **place
            )
        return len(messages)

    def same(self, sent: Component, received: Component) -> bool:
        """Files come back without their kind, and cards with a readable form."""
        match sent, received:
            case Media(), Media():
                return sent.base64 == received.base64 and received.name in (None, sent.name)
            case Platform(), Platform():
                return (sent.component_type, sent.data) == (received.component_type, received.data)
            case Quote(), Quote():
                return (sent.id, sent.sender, sent.origin) == (received.id, received.sender, received.origin)
        return sent == received

    async def produce_events(self, probe: Probe) -> list[Json]:
        for sample in self.samples:
            await self.deliver(sample.native)
        world = self.simulator.world
        kinds = {"image": "Image", "audio": "Voice", "media": "Video", "file": "File"}
        expected = [known_fields(sample.decoded) for sample in self.samples]
        for kind, component in kinds.items():
            key = f"key_{kind}"
            world.files[key] = (f"a.{kind}", b"hello")
            content = {"image_key": key} if kind == "image" else {"file_key": key, "file_name": f"a.{kind}"}
            await self.simulator.write(kind, content, ANN, CHAT)
            expected.append({"type": "message.received", "message_chain": [{"type": "Source"}, {"type": component}]})
        return expected

    async def use_apis(self, probe: Probe) -> None:
        world = self.simulator.world
        world.add_chat("left soon", chat_id=LEFT)
        theirs = world.write(CHAT, BOB, "image", {"image_key": "img_theirs"})
        world.files["img_theirs"] = ("a.png", b"hello")
        sent = await probe.calls(
            ApiCall(
                "send_message",
                "messages.send",
                {"target_type": "group", "target_id": CHAT, "chain": [{"type": "Plain", "text": "own"}]},
            )
        )
        assert sent is None or sent
        own = next(each for each in self.simulator.sent(CHAT) if each.text == "own").id
        await probe.calls(*_calls(own, theirs["message_id"]))
        _check_world(self.simulator, own, theirs["message_id"])

    def streamed(self, chat: SuiteChat) -> int:
        return sum(len(set(each.versions)) - 1 for each in self.simulator.sent(chat.id))

    async def cut(self) -> None:
        self.simulator.server.cut()

    async def cut_for_long(self, times: int) -> None:
        self.simulator.server.turned_away = times
        self.simulator.server.cut()

    def refuse_send(self, retry_after: float | None = None) -> None:
        if retry_after is None:
            self.simulator.faults.refuse("message_send", 230018)
        else:
            self.simulator.faults.too_many("message_send", retry_after)

    def cut_send(self, happens: bool) -> None:
        self.simulator.faults.cut("message_send", happens)

    def stay_silent(self) -> None:
        self.simulator.faults.stay_silent("message_send")

    def unacknowledged(self) -> int:
        return len(self.simulator.connection.waiting)


def _elements(markdown: str, mentions: list[Json]) -> list[Json]:
    """Returns the elements that a user's rich text has for this Markdown."""
    elements: list[Json] = []
    for place, part in enumerate(markdown.replace("</at>", "").split('<at user_id="')):
        text = part
        if place:
            target, _, text = part.partition('">')
            key = "@_all" if target == "all" else f"@_user_{len(mentions) + 1}"
            if target != "all":
                mentions.append({"key": key, "id": target})
            elements.append({"tag": "at", "user_id": key, "user_name": ""})
        elements.append({"tag": "text", "text": text.replace("&#60;", "<")})
    return [each for each in elements if each.get("text") != ""]


def _calls(own: str, theirs: str) -> Sequence[ApiCall]:
    group = {"group_id": CHAT}
    text = [{"type": "Plain", "text": "sent"}]
    message = {"chat_type": "group", "chat_id": CHAT, "message_id": own}
    other = {**message, "message_id": theirs}
    away = {"from_chat_type": "group", "from_chat_id": CHAT, "message_id": theirs}
    resource = {"message_id": theirs, "file_key": "img_theirs", "type": "image"}
    return [
        ApiCall("reply_message", "reply", {"message": "a reply", "quote": False}),
        api_call("send_message", "messages.send", target_type="private", target_id=EVE, chain=text),
        api_call("edit_message", "messages.edit", **message, chain=[{"type": "Plain", "text": "changed"}]),
        api_call("get_message", "messages.get", {"sender": {"id": BOB}}, **other),
        api_call("forward_message", "messages.forward", **away, to_chat_type="private", to_chat_id=ANN),
        api_call("react", "messages.react", **other, reaction="🎉", add=True),
        api_call("react", "messages.react", **other, reaction="👍", add=True),
        api_call("react", "messages.react", **other, reaction="🎉", add=False),
        api_call("get_group_info", "groups.info", {"name": "talk", "member_count": 4}, **group),
        api_call("get_group_list", "groups.list"),
        api_call("get_group_member_list", "groups.members", None, **group),
        api_call("get_group_member_info", "groups.member", {"role": "owner"}, **group, user_id=ANN),
        api_call("set_group_name", "groups.rename", **group, name="renamed"),
        api_call("kick_member", "groups.kick", **group, user_id=EVE),
        api_call("leave_group", "groups.leave", group_id=LEFT),
        api_call("get_user_info", "users.info", {"nickname": "Ann"}, user_id=ANN),
        action_call("get_mode", {"mode": "long_connection", "open_id": BOT}),
        action_call("check_tenant_access_token", {"valid": True}),
        action_call("refresh_tenant_access_token", {"refreshed": True}),
        action_call("get_chat", {"chat_mode": "group"}, chat_id=CHAT),
        action_call("get_message", None, message_id=theirs),
        action_call("get_message_resource", {"base64": HELLO}, **resource),
        ApiCall("call_platform_api", "platform.call", {"action": "get_mode", "params": {}}),
        api_call("delete_message", "messages.delete", **message),
    ]


def _check_world(simulator: LarkSimulator, own: str, theirs: str) -> None:
    """Checks the effects of the calls on the simulated platform."""
    world = simulator.world
    assert world.chats[CHAT]["name"] == "renamed"
    message = world.sent_message(own)
    assert message is not None
    assert (message.versions, message.deleted) == (["own", "changed"], True)
    reactions = [each["reaction_type"]["emoji_type"] for each in world.reactions.values()]
    assert reactions == ["THUMBSUP"]
    assert EVE not in world.members[CHAT]
    assert BOT not in world.members[LEFT]
    assert [each.file for each in simulator.sent(ANN)] == [b"hello"]
    assert simulator.texts(EVE) == ["sent"]
    assert any(each.text == "a reply" for each in simulator.sent())
