"""Plays Telegram in the shared adapter suite, over the simulated Bot API server."""

import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import parlour.platforms.telegram as package
from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, HostLink
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.telegram.adapter import TelegramAdapter
from parlour.platforms.telegram.api import TelegramApi
from parlour.testing.adapter_suite import ApiCall, PlatformDriver, Probe, SuiteChat, action_call, api_call
from parlour.testing.adapter_suite.driver import Json, known_fields
from parlour.testing.native_payloads import read_samples
from parlour.testing.telegram_simulator import Simulator, native
from parlour.testing.telegram_simulator.malformed import updates
from parlour_sdk.protocol.chain import (
    At,
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

FILES = ("photo", "voice", "audio", "video", "animation", "document")
HELLO = "aGVsbG8="
SPEAKER, ANN, BOB, EVE = 7, 20002, 20006, 20007
GROUP, LEFT = -1001, -1009
MANY = (1000.0, 1.0)


class TelegramDriver(PlatformDriver):
    manifest = BuiltinAdapterCatalogue().manifests()["telegram"]
    api = TelegramApi
    level = "protocol+"
    samples = read_samples(Path(package.__file__).parent / "samples")
    tokens_per_message = 125

    def __init__(self) -> None:
        self.simulator = Simulator()
        self.token = self.simulator.token
        self._users = itertools.count(500001)
        self._groups = itertools.count(-1005001, -1)
        for name in FILES:
            self.simulator.world.add_file(b"hello", file_id=f"sample-{name}")
        self.simulator.faults.in_chat = self.simulator.faults.altogether = MANY  # a chain is many requests at once

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.simulator.listening() as url:
            self.config = {"token": self.token, "mode": "polling", "api_base_url": url}
            yield

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        return TelegramAdapter(link, backoff)

    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        if kind == "private":
            user = next(self._users)
            self.simulator.world.person(user)
            return SuiteChat(kind, str(user))
        group = self.simulator.world.add_group(next(self._groups))
        self.simulator.world.add_member(group.id, SPEAKER)
        return SuiteChat(kind, str(group.id))

    async def say(self, chat: SuiteChat, text: str) -> None:
        if chat.kind == "private":
            await self.simulator.say(text, int(chat.id))
            return
        name = f"@{self.simulator.world.bot['username']}"
        mention = native.mention(f"{name} ", name)
        await self.simulator.say(f"{name} {text}", SPEAKER, int(chat.id), entities=mention)

    def read(self, chat: SuiteChat) -> list[str]:
        return self.simulator.texts(int(chat.id))

    async def deliver(self, native: Any) -> None:
        await self.simulator.updates.repeat(native)

    async def repeat(self) -> None:
        await self.simulator.updates.repeat(self.simulator.updates.reported[-1])

    async def echo(self, chat: SuiteChat) -> None:
        message = self.simulator.message(int(chat.id), text="I said this myself")
        await self.simulator.report(message={**message, "from": self.simulator.world.bot})

    async def malformed(self, chat: SuiteChat, seed: int, number: int) -> None:
        for update in updates(seed, number):
            await self.simulator.report(**update)

    def components(self, chat: SuiteChat) -> MessageChain:
        world = self.simulator.world
        quoted = world.show(world.chats[int(chat.id)], {"text": "earlier"})
        world.sent.pop()
        sticker = world.add_file(b"sticker", file_id="a-sticker")
        return [
            Quote(id=str(quoted["message_id"]), sender=str(world.bot_id), origin=[Plain(text="earlier")]),
            At(target=str(ANN), display="Ann"),
            Plain(text=" says that a < b & c_d, [here](https://example.com/a)"),
            Image(base64=HELLO),
            Image(base64="aGVsbG8x"),
            Video(base64="aGVsbG8y"),
            Plain(text="between "),
            At(target="@somebody", display="somebody"),
            File(base64=HELLO, name="a.pdf"),
            File(base64=HELLO, name="b.pdf"),
            Voice(base64=HELLO, mime_type="audio/ogg"),
            Face(id=sticker),
            Platform(platform="telegram", component_type="dice", data={"emoji": "🎲"}),
            Image(base64=HELLO),
            Plain(text="the end 👨‍👩‍👧"),
        ]

    async def reflect(self, chat: SuiteChat) -> int:
        """The messages of an album are one event."""
        messages = [each.message for each in self.simulator.sent(int(chat.id))]
        person = self.simulator.world.person(int(chat.id))
        for message in messages:
            await self.simulator.report(message={**message, "from": person})
        albums = {message["media_group_id"] for message in messages if "media_group_id" in message}
        return len(albums) + sum("media_group_id" not in message for message in messages)

    def received_chain(self, chains: Sequence[MessageChain]) -> MessageChain:
        """A sticker comes with its picture."""
        shown = super().received_chain(chains)
        return [each for place, each in enumerate(shown) if not _is_picture_of_sticker(shown, place)]

    def same(self, sent: Component, received: Component) -> bool:
        """Files come back with their size, a die with what it showed, a quote with its author's name."""
        match sent, received:
            case Media(), Media():
                return sent.base64 == received.base64 and (sent.name is None or sent.name == received.name)
            case Platform(), Platform():
                return sent.component_type == received.component_type
            case Quote(), Quote():
                return sent.model_copy(update={"name": received.name}) == received
        return sent == received

    async def produce_events(self, probe: Probe) -> list[Json]:
        for sample in self.samples:
            kinds = {name: value for name, value in sample.native.items() if name != "update_id"}
            await self.simulator.report(**kinds)
        return [known_fields(sample.decoded) for sample in self.samples]

    async def use_apis(self, probe: Probe) -> None:
        simulator = self.simulator
        _fill_world(simulator)
        own = simulator.world.show(simulator.world.chats[GROUP], {"text": "own"})
        theirs = simulator.message(ANN, GROUP, text="theirs")
        reply = len(simulator.sent())
        await probe.calls(*_calls(str(own["message_id"]), str(theirs["message_id"])))
        _check_world(simulator, own["message_id"], theirs["message_id"], reply)

    def streamed(self, chat: SuiteChat) -> int:
        return sum(draft["chat_id"] == int(chat.id) for draft in self.simulator.world.drafts)

    async def cut(self) -> None:
        await self.simulator.cut()

    async def cut_for_long(self, times: int) -> None:
        for _ in range(times):
            self.simulator.faults.refuse("getMe", 502, "Bad Gateway")
        await self.cut()

    def refuse_send(self, retry_after: float | None = None) -> None:
        if retry_after is None:
            self.simulator.faults.refuse("sendMessage", 403, "Forbidden: the content was refused")
        else:
            self.simulator.faults.too_many("sendMessage")

    def cut_send(self, happens: bool) -> None:
        self.simulator.faults.cut("sendMessage", happens)

    def stay_silent(self) -> None:
        self.simulator.faults.stay_silent("sendMessage")

    def unacknowledged(self) -> int:
        return len(self.simulator.updates.waiting)


def _is_picture_of_sticker(chain: MessageChain, place: int) -> bool:
    return place > 0 and isinstance(chain[place], Image) and isinstance(chain[place - 1], Face)


def _fill_world(simulator: Simulator) -> None:
    world = simulator.world
    world.person(ANN, "Ann")
    world.people[ANN]["first_name"] = world.chats[ANN].about["first_name"] = "Ann"
    world.add_group(GROUP, "the group", bot_status="administrator")
    world.add_group(LEFT, "left soon")
    world.add_member(GROUP, ANN, "creator")
    for user in (BOB, EVE):
        world.add_member(GROUP, user)
    world.queries.add("a-query")


def _calls(own: str, theirs: str) -> list[ApiCall]:
    group, chat = {"group_id": str(GROUP)}, {"chat_id": str(GROUP)}
    member = {**group, "user_id": str(BOB)}
    text = [{"type": "Plain", "text": "sent"}]
    message = {"chat_type": "group", **chat, "message_id": own}
    away = {"from_chat_type": "group", "from_chat_id": str(GROUP), "message_id": theirs}
    return [
        ApiCall("reply_message", "reply", {"message": "a reply", "quote": True}),
        api_call("send_message", "messages.send", target_type="group", target_id=str(GROUP), chain=text),
        api_call("edit_message", "messages.edit", **message, chain=[{"type": "Plain", "text": "changed"}]),
        api_call("edit_message", "messages.edit", **message, chain=[{"type": "Plain", "text": "changed"}]),
        api_call("forward_message", "messages.forward", **away, to_chat_type="private", to_chat_id=str(ANN)),
        api_call("react", "messages.react", **{**message, "message_id": theirs}, reaction="👍", add=True),
        api_call("get_group_info", "groups.info", {"name": "the group", "member_count": 4}, **group),
        api_call("get_group_member_info", "groups.member", {"role": "owner"}, **{**group, "user_id": str(ANN)}),
        api_call("set_group_name", "groups.rename", **group, name="renamed"),
        api_call("mute_member", "groups.mute", **member, duration=60),
        api_call("unmute_member", "groups.unmute", **member),
        api_call("mute_member", "groups.mute", **member, duration=0),
        api_call("kick_member", "groups.kick", **{**group, "user_id": str(EVE)}),
        api_call("is_muted", "groups.is_muted", False, **group),
        api_call("leave_group", "groups.leave", group_id=str(LEFT)),
        api_call("get_user_info", "users.info", {"nickname": "Ann"}, user_id=str(ANN)),
        api_call("send_typing", "messages.typing", chat_type="private", chat_id=str(ANN)),
        action_call("pin_message", True, **chat, message_id=own),
        action_call("pin_message", True, **chat, message_id=theirs),
        action_call("unpin_message", True, **chat, message_id=own),
        action_call("unpin_all_messages", True, **chat),
        action_call("get_chat_administrators", None, **chat),
        action_call("set_chat_title", True, **chat, title="titled"),
        action_call("set_chat_description", True, **chat, description="about"),
        action_call("get_chat_member_count", 3, **chat),
        action_call("send_chat_action", True, **chat, action="upload_photo"),
        action_call("create_chat_invite_link", {"name": "for all"}, **chat, name="for all"),
        action_call("answer_callback_query", True, callback_query_id="a-query", text="done"),
        ApiCall("call_platform_api", "platform.call", {"action": "get_chat_member_count", "params": chat}, 3),
        api_call("delete_message", "messages.delete", **message),
    ]


def _check_world(simulator: Simulator, own: int, theirs: int, reply_place: int) -> None:
    """Checks the effects of the calls on the simulated platform."""
    world = simulator.world
    group = world.chats[GROUP]
    assert (group.about["title"], group.about["description"]) == ("titled", "about")
    assert group.pinned == []
    assert world.shown(GROUP, own).versions == ["own", "changed"]
    assert world.shown(GROUP, own).deleted
    assert world.reactions[GROUP, theirs] == [{"type": "emoji", "emoji": "👍"}]
    assert group.members[BOB]["status"] == "restricted"
    assert group.members[EVE]["status"] == "left"
    assert world.chats[LEFT].members[world.bot_id]["status"] == "left"
    assert [each["action"] for each in world.typing if each["action"] != "typing"] == ["upload_photo"]
    assert {"callback_query_id": "a-query", "text": "done"} in world.answered_queries
    [reply] = [each for each in simulator.sent() if each.text == "a reply"]
    assert "reply_to_message" in reply.message
    [forwarded] = simulator.sent(ANN)
    assert forwarded.message["forward_origin"]["sender_user"]["id"] == ANN
