"""Plays Mattermost in the shared adapter suite, over the simulated WebSocket and REST API."""

import itertools
import json
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import parlour.platforms.mattermost as package
from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, HostLink
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.mattermost.adapter import MattermostAdapter
from parlour.platforms.mattermost.api import MattermostApi
from parlour.testing.adapter_suite import ApiCall, PlatformDriver, Probe, SuiteChat, action_call, api_call
from parlour.testing.adapter_suite.driver import Json, known_fields
from parlour.testing.mattermost_simulator import MattermostSimulator
from parlour.testing.mattermost_simulator.world import BOT_ID, make_id
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
    Video,
    Voice,
)
from parlour_sdk.protocol.people import ChatType

HELLO = "aGVsbG8="
ANN, BOB, EVE, SPEAKER = (make_id(name) for name in ("ann", "bob", "eve", "sam"))
CHANNEL, DIRECT, LEFT = make_id("talk"), make_id("directwithann"), make_id("leftsoon")
SAMPLE_FILE, BUTTONS = make_id("samplefile"), make_id("samplebuttons")
"""A file and a post of the bot that samples name."""
MANY = (10_000.0, 1.0)
UNREADABLE: tuple[Any, ...] = (None, True, 1.5, "", [], [[]], {}, {"id": {}}, [None])
"""Values that are no id and no time."""


