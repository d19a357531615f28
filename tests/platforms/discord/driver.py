"""Plays Discord in the shared adapter suite, over the simulated gateway and REST API."""

import itertools
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import parlour.platforms.discord as package
from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, HostLink
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.discord.adapter import DiscordAdapter
from parlour.platforms.discord.api import DiscordApi
from parlour.testing.adapter_suite import ApiCall, PlatformDriver, Probe, SuiteChat, action_call, api_call
from parlour.testing.adapter_suite.driver import Json, known_fields
from parlour.testing.discord_simulator import DiscordSimulator
from parlour.testing.discord_simulator.world import BOT_ID, THREAD, VOICE_CHANNEL
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
GUILD, CHANNEL, IN_THREAD = "200000000000000001", "200000000000000011", "200000000000000012"
VOICE, LEFT = "200000000000000013", "200000000000000002"
ANN, BOB, EVE, SPEAKER = "300000000000000001", "300000000000000002", "300000000000000003", "300000000000000004"
MANY = (1000.0, 1.0)
UNREADABLE = (None, True, 1.5, "", [], [[]], {}, {"id": {}}, [None])
"""Values that are no author and no channel."""


class DiscordDriver(PlatformDriver):
    manifest = BuiltinAdapterCatalogue().manifests()["discord"]
    api = DiscordApi
    level = "protocol+"
    samples = read_samples(Path(package.__file__).parent / "samples")
    tokens_per_message = 125

    def __init__(self) -> None:
        self.simulator = simulator = DiscordSimulator()
        self.token = simulator.token
        self._numbers = itertools.count(1)
        world = simulator.world
        for user_id, name in ((ANN, "Ann"), (BOB, "Bob"), (EVE, "Eve"), (SPEAKER, "Sam")):
            world.add_user(name, user_id)
        self.guild = world.add_guild("The Guild", GUILD)
        self.guild.payload["owner_id"] = ANN
        self.guild.payload["roles"][1]["id"] = "200000000000000077"
        for user_id in (ANN, BOB, EVE, SPEAKER):
            world.add_member(GUILD, world.users[user_id])
        world.add_channel(GUILD, "talk", channel_id=CHANNEL)
        world.add_channel(GUILD, "a thread", THREAD, CHANNEL, IN_THREAD)
        world.add_channel(GUILD, "voice", VOICE_CHANNEL, channel_id=VOICE)
        self.simulator.rest.limits = dict.fromkeys(simulator.rest.limits, MANY)
        self.simulator.rest.global_limit = MANY

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.simulator.listening() as url:
            self.config = {"token": self.token, "api_base_url": url}
            yield

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        return DiscordAdapter(link, backoff)

    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        world = self.simulator.world
        if kind == "private":
            user = world.add_user(f"user {next(self._numbers)}")
            return SuiteChat(kind, world.direct_channel(user["id"])["id"])
        channel = world.add_channel(GUILD, f"channel {next(self._numbers)}")
        await self.simulator.gateway.dispatch("CHANNEL_CREATE", channel)
        return SuiteChat(kind, channel["id"])

    def _person(self, chat: SuiteChat) -> Json:
        channel = self.simulator.world.channels[chat.id]
        return channel["recipients"][0] if chat.kind == "private" else self.simulator.world.users[SPEAKER]

    async def say(self, chat: SuiteChat, text: str) -> None:
        fields: Json = {}
        if chat.kind == "group":
            text, fields = f"<@{BOT_ID}> {text}", {"mentions": [self.simulator.world.bot]}
        await self.simulator.say(text, self._person(chat), chat.id, **fields)

    def read(self, chat: SuiteChat) -> list[str]:
        return self.simulator.texts(chat.id)

    async def deliver(self, native: Any) -> None:
        await self.simulator.gateway.repeat(native)

    async def repeat(self) -> None:
        await self.simulator.gateway.repeat(self.simulator.reported[-1])

    async def echo(self, chat: SuiteChat) -> None:
        message = self.simulator.world.write(chat.id, self.simulator.world.bot, "I said this myself")
        await self.simulator.report("MESSAGE_CREATE", message)

    async def malformed(self, chat: SuiteChat, seed: int, number: int) -> None:
        generator = random.Random(seed)
        message = self.simulator.world.write(chat.id, self._person(chat), "damaged")
        session = self.simulator.gateway.session
        assert session is not None
        for _ in range(number):
            data = {**damaged(message, generator), "id": self.simulator.world.id()}
            data[generator.choice(("author", "channel_id"))] = generator.choice(UNREADABLE)
            session.sequence += 1
            frame = {"op": 0, "t": "MESSAGE_CREATE", "s": session.sequence, "d": data}
            if generator.random() < 0.1:
                frame["d"] = generator.choice(UNREADABLE)
            await self.simulator.gateway.repeat(frame)

    def components(self, chat: SuiteChat) -> MessageChain:
        world = self.simulator.world
        quoted = world.write(chat.id, world.bot, "earlier")
        embed = {"title": "A card", "description": "with text", "url": "https://example.com/card"}
        return [
            Quote(id=quoted["id"], sender=BOT_ID, name="parlour", origin=[Plain(text="earlier")]),
            At(target=ANN, display="Ann"),
            Plain(text=" says that a < b & **c**_d, "),
            Face(id="wave:123456789012345678", name="wave"),
            AtAll(),
            Image(base64=HELLO, name="a.png", mime_type="image/png"),
            Video(base64=HELLO, name="a.mp4", mime_type="video/mp4"),
            Voice(base64=HELLO, name="a.ogg", mime_type="audio/ogg"),
            Image(base64=HELLO, name="b.png", mime_type="image/png"),
            File(base64=HELLO, name="a.pdf", mime_type="application/pdf"),
            Platform(platform="discord", component_type="embed", data=embed),
            Platform(platform="discord", component_type="sticker", data={"id": "749054660769218631"}),
            Plain(text="between"),
            File(base64=HELLO, name="b.pdf", mime_type="application/pdf"),
            Plain(text="the end 👨‍👩‍👧"),
        ]

    async def reflect(self, chat: SuiteChat) -> int:
        messages = [each.payload for each in self.simulator.sent(chat.id)]
        for message in messages:
            copy = {**message, "id": self.simulator.world.id(), "author": self._person(chat)}
            await self.simulator.report("MESSAGE_CREATE", copy)
        return len(messages)

    def same(self, sent: Component, received: Component) -> bool:
        """Files come back as addresses, and what is Discord's own with a readable form."""
        match sent, received:
            case Media(), Media():
                return bool(received.url) and (sent.name, sent.mime_type) == (received.name, received.mime_type)
            case Platform(), Platform():
                data = {name: received.data.get(name) for name in sent.data}
                return (sent.component_type, sent.data) == (received.component_type, data)
        return sent == received

    async def produce_events(self, probe: Probe) -> list[Json]:
        for sample in self.samples:
            await self.simulator.gateway.repeat(sample.native)
        return [known_fields(sample.decoded) for sample in self.samples]

    async def use_apis(self, probe: Probe) -> None:
        world = self.simulator.world
        left = world.add_guild("left soon", LEFT)
        await self.simulator.gateway.dispatch("GUILD_CREATE", world.guild_create(left.payload["id"]))
        await self.simulator.gateway.dispatch("GUILD_CREATE", world.guild_create(GUILD))
        own = world.write(CHANNEL, world.bot, "own")
        theirs = world.write(CHANNEL, world.users[BOB], "theirs")
        await probe.calls(*_calls(own["id"], theirs["id"]))
        _check_world(self.simulator, own, theirs)

    async def cut(self) -> None:
        self.simulator.cut()

    async def cut_for_long(self, times: int) -> None:
        self.simulator.server.turned_away = times
        self.simulator.cut()

    def refuse_send(self, retry_after: float | None = None) -> None:
        if retry_after is None:
            self.simulator.faults.refuse("send", 403, 50013, "Missing Permissions")
        else:
            self.simulator.faults.too_many("send", retry_after)

    def cut_send(self, happens: bool) -> None:
        self.simulator.faults.cut("send", happens)

    def stay_silent(self) -> None:
        self.simulator.faults.stay_silent("send")


