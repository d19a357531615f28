"""Plays Slack in the shared adapter suite, over the simulated Web API and Socket Mode."""

import itertools
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import parlour.platforms.slack as package
from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, HostLink
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.slack.adapter import SlackAdapter
from parlour.platforms.slack.api import SlackApi
from parlour.testing.adapter_suite import ApiCall, PlatformDriver, Probe, SuiteChat, action_call, api_call
from parlour.testing.adapter_suite.driver import Json, known_fields
from parlour.testing.native_payloads import read_samples
from parlour.testing.simulator import damaged
from parlour.testing.slack_simulator import SlackSimulator
from parlour.testing.slack_simulator.simulator import APP_TOKEN, BOT_TOKEN
from parlour.testing.slack_simulator.world import BOT_USER
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
    Video,
    Voice,
)
from parlour_sdk.protocol.people import ChatType

HELLO = "aGVsbG8="
CHANNEL, LEFT, SAMPLE_FILE = "C00SAMPLE", "C00LEFT", "F00SAMPLE"
ANN, BOB, EVE, SPEAKER = "U00ANN", "U00BOB", "U00EVE", "U00SAM"
MANY = (1000.0, 1.0)
UNREADABLE = (None, True, 1.5, "", [], [[]], {}, {"id": {}}, [None])
"""Values that are no channel and no time."""


class SlackDriver(PlatformDriver):
    manifest = BuiltinAdapterCatalogue().manifests()["slack"]
    api = SlackApi
    level = "protocol+"
    samples = read_samples(Path(package.__file__).parent / "samples")
    tokens_per_message = 125

    def __init__(self) -> None:
        self.simulator = simulator = SlackSimulator()
        self.token = BOT_TOKEN
        self._numbers = itertools.count(1)
        world = simulator.world
        for user_id, name in ((BOB, "Bob"), (EVE, "Eve"), (SPEAKER, "Sam")):
            world.add_user(name, user_id)
        world.add_user("Ann", ANN, is_owner=True)
        world.add_channel("talk", ANN, BOB, EVE, SPEAKER, channel_id=CHANNEL)
        simulator.limits = dict.fromkeys((*simulator.limits, "users.info"), MANY)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.simulator.listening() as url:
            self.config = {"bot_token": BOT_TOKEN, "app_token": APP_TOKEN, "mode": "socket", "api_base_url": url}
            self.simulator.calls.add_file("sample.txt", b"hello", SAMPLE_FILE)
            yield

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        return SlackAdapter(link, backoff)

    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        world = self.simulator.world
        if kind == "private":
            user = world.add_user(f"user {next(self._numbers)}")
            return SuiteChat(kind, world.direct_channel(user["id"]))
        return SuiteChat(kind, world.add_channel(f"channel-{next(self._numbers)}", SPEAKER)["id"])

    def _person(self, chat: SuiteChat) -> str:
        return str(self.simulator.world.channels[chat.id]["user"]) if chat.kind == "private" else SPEAKER

    async def say(self, chat: SuiteChat, text: str) -> None:
        escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        mention = f"<@{BOT_USER}> " if chat.kind == "group" else ""
        await self.simulator.say(mention + escaped, self._person(chat), chat.id)

    def read(self, chat: SuiteChat) -> list[str]:
        return self.simulator.texts(chat.id)

    async def deliver(self, native: Any) -> None:
        await self.simulator.socket_mode.report(native["kind"], native["payload"])

    async def repeat(self) -> None:
        await self.simulator.socket_mode.send(self.simulator.reported[-1])

    async def echo(self, chat: SuiteChat) -> None:
        await self.simulator.report(self.simulator.world.write(chat.id, BOT_USER, "I said this myself"))

    async def malformed(self, chat: SuiteChat, seed: int, number: int) -> None:
        generator = random.Random(seed)
        message = self.simulator.world.write(chat.id, self._person(chat), "damaged")
        for _ in range(number):
            event = {**damaged(message, generator), "type": "message", "subtype": None}
            event[generator.choice(("channel", "ts"))] = generator.choice(UNREADABLE)
            payload = {**self.simulator.event(event), "event": event}
            if generator.random() < 0.1:
                payload["event"] = generator.choice(UNREADABLE)
            await self.simulator.socket_mode.report("events_api", payload)

    def components(self, chat: SuiteChat) -> MessageChain:
        header = {"type": "header", "text": {"type": "plain_text", "text": "A card"}}
        return [
            At(target=ANN),
            Plain(text=" says that a < b & c_d, "),
            AtAll(),
            Image(base64=HELLO, name="a.png", mime_type="image/png"),
            Video(base64=HELLO, name="a.mp4", mime_type="video/mp4"),
            Voice(base64=HELLO, name="a.mp3", mime_type="audio/mpeg"),
            File(base64=HELLO, name="a.pdf", mime_type="application/pdf"),
            Platform(platform="slack", component_type="block", data=header),
            Platform(platform="slack", component_type="block", data={"type": "divider"}),
            Plain(text="between"),
            File(base64=HELLO, name="b.pdf", mime_type="application/pdf"),
            Plain(text="the end 👨‍👩‍👧"),
        ]

    async def reflect(self, chat: SuiteChat) -> int:
        messages = [each.payload for each in self.simulator.sent(chat.id)]
        kept = ("text", "files", "blocks", "subtype")
        for message in messages:
            fields = {name: message[name] for name in kept if name in message and name != "text"}
            await self.simulator.say(message["text"], self._person(chat), chat.id, **fields)
        return len(messages)

    def received_chain(self, chains: Sequence[MessageChain]) -> MessageChain:
        """Leaves out the text that Slack shows in notices instead of blocks."""
        return [
            each for each in super().received_chain(chains) if not (isinstance(each, Plain) and not each.text.strip())
        ]

    def same(self, sent: Component, received: Component) -> bool:
        """Files come back with their size, and blocks with a readable form."""
        match sent, received:
            case Media(), Media():
                return (sent.base64, sent.name, sent.mime_type) == (received.base64, received.name, received.mime_type)
            case Platform(), Platform():
                return (sent.component_type, sent.data) == (received.component_type, received.data)
        return sent == received

    async def produce_events(self, probe: Probe) -> list[Json]:
        for sample in self.samples:
            await self.deliver(sample.native)
        names = ("a.png", "a.mp3", "a.mp4", "a.pdf")
        files = [self.simulator.calls.add_file(name, b"hello") for name in names]
        await self.simulator.say("files", ANN, CHANNEL, subtype="file_share", files=files)
        kinds = ("Source", "Plain", "Image", "Voice", "Video", "File")
        with_files = {"type": "message.received", "message_chain": [{"type": kind} for kind in kinds]}
        return [*(known_fields(sample.decoded) for sample in self.samples), with_files]

    async def use_apis(self, probe: Probe) -> None:
        world = self.simulator.world
        world.add_channel("left-soon", channel_id=LEFT)
        own = world.write(CHANNEL, BOT_USER, "own")
        theirs = world.write(CHANNEL, BOB, "theirs")
        await probe.calls(*_calls(own["ts"], theirs["ts"]))
        _check_world(self.simulator, own, theirs)

    async def cut(self) -> None:
        self.simulator.server.cut()

    async def cut_for_long(self, times: int) -> None:
        self.simulator.server.turned_away = times
        self.simulator.server.cut()

    def refuse_send(self, retry_after: float | None = None) -> None:
        if retry_after is None:
            self.simulator.faults.refuse("chat.postMessage", "restricted_action")
        else:
            self.simulator.faults.too_many("chat.postMessage", retry_after)

    def cut_send(self, happens: bool) -> None:
        self.simulator.faults.cut("chat.postMessage", happens)

    def stay_silent(self) -> None:
        self.simulator.faults.stay_silent("chat.postMessage")

    def unacknowledged(self) -> int:
        return len(self.simulator.socket_mode.waiting)