class MattermostDriver(PlatformDriver):
    manifest = BuiltinAdapterCatalogue().manifests()["mattermost"]
    api = MattermostApi
    level = "protocol+"
    samples = read_samples(Path(package.__file__).parent / "samples")
    tokens_per_message = 50

    def __init__(self) -> None:
        self.simulator = simulator = MattermostSimulator()
        self.token = simulator.token
        self._numbers = itertools.count(1)
        simulator.limit = MANY
        world = simulator.world
        for name in ("ann", "bob", "eve", "sam"):
            world.add_user(name, make_id(name))
        world.add_channel("talk", ANN, BOB, EVE, SPEAKER, channel_id=CHANNEL, admin=ANN)
        world.add_channel(f"{ANN}__{BOT_ID}", ANN, channel_id=DIRECT, kind="D")
        world.posts[BUTTONS] = {**world.write(CHANNEL, BOT_ID, "sure?"), "id": BUTTONS}
        world.add_file("sample.txt", b"hello", "text/plain", CHANNEL, SAMPLE_FILE)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.simulator.listening() as url:
            self.config = {"url": url, "token": self.token, "public_url": "http://host.test"}
            yield

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        return MattermostAdapter(link, backoff)

    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        world = self.simulator.world
        if kind == "private":
            user = world.add_user(f"user{next(self._numbers)}")
            return SuiteChat(kind, world.direct_channel(user["id"], BOT_ID)["id"])
        return SuiteChat(kind, world.add_channel(f"channel{next(self._numbers)}", SPEAKER)["id"])

    def _person(self, chat: SuiteChat) -> str:
        return next(each for each in self.simulator.world.members[chat.id] if each != BOT_ID)

    async def say(self, chat: SuiteChat, text: str) -> None:
        mention = "@parlour " if chat.kind == "group" else ""
        await self.simulator.say(chat.id, self._person(chat), mention + text)

    def read(self, chat: SuiteChat) -> list[str]:
        return self.simulator.texts(chat.id)

    async def deliver(self, native: Any) -> None:
        """Reports an event, or calls the bot's address as for a pressed button."""
        if "context" in native:
            assert await self.simulator.call_bot(self._address, native) == 200
        else:
            await self.simulator.gateway.dispatch(native)

    async def repeat(self) -> None:
        """Reports the last post under another number, as it is found again after a gap."""
        frame = self.simulator.reported[-1]
        await self.simulator.gateway.dispatch({name: each for name, each in frame.items() if name != "seq"})

    async def echo(self, chat: SuiteChat) -> None:
        post = self.simulator.world.write(chat.id, BOT_ID, "I said this myself")
        await self.simulator.report(self.simulator.world.event("posted", post))

    async def malformed(self, chat: SuiteChat, seed: int, number: int) -> None:
        generator = random.Random(seed)
        world = self.simulator.world
        post = world.write(chat.id, self._person(chat), "damaged")
        for _ in range(number):
            odd = {**damaged(post, generator), "id": make_id(f"odd{generator.random()}")}
            odd[generator.choice(("channel_id", "user_id", "create_at"))] = generator.choice((None, True, 1.5, [], {}))
            event = world.event("posted", post)
            event["data"]["post"] = json.dumps(odd)
            if generator.random() < 0.2:
                event["data"] = generator.choice(UNREADABLE)
            await self.simulator.gateway.dispatch(event)

    def components(self, chat: SuiteChat) -> MessageChain:
        frame = {"title": "A card", "text": "with text", "color": "#ff0000"}
        return [
            At(target=ANN, display="ann"),
            Plain(text=" says that a < b & c_d, "),
            AtAll(),
            Image(base64=HELLO, name="a.png", mime_type="image/png"),
            Video(base64=HELLO, name="a.mp4", mime_type="video/mp4"),
            Voice(base64=HELLO, name="a.mp3", mime_type="audio/mpeg"),
            File(base64=HELLO, name="a.pdf", mime_type="application/pdf"),
            Plain(text="between"),
            File(base64=HELLO, name="b.pdf", mime_type="application/pdf"),
            Platform(platform="mattermost", component_type="attachment", data=frame),
            Platform(platform="mattermost", component_type="attachment", data={**frame, "title": "Another"}),
            Plain(text="the end 👨‍👩‍👧"),
        ]

    async def reflect(self, chat: SuiteChat) -> int:
        posts = [each.payload for each in self.simulator.sent(chat.id)]
        for post in posts:
            props = {name: each for name, each in post["props"].items() if name == "attachments"}
            fields = {"file_ids": post["file_ids"], "props": props}
            await self.simulator.say(chat.id, self._person(chat), post["message"], **fields)
        return len(posts)

    def same(self, sent: Component, received: Component) -> bool:
        """Files come back with their size, and attachments with a readable form."""
        match sent, received:
            case Media(), Media():
                return (sent.base64, sent.name, sent.mime_type) == (received.base64, received.name, received.mime_type)
            case Platform(), Platform():
                return (sent.component_type, sent.data) == (received.component_type, received.data)
        return sent == received

    async def produce_events(self, probe: Probe) -> list[Json]:
        for sample in self.samples:
            await self.deliver(sample.native)
        kinds = (("a.png", "image/png"), ("a.mp3", "audio/mpeg"), ("a.mp4", "video/mp4"), ("a.pdf", "application/pdf"))
        world = self.simulator.world
        files = [world.add_file(name, b"hello", mime_type, CHANNEL)["id"] for name, mime_type in kinds]
        await self.simulator.say(CHANNEL, ANN, "files", file_ids=files)
        sent = ("Source", "Plain", "Image", "Voice", "Video", "File")
        with_files = {"type": "message.received", "message_chain": [{"type": kind} for kind in sent]}
        pressed = await self._press(probe)
        return [*(known_fields(sample.decoded) for sample in self.samples), with_files, pressed]

    async def _press(self, probe: Probe) -> Json:
        """Lets a user press a button that a plugin has sent, and returns the event of it."""
        buttons = [{"label": "Yes", "action_id": "vote", "value": {"choice": 1}}]
        component = {"type": "Platform", "platform": "mattermost", "component_type": "buttons"}
        chain = [{"type": "Plain", "text": "press it"}, {**component, "data": {"buttons": buttons}}]
        target = {"target_type": "group", "target_id": CHANNEL, "chain": chain}
        await probe.calls(ApiCall("send_message", "messages.send", target))
        sent = next(each for each in self.simulator.sent(CHANNEL) if each.buttons)
        sent.buttons[0]["integration"]["url"] = self._address
        assert await self.simulator.press(sent, "Yes", ANN) == 200
        return {
            "type": "interaction.received", "action_id": "vote", "value": {"choice": 1}, "user": {"id": ANN},
            "message_id": sent.payload["id"],
        }  # fmt: skip

    def called_at(self, address: str) -> None:
        self._address = address

    async def use_apis(self, probe: Probe) -> None:
        world = self.simulator.world
        world.add_channel("left soon", ANN, channel_id=LEFT)
        own = world.write(CHANNEL, BOT_ID, "own")
        theirs = world.write(CHANNEL, BOB, "theirs")
        await probe.calls(*_calls(own["id"], theirs["id"]))
        _check_world(self.simulator, own, theirs)

    async def cut(self) -> None:
        self.simulator.server.cut()

    async def cut_for_long(self, times: int) -> None:
        self.simulator.server.turned_away = times
        self.simulator.server.cut()

    def refuse_send(self, retry_after: float | None = None) -> None:
        if retry_after is None:
            self.simulator.faults.refuse("posts", 403, "api.context.permissions.app_error")
        else:
            self.simulator.faults.too_many("posts", retry_after)

    def cut_send(self, happens: bool) -> None:
        self.simulator.faults.cut("posts", happens)

    def stay_silent(self) -> None:
        self.simulator.faults.stay_silent("posts")