def _calls(own: str, theirs: str) -> Sequence[ApiCall]:
    group, channel = {"group_id": GUILD}, {"channel_id": CHANNEL}
    member = {**group, "user_id": BOB}
    text = [{"type": "Plain", "text": "sent"}]
    message = {"chat_type": "group", "chat_id": CHANNEL, "message_id": own}
    away = {"from_chat_type": "group", "from_chat_id": CHANNEL, "message_id": theirs}
    voice = {"guild_id": GUILD, "channel_id": VOICE}
    return [
        ApiCall("reply_message", "reply", {"message": "a reply", "quote": True}),
        api_call("send_message", "messages.send", target_type="group", target_id=CHANNEL, chain=text),
        api_call("send_message", "messages.send", target_type="private", target_id=EVE, chain=text),
        api_call("send_message", "messages.send", target_type="group", target_id=GUILD, chain=text),
        api_call("edit_message", "messages.edit", **message, chain=[{"type": "Plain", "text": "changed"}]),
        api_call("get_message", "messages.get", {"sender": {"id": BOB}}, **{**message, "message_id": theirs}),
        api_call("forward_message", "messages.forward", **away, to_chat_type="private", to_chat_id=ANN),
        api_call("react", "messages.react", **{**message, "message_id": theirs}, reaction="👍", add=True),
        api_call("get_group_info", "groups.info", {"name": "The Guild", "member_count": 5}, **group),
        api_call("get_group_info", "groups.info", {"name": "talk"}, group_id=CHANNEL),
        api_call("get_group_list", "groups.list"),
        api_call("get_group_member_list", "groups.members", None, **group),
        api_call("get_group_member_info", "groups.member", {"role": "owner"}, group_id=CHANNEL, user_id=ANN),
        api_call("set_group_name", "groups.rename", **group, name="renamed"),
        api_call("set_group_name", "groups.rename", group_id=CHANNEL, name="chatter"),
        api_call("mute_member", "groups.mute", **member, duration=60),
        api_call("unmute_member", "groups.unmute", **member),
        api_call("mute_member", "groups.mute", **member, duration=0),
        api_call("kick_member", "groups.kick", **{**group, "user_id": EVE}),
        api_call("is_muted", "groups.is_muted", False, **group),
        api_call("leave_group", "groups.leave", group_id=LEFT),
        api_call("get_user_info", "users.info", {"nickname": "Ann"}, user_id=ANN),
        api_call("send_typing", "messages.typing", chat_type="group", chat_id=CHANNEL),
        action_call("get_channel", {"id": IN_THREAD}, channel_id=IN_THREAD),
        action_call("get_guild", {"id": GUILD}, guild_id=GUILD),
        action_call("get_guild_channels", None, guild_id=GUILD),
        action_call("get_guild_roles", None, guild_id=GUILD),
        action_call("create_invite", {"max_uses": 1}, **channel, max_uses=1),
        action_call("pin_message", None, **channel, message_id=own),
        action_call("pin_message", None, **channel, message_id=theirs),
        action_call("unpin_message", None, **channel, message_id=own),
        action_call("add_reaction", None, **channel, message_id=theirs, emoji="wave:123456789012345678"),
        action_call("add_reaction", None, **channel, message_id=theirs, emoji="🎉"),
        action_call("remove_reaction", None, **channel, message_id=theirs, emoji="🎉"),
        action_call("typing", None, channel_id=IN_THREAD),
        action_call("join_voice_channel", {"connected": True, "channel_id": VOICE}, **voice),
        action_call("get_voice_connection_status", {"connected": True, "channel_id": VOICE}, guild_id=GUILD),
        action_call("list_active_voice_connections", [voice]),
        action_call("get_voice_channel_info", {"user_ids": [BOT_ID]}, channel_id=VOICE),
        action_call("leave_voice_channel", {"connected": False}, guild_id=GUILD),
        ApiCall("call_platform_api", "platform.call", {"action": "get_guild", "params": {"guild_id": GUILD}}),
        api_call("delete_message", "messages.delete", **message),
    ]


