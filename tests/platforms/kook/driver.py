"""Plays KOOK in the shared adapter suite, over the simulated gateway and HTTP API."""

import itertools
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import parlour.platforms.kook as package
from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, HostLink
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.kook.adapter import KookAdapter
from parlour.platforms.kook.api import KookApi
from parlour.testing.adapter_suite import ApiCall, PlatformDriver, Probe, SuiteChat, action_call, api_call
from parlour.testing.adapter_suite.driver import Json
from parlour.testing.kook_simulator import KookSimulator
from parlour.testing.kook_simulator.world import BOT_ID
from parlour.testing.native_payloads import read_samples
from parlour.testing.simulator import damaged
from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    Component,
    Face,
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
GUILD, LEFT, CHANNEL = "601638990", "601638991", "6186547201"
ANN, BOB, EVE, SPEAKER = "2862900001", "2862900002", "2862900003", "2862900004"
MANY = (1000.0, 1.0)
UNREADABLE = (None, True, 1.5, "", [], [[]], {}, {"id": {}}, [None])
"""Values that are no author and no kind of channel."""


class KookDriver(PlatformDriver):
    manifest = BuiltinAdapterCatalogue().manifests()["kook"]
    api = KookApi
    level = "protocol+"
    samples = read_samples(Path(package.__file__).parent / "samples")
    tokens_per_message = 125

    def __init__(self) -> None:
        self.simulator = simulator = KookSimulator()
        self.token = simulator.token
        self._numbers = itertools.count(1)
        world = simulator.world
        for user_id, name in ((ANN, "Ann"), (BOB, "Bob"), (EVE, "Eve"), (SPEAKER, "Sam")):
            world.add_user(name, user_id)
        world.add_guild("The Server", GUILD, ANN, BOB, EVE, SPEAKER)
        world.add_channel(GUILD, "talk", CHANNEL)
        simulator.limit = MANY

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.simulator.listening() as url:
            self.config = {"token": self.token, "api_base_url": url}
            yield

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        return KookAdapter(link, backoff)

    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        world = self.simulator.world
        if kind == "private":
            return SuiteChat(kind, world.add_user(f"user {next(self._numbers)}")["id"])
        return SuiteChat(kind, world.add_channel(GUILD, f"channel {next(self._numbers)}")["id"])

    def _place(self, chat: SuiteChat) -> tuple[str, str, str]:
        """Returns the kind and id of the chat, and the user who writes there."""
        return ("PERSON", chat.id, chat.id) if chat.kind == "private" else ("GROUP", chat.id, SPEAKER)

    async def say(self, chat: SuiteChat, text: str) -> None:
        fields: Json = {}
        if chat.kind == "group":
            fields = {"mention": [BOT_ID], "mention_part": [{"id": BOT_ID, "username": "Parlour"}]}
            text = f"(met){BOT_ID}(met) {text}"
        kind = 1 if chat.kind == "private" else 9
        await self.simulator.say(*self._place(chat), text, kind, **fields)

    def read(self, chat: SuiteChat) -> list[str]:
        return self.simulator.texts(chat.id)

    async def deliver(self, native: Any) -> None:
        await self.simulator.gateway.dispatch(native)

    async def repeat(self) -> None:
        await self.simulator.gateway.send(self.simulator.reported[-1])

    async def echo(self, chat: SuiteChat) -> None:
        kind, chat_id, _ = self._place(chat)
        message = self.simulator.world.write(kind, chat_id, BOT_ID, 9, "I said this myself")
        await self.simulator.report(self.simulator.world.event(message))

    async def malformed(self, chat: SuiteChat, seed: int, number: int) -> None:
        generator = random.Random(seed)
        event = self.simulator.world.event(self.simulator.world.write(*self._place(chat), 9, "damaged"))
        for _ in range(number):
            data: Any = {**damaged(event, generator), "msg_id": f"odd-{generator.random()}"}
            data[generator.choice(("author_id", "channel_type"))] = generator.choice(UNREADABLE)
            if generator.random() < 0.1:
                data = generator.choice(UNREADABLE)
            await self.simulator.gateway.dispatch(data)

    def components(self, chat: SuiteChat) -> MessageChain:
        kind, chat_id, _ = self._place(chat)
        quoted = self.simulator.world.write(kind, chat_id, BOT_ID, 9, "earlier")
        text = {"type": "section", "text": {"type": "plain-text", "content": "A card"}}
        card = {"type": "card", "theme": "info", "size": "lg", "modules": [text]}
        return [
            Quote(id=quoted["id"], sender=BOT_ID, name="Parlour", origin=[Plain(text="earlier")]),
            At(target=ANN),
            Plain(text=" says that a < b & c_d (met), "),
            Face(id="601638990/abc", name="wave"),
            AtAll(),
            Image(base64=HELLO, name="a.png", mime_type="image/png"),
            Video(base64=HELLO, name="a.mp4", mime_type="video/mp4"),
            Voice(base64=HELLO, name="a.mp3", mime_type="audio/mpeg"),
            Plain(text="between"),
            File(base64=HELLO, name="a.pdf", mime_type="application/pdf"),
            Platform(platform="kook", component_type="card", data=card),
            Platform(platform="kook", component_type="card", data={**card, "theme": "danger"}),
            Image(base64=HELLO, name="b.png", mime_type="image/png"),
            Plain(text="the end 👨‍👩‍👧"),
        ]

    async def reflect(self, chat: SuiteChat) -> int:
        messages = [each.payload for each in self.simulator.sent(chat.id)]
        for message in messages:
            fields = {name: message[name] for name in ("quote", "attachments") if name in message}
            await self.simulator.say(*self._place(chat), message["content"], message["type"], **fields)
        return len(messages)

    def same(self, sent: Component, received: Component) -> bool:
        """Files come back as addresses, and cards with a readable form."""
        match sent, received:
            case Media(), Media():
                return bool(received.url) and received.name == sent.name
            case Platform(), Platform():
                return (sent.component_type, sent.data) == (received.component_type, received.data)
        return sent == received

    async def use_apis(self, probe: Probe) -> None:
        world = self.simulator.world
        world.add_guild("left soon", LEFT, ANN)
        own = world.write("GROUP", CHANNEL, BOT_ID, 9, "own")
        theirs = world.write("GROUP", CHANNEL, BOB, 9, "theirs")
        await probe.calls(*_calls(own["id"], theirs["id"]))
        _check_world(self.simulator, own, theirs)

    async def cut(self) -> None:
        self.simulator.server.cut()

    async def cut_for_long(self, times: int) -> None:
        self.simulator.server.turned_away = times
        self.simulator.server.cut()

    def refuse_send(self, retry_after: float | None = None) -> None:
        if retry_after is None:
            self.simulator.faults.refuse("direct-message/create", 40300, "你没有权限")
        else:
            self.simulator.faults.too_many("direct-message/create", retry_after)

    def cut_send(self, happens: bool) -> None:
        self.simulator.faults.cut("direct-message/create", happens)

    def stay_silent(self) -> None:
        self.simulator.faults.stay_silent("direct-message/create")