def _calls(own: str, theirs: str) -> Sequence[ApiCall]:
    group = {"group_id": CHANNEL}
    text = [{"type": "Plain", "text": "sent"}]
    message = {"chat_type": "group", "chat_id": CHANNEL, "message_id": own}
    away = {"from_chat_type": "group", "from_chat_id": CHANNEL, "message_id": theirs}
    place = {"channel_id": CHANNEL, "message_id": theirs}
    reaction = {**message, "message_id": theirs, "reaction": "👍"}
    return [
        ApiCall("reply_message", "reply", {"message": "a reply", "quote": False}),
        api_call("send_message", "messages.send", target_type="group", target_id=CHANNEL, chain=text),
        api_call("send_message", "messages.send", target_type="private", target_id=EVE, chain=text),
        api_call("edit_message", "messages.edit", **message, chain=[{"type": "Plain", "text": "changed"}]),
        api_call("get_message", "messages.get", {"sender": {"id": BOB}}, **{**message, "message_id": theirs}),
        api_call("forward_message", "messages.forward", **away, to_chat_type="private", to_chat_id=DIRECT),
        api_call("react", "messages.react", **reaction, add=True),
        api_call("react", "messages.react", **{**reaction, "reaction": "🎉"}, add=True),
        api_call("react", "messages.react", **{**reaction, "reaction": "🎉"}, add=False),
        api_call("send_typing", "messages.typing", chat_type="group", chat_id=CHANNEL),
        api_call("get_group_info", "groups.info", {"name": "talk", "member_count": 5}, **group),
        api_call("get_group_list", "groups.list"),
        api_call("get_group_member_list", "groups.members", None, **group),
        api_call("get_group_member_info", "groups.member", {"role": "admin"}, **group, user_id=ANN),
        api_call("set_group_name", "groups.rename", **group, name="renamed"),
        api_call("kick_member", "groups.kick", **group, user_id=EVE),
        api_call("leave_group", "groups.leave", group_id=LEFT),
        api_call("get_user_info", "users.info", {"nickname": "Ann"}, user_id=ANN),
        action_call("get_current_user", {"id": BOT_ID}),
        action_call("get_channel", {"id": CHANNEL}, channel_id=CHANNEL),
        action_call("get_thread", {"order": [theirs]}, **place),
        action_call("unpin_message", {"status": "OK"}, **place),
        action_call("pin_message", {"status": "OK"}, **place),
        ApiCall("call_platform_api", "platform.call", {"action": "get_current_user", "params": {}}),
        api_call("delete_message", "messages.delete", **message),
    ]


def _check_world(simulator: MattermostSimulator, own: Json, theirs: Json) -> None:
    """Checks the effects of the calls on the simulated platform."""
    world = simulator.world
    assert world.channels[CHANNEL]["display_name"] == "renamed"
    assert own["message"] == "changed"
    assert own["delete_at"]
    assert world.reactions == {(theirs["id"], BOT_ID, "+1")}
    assert theirs["is_pinned"]
    assert (CHANNEL, "") in world.typing
    assert EVE not in world.members[CHANNEL]
    assert BOT_ID not in world.members[LEFT]
    assert simulator.texts(world.direct_channel(EVE, BOT_ID)["id"]) == ["sent"]
    [forwarded] = simulator.texts(DIRECT)
    assert forwarded.endswith(f"/_redirect/pl/{theirs['id']}")
    assert any(each.text == "a reply" for each in simulator.sent())
