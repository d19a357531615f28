"""Plays a Satori server in the shared adapter suite: satori-python's server with a small platform behind it."""

import itertools
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import parlour.platforms.satori as package
from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, HostLink
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.satori.adapter import SatoriAdapter
from parlour.platforms.satori.api import SatoriApi
from parlour.testing.adapter_suite import ApiCall, PlatformDriver, Probe, SuiteChat, api_call
from parlour.testing.adapter_suite.driver import WAIT_SECONDS
from parlour.testing.native_payloads import read_samples
from parlour.testing.satori_platform import SatoriPlatform
from parlour.testing.satori_platform.world import BOT_ID
from parlour.testing.simulator import damaged
from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    Component,
    Face,
    File,
    Forward,
    ForwardNode,
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
GUILD, CHANNEL = "74", "7421"
ANN, BOB, EVE, SPEAKER = "3011", "3012", "3013", "3014"
UNREADABLE = (None, True, 1.5, "", [], [[]], {}, [None])
"""Values that are no type of an event and no channel."""


class SatoriDriver(PlatformDriver):
    manifest = BuiltinAdapterCatalogue().manifests()["satori"]
    api = SatoriApi
    level = "peer"
    samples = read_samples(Path(package.__file__).parent / "samples")
    tokens_per_message = 125

    def __init__(self) -> None:
        self.platform = platform = SatoriPlatform()
        self.token = platform.token
        self._numbers = itertools.count(1)
        world = platform.world
        for user_id, name in ((ANN, "Ann"), (BOB, "Bob"), (EVE, "Eve"), (SPEAKER, "Sam")):
            world.add_user(name, user_id)
        world.add_guild("The Guild", GUILD, ANN, BOB, EVE, SPEAKER)
        world.members[GUILD][ANN]["roles"] = [{"id": "owner", "name": "owner"}]
        world.add_channel(GUILD, "talk", CHANNEL)
        world.friends |= {ANN, BOB, EVE}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.platform.listening() as endpoint:
            self.config = {"endpoint": endpoint, "token": self.token}
            yield

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        return SatoriAdapter(link, backoff)

    async def until(self, condition: Callable[[], bool], seconds: float = WAIT_SECONDS) -> None:
        await self.platform.until(condition, seconds)

    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        world = self.platform.world
        if kind == "private":
            return SuiteChat(kind, world.add_user(f"user {next(self._numbers)}"))
        return SuiteChat(kind, world.add_channel(GUILD, f"channel {next(self._numbers)}"))

    def _place(self, chat: SuiteChat) -> tuple[str, str]:
        """Returns the channel of the chat and the user who writes there."""
        return (self.platform.world.direct(chat.id), chat.id) if chat.kind == "private" else (chat.id, SPEAKER)

    async def say(self, chat: SuiteChat, text: str) -> None:
        mention = f'<at id="{BOT_ID}"/> ' if chat.kind == "group" else ""
        escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        await self.platform.say(*self._place(chat), mention + escaped)

    def read(self, chat: SuiteChat) -> list[str]:
        return self.platform.texts(self._place(chat)[0])

    async def deliver(self, native: Any) -> None:
        await self.platform.report_unchanged(native)

    async def repeat(self) -> None:
        await self.platform.report(self.platform.reported[-1])

    async def echo(self, chat: SuiteChat) -> None:
        channel_id, _ = self._place(chat)
        await self.platform.say(channel_id, BOT_ID, "I said this myself")

    async def malformed(self, chat: SuiteChat, seed: int, number: int) -> None:
        generator = random.Random(seed)
        channel_id, user_id = self._place(chat)
        message = {"id": "m0", "content": "damaged"}
        event = self.platform.event("message-created", channel_id, user_id, message=message)
        for _ in range(number):
            body: Any = {**damaged(event, generator), "odd": generator.random()}
            body[generator.choice(("type", "channel", "message"))] = generator.choice(UNREADABLE)
            if generator.random() < 0.1:
                body = generator.choice(UNREADABLE)
            await self.platform.report_unchanged(body)

    def components(self, chat: SuiteChat) -> MessageChain:
        node = ForwardNode(sender=ANN, name="Ann", chain=[Plain(text="first"), Face(id="12")])
        return [
            Quote(id="m0"),
            At(target=ANN, display="Ann"),
            Plain(text=' says that a < b & "c" > d,\n'),
            Face(id="12", name="wave"),
            AtAll(),
            Image(base64=HELLO, name="a.png", mime_type="image/png"),
            Video(base64=HELLO, name="a.mp4", mime_type="video/mp4"),
            Voice(base64=HELLO, name="a.mp3", mime_type="audio/mpeg"),
            Plain(text="between"),
            File(base64=HELLO, name="a.pdf", mime_type="application/pdf"),
            Forward(nodes=[node, ForwardNode(sender=BOB, name="Bob", chain=[Plain(text="second")])]),
            Platform(platform="satori", component_type="red:markdown", data={"content": "x"}),
            Image(url="https://people.example/b.png", name="b.png"),
            Plain(text="the end 👨‍👩‍👧"),
        ]

    async def reflect(self, chat: SuiteChat) -> int:
        channel_id, user_id = self._place(chat)
        sent = self.platform.sent(channel_id)
        for each in sent:
            await self.platform.say(channel_id, user_id, each.content)
        return len(sent)

    def same(self, sent: Component, received: Component) -> bool:
        match sent, received:
            case Media(), Media():
                return (sent.name, sent.url, sent.base64) == (received.name, received.url, received.base64)
            case Platform(), Platform():
                return (sent.component_type, sent.data) == (received.component_type, received.data)
        return sent == received

    async def use_apis(self, probe: Probe) -> None:
        world = self.platform.world
        own = world.write(CHANNEL, BOT_ID, "own")
        theirs = world.write(CHANNEL, BOB, "theirs")
        group = {"group_id": GUILD}
        text = [{"type": "Plain", "text": "sent"}]
        message = {"chat_type": "group", "chat_id": CHANNEL, "message_id": own["id"]}
        internal = {"action": "internal", "params": {"method": "poke", "params": {"a": 1}}}
        await probe.calls(
            ApiCall("reply_message", "reply", {"message": "a reply", "quote": True}),
            api_call("send_message", "messages.send", target_type="group", target_id=CHANNEL, chain=text),
            api_call("send_message", "messages.send", target_type="private", target_id=EVE, chain=text),
            api_call("edit_message", "messages.edit", **message, chain=[{"type": "Plain", "text": "changed"}]),
            api_call("get_message", "messages.get", {"sender": {"id": BOB}}, **{**message, "message_id": theirs["id"]}),
            api_call("react", "messages.react", **{**message, "message_id": theirs["id"]}, reaction="👍", add=True),
            api_call("get_group_info", "groups.info", {"name": "talk"}, group_id=CHANNEL),
            api_call("get_group_info", "groups.info", {"name": "The Guild"}, **group),
            api_call("get_group_list", "groups.list"),
            api_call("get_group_member_list", "groups.members", None, **group),
            api_call("get_group_member_info", "groups.member", {"role": "owner"}, **group, user_id=ANN),
            api_call("set_group_name", "groups.rename", group_id=CHANNEL, name="renamed"),
            api_call("mute_member", "groups.mute", **group, user_id=BOB, duration=60),
            api_call("unmute_member", "groups.unmute", **group, user_id=ANN),
            api_call("kick_member", "groups.kick", **group, user_id=EVE),
            api_call("get_user_info", "users.info", {"nickname": "Ann"}, user_id=ANN),
            api_call("get_friend_list", "users.friends"),
            api_call("answer_friend_request", "users.answer_friend_request", request_id="f1", approve=True),
            api_call("answer_group_invite", "users.answer_group_invite", request_id="g1", approve=False),
            ApiCall("upload_file", "media.upload", {"content": "hello", "filename": "a.txt"}),
            ApiCall("internal", "platform.call", internal, {"echo": {"a": 1}}),
            ApiCall("call_platform_api", "platform.call", internal),
            api_call("delete_message", "messages.delete", **message),
        )
        assert world.channels[CHANNEL]["name"] == "renamed"
        assert own["content"] == "changed"
        assert own["id"] not in world.messages
        assert (theirs["id"], "👍") in world.reactions
        assert world.muted == {BOB: 60_000, ANN: 0}
        assert EVE not in world.members[GUILD]
        assert world.answers == [("friend", "f1", True), ("guild", "g1", False)]
        assert self.platform.texts(world.direct(EVE)) == ["sent"]
        [reply] = [each for each in self.platform.sent() if each.text == "a reply"]
        assert reply.content.startswith("<quote id=")

    async def cut(self) -> None:
        """Breaks the connection and waits for the next one: a server replays only to a bot that has had an event."""
        number = self.platform.identified
        self.platform.relay.cut_sockets()
        await self.until(lambda: self.platform.identified > number)

    async def cut_for_long(self, times: int) -> None:
        self.platform.relay.turned_away = times
        await self.cut()

    def refuse_send(self, retry_after: float | None = None) -> None:
        if retry_after is None:
            self.platform.faults.refuse("message.create", 403, "the bot is muted")
        else:
            self.platform.faults.too_many("message.create", retry_after)

    def cut_send(self, happens: bool) -> None:
        self.platform.faults.cut("message.create", happens)

    def stay_silent(self) -> None:
        self.platform.faults.stay_silent("message.create")