def _check_world(simulator: DiscordSimulator, own: Json, theirs: Json) -> None:
    """Checks the effects of the calls on the simulated platform."""
    world = simulator.world
    guild = world.guilds[GUILD]
    assert (guild.payload["name"], world.channels[CHANNEL]["name"]) == ("renamed", "chatter")
    assert own["content"] == "changed"
    assert own["id"] not in world.messages
    assert world.pins == [theirs["id"]]
    assert {emoji for message, emoji, _ in world.reactions if message == theirs["id"]} == {
        "👍",
        "wave:123456789012345678",
    }
    assert guild.members[BOB]["communication_disabled_until"] is not None
    assert EVE not in guild.members
    assert LEFT not in world.guilds
    assert world.typing[-2:] == [CHANNEL, IN_THREAD]
    assert world.invites[0]["channel"]["id"] == CHANNEL
    assert guild.voice == {}
    [forwarded] = simulator.sent(world.direct_channel(ANN)["id"])
    assert forwarded.payload["message_snapshots"][0]["message"]["content"] == "theirs"
    [direct] = simulator.texts(world.direct_channel(EVE)["id"])
    assert direct == "sent"
    [reply] = [each for each in simulator.sent() if each.text == "a reply"]
    assert reply.payload["referenced_message"]["author"]["id"] != BOT_ID