def _calls(own: str, theirs: str) -> Sequence[ApiCall]:
    group = {"group_id": CHANNEL}
    text = [{"type": "Plain", "text": "sent"}]
    message = {"chat_type": "group", "chat_id": CHANNEL, "message_id": own}
    away = {"from_chat_type": "group", "from_chat_id": CHANNEL, "message_id": theirs}
    return [
        ApiCall("reply_message", "reply", {"message": "a reply", "quote": False}),
        api_call("send_message", "messages.send", target_type="group", target_id=CHANNEL, chain=text),
        api_call("send_message", "messages.send", target_type="private", target_id=EVE, chain=text),
        api_call("edit_message", "messages.edit", **message, chain=[{"type": "Plain", "text": "changed"}]),
        api_call("get_message", "messages.get", {"sender": {"id": BOB}}, **{**message, "message_id": theirs}),
        api_call("forward_message", "messages.forward", **away, to_chat_type="private", to_chat_id=ANN),
        api_call("react", "messages.react", **{**message, "message_id": theirs}, reaction="👍", add=True),
        api_call("react", "messages.react", **{**message, "message_id": theirs}, reaction="👍", add=True),
        api_call("get_group_info", "groups.info", {"name": "talk", "member_count": 5}, **group),
        api_call("get_group_list", "groups.list"),
        api_call("get_group_member_list", "groups.members", None, **group),
        api_call("get_group_member_info", "groups.member", {"role": "owner"}, **group, user_id=ANN),
        api_call("set_group_name", "groups.rename", **group, name="renamed"),
        api_call("kick_member", "groups.kick", **group, user_id=EVE),
        api_call("leave_group", "groups.leave", group_id=LEFT),
        api_call("get_user_info", "users.info", {"nickname": "Ann"}, user_id=ANN),
        action_call("auth_test", {"user_id": BOT_USER}),
        action_call("get_mode", {"mode": "socket", "user_id": BOT_USER}),
        ApiCall("call_platform_api", "platform.call", {"action": "get_mode", "params": {}}),
        api_call("delete_message", "messages.delete", **message),
    ]


def _check_world(simulator: SlackSimulator, own: Json, theirs: Json) -> None:
    """Checks the effects of the calls on the simulated platform."""
    world = simulator.world
    assert world.channels[CHANNEL]["name"] == "renamed"
    assert own["text"] == "changed"
    assert (CHANNEL, own["ts"]) not in world.messages
    assert (theirs["ts"], "+1", BOT_USER) in world.reactions
    assert EVE not in world.members[CHANNEL]
    assert BOT_USER not in world.members[LEFT]
    [forwarded] = simulator.texts(world.direct_channel(ANN))
    assert theirs["ts"].replace(".", "") in forwarded
    assert simulator.texts(world.direct_channel(EVE)) == ["sent"]
    assert any(each.text == "a reply" for each in simulator.sent())