def _calls(own: str, theirs: str) -> Sequence[ApiCall]:
    group = {"group_id": CHANNEL}
    text = [{"type": "Plain", "text": "sent"}]
    message = {"chat_type": "group", "chat_id": CHANNEL, "message_id": own}
    upload = ApiCall("upload_file", "media.upload", {"content": "hello", "filename": "a.txt"})
    return [
        ApiCall("reply_message", "reply", {"message": "a reply", "quote": True}),
        api_call("send_message", "messages.send", target_type="group", target_id=CHANNEL, chain=text),
        api_call("send_message", "messages.send", target_type="private", target_id=EVE, chain=text),
        api_call("edit_message", "messages.edit", **message, chain=[{"type": "Plain", "text": "changed"}]),
        api_call("get_message", "messages.get", {"sender": {"id": BOB}}, **{**message, "message_id": theirs}),
        api_call("react", "messages.react", **{**message, "message_id": theirs}, reaction="👍", add=True),
        api_call("get_group_info", "groups.info", {"name": "talk"}, **group),
        api_call("get_group_info", "groups.info", {"name": "The Server", "owner_id": ANN}, group_id=GUILD),
        api_call("get_group_list", "groups.list"),
        api_call("get_group_member_list", "groups.members", None, **group),
        api_call("get_group_member_info", "groups.member", {"role": "owner"}, **group, user_id=ANN),
        api_call("set_group_name", "groups.rename", **group, name="renamed"),
        api_call("kick_member", "groups.kick", **group, user_id=EVE),
        api_call("leave_group", "groups.leave", group_id=LEFT),
        api_call("get_user_info", "users.info", {"nickname": "Ann"}, user_id=ANN),
        upload,
        action_call("get_current_user", {"id": BOT_ID}),
        action_call("get_user", {"roles": []}, user_id=BOB, guild_id=GUILD),
        action_call("get_channel", {"id": CHANNEL}, channel_id=CHANNEL),
        action_call("get_guild", {"id": GUILD}, guild_id=GUILD),
        action_call("get_gateway"),
        action_call("send_direct_message", None, user_id=BOB, content="direct"),
        ApiCall("call_platform_api", "platform.call", {"action": "get_current_user", "params": {}}),
        api_call("delete_message", "messages.delete", **message),
    ]


def _check_world(simulator: KookSimulator, own: Json, theirs: Json) -> None:
    """Checks the effects of the calls on the simulated platform."""
    world = simulator.world
    assert world.channels[CHANNEL]["name"] == "renamed"
    assert own["content"] == "changed"
    assert own["id"] not in world.messages
    assert (theirs["id"], "👍") in world.reactions
    assert EVE not in world.members[GUILD]
    assert BOT_ID not in world.members[LEFT]
    assert list(world.assets.values())[-1] == b"hello"
    assert simulator.texts(EVE) == ["sent"]
    assert simulator.texts(BOB) == ["direct"]
    [reply] = [each for each in simulator.sent() if each.text == "a reply"]
    assert reply.payload["quote"]["rong_id"] in world.messages
