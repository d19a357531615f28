"""Plays QQ in the shared adapter suite, over the simulated OneBot implementation."""

import itertools
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import parlour.platforms.onebot11 as package
from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, HostLink
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.onebot11.adapter import OneBotAdapter
from parlour.platforms.onebot11.api import OneBotApi
from parlour.platforms.onebot11.state import ConnectedAccounts
from parlour.testing.adapter_suite import ApiCall, PlatformDriver, Probe, SuiteChat, action_call, api_call
from parlour.testing.adapter_suite.driver import Json, known_fields
from parlour.testing.native_payloads import read_samples
from parlour.testing.network import free_port
from parlour.testing.onebot_simulator import Simulator, native
from parlour.testing.onebot_simulator.malformed import frames
from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    Component,
    Face,
    File,
    Forward,
    ForwardNode,
    Image,
    MessageChain,
    Plain,
    Platform,
    Quote,
    Video,
    Voice,
)
from parlour_sdk.protocol.people import ChatType

TOKEN = "a-secret-token-of-onebot"
SENDS = ("send_private_msg", "send_group_msg")
FRIEND, GROUP, LEFT = 20002, 30003, 30009
MEMBER, MUTED, KICKED = 20006, 20002, 20007


class OneBotDriver(PlatformDriver):
    """The implementation connects to the bot, which is the usual mode."""

    manifest = BuiltinAdapterCatalogue().manifests()["onebot11"]
    api = OneBotApi
    level = "protocol+"
    samples = read_samples(Path(package.__file__).parent / "samples")
    connects = False
    tokens_per_message = 5
    token = TOKEN

    def __init__(self) -> None:
        self.simulator = Simulator(token=TOKEN)
        self._numbers = itertools.count(500001)
        self._last: Json = {}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        port = free_port()
        self.config = {"mode": "reverse", "host": "127.0.0.1", "port": port, "access_token": TOKEN}
        async with self.simulator.connecting(f"ws://127.0.0.1:{port}/onebot/v11/ws"):
            yield

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        return OneBotAdapter(link, backoff, ConnectedAccounts())

    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        return SuiteChat(kind, str(next(self._numbers)))

    async def say(self, chat: SuiteChat, text: str) -> None:
        at = [native.segment("at", qq=str(self.simulator.self_id)), native.text(" ")] if chat.kind == "group" else []
        group = int(chat.id) if chat.kind == "group" else 0
        user = FRIEND if group else int(chat.id)
        self._last = await self.simulator.say([*at, native.text(text)], user, group)

    def read(self, chat: SuiteChat) -> list[str]:
        return self.simulator.texts(f"{chat.kind}:{chat.id}")

    async def deliver(self, native: Any) -> None:
        await self.simulator.send_frame(json.dumps(native))

    async def repeat(self) -> None:
        await self.simulator.report(self._last)

    async def echo(self, chat: SuiteChat) -> None:
        account = self.simulator.self_id
        await self.simulator.say("I said this myself", user_id=account)
        own = {"time": 1, "self_id": account, "user_id": account, "message_id": 3}
        await self.simulator.report({**own, "post_type": "message_sent"})

    async def malformed(self, chat: SuiteChat, seed: int, number: int) -> None:
        for frame in frames(seed, number, self.simulator.self_id):
            await self.simulator.send_frame(frame)

    def components(self, chat: SuiteChat) -> MessageChain:
        quoted = self.simulator.world.show(f"private:{chat.id}", [native.text("earlier")])
        self.simulator.world.sent.remove(quoted)
        return [
            Quote(id=str(quoted.message_id), sender=str(self.simulator.self_id), origin=[Plain(text="earlier")]),
            At(target="20002"),
            Plain(text=" a [CQ:at,qq=all] & b, c\n"),
            AtAll(),
            Image(url="https://example.com/a.png?x=1,2&y=[3]"),
            Plain(text="between"),
            Image(base64="aGVsbG8="),
            Face(id="14"),
            Voice(url="https://example.com/a.amr"),
            Video(url="https://example.com/a.mp4"),
            File(url="https://example.com/a.pdf", name="a.pdf"),
            Forward(nodes=[_node("one"), _node("two")]),
            Platform(platform="onebot11", component_type="dice", data={}),
            Plain(text="the end 👨‍👩‍👧"),
        ]

    async def reflect(self, chat: SuiteChat) -> int:
        """A merged forward comes back as one segment with its nodes."""
        segments: list[Json] = []
        for sent in self.simulator.sent(f"private:{chat.id}"):
            forwarded = [native.segment("forward", id="1", content=sent.segments)]
            segments += forwarded if sent.forward else sent.segments
        await self.simulator.say(segments, user_id=int(chat.id))
        return 1

    def same(self, sent: Component, received: Component) -> bool:
        """A quote comes back with the name of its author."""
        if isinstance(sent, Quote) and isinstance(received, Quote):
            return sent.model_copy(update={"name": received.name}) == received
        return sent == received

    async def produce_events(self, probe: Probe) -> list[Json]:
        for sample in self.samples:
            await self.simulator.report({**sample.native, "time": int(time.time())})
        return [known_fields(sample.decoded) for sample in self.samples]

    async def use_apis(self, probe: Probe) -> None:
        _fill_world(self.simulator)
        earlier = await self.simulator.say("earlier", user_id=FRIEND)
        replies = len(self.simulator.sent())
        await probe.calls(*_calls(str(earlier["message_id"])))
        _check_world(self.simulator, replies)

    async def cut(self) -> None:
        await self.simulator.cut()

    async def cut_for_long(self, times: int) -> None:
        self.simulator.turns_away = times
        await self.cut()

    def refuse_send(self, retry_after: float | None = None) -> None:
        if retry_after is None:
            self.simulator.faults.refuse(SENDS[0], 1400, "the content was refused")
        else:
            self.simulator.faults.refuse(SENDS[0], 1429, "", {"retry_after": retry_after})

    def cut_send(self, happens: bool) -> None:
        self.simulator.faults.cut(SENDS[0], happens)

    def stay_silent(self) -> None:
        self.simulator.faults.stay_silent(SENDS[0])


class ForwardOneBotDriver(OneBotDriver):
    """The bot connects to the implementation."""

    connects = True

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.simulator.listening() as url:
            self.config = {"mode": "forward", "url": url, "access_token": TOKEN}
            yield


def _node(text: str) -> ForwardNode:
    return ForwardNode(sender="20002", name="小明", chain=[Plain(text=text), Face(id="1")])


def _fill_world(simulator: Simulator) -> None:
    world = simulator.world
    world.groups.clear()
    world.add_group(GROUP, "the group", role="admin")
    world.add_group(LEFT, "left soon")
    for user in (FRIEND, MEMBER, KICKED):
        world.add_member(GROUP, user, card=f"card {user}")
    world.add_friend(FRIEND, "Ann", remark="my friend")
    world.requests = {"friend-flag": {}, "invite-flag": {}, "join-flag": {}}
    world.files = {"cat.jpg": "https://example.com/cat.jpg", "a.amr": "https://example.com/a.amr"}
    world.forwards["fwd"] = [native.segment("node", user_id="7", nickname="Ann", content=[native.text("one")])]


def _calls(message_id: str) -> list[ApiCall]:
    group, member = {"group_id": str(GROUP)}, {"group_id": str(GROUP), "user_id": str(MEMBER)}
    muted, kicked = {**member, "user_id": str(MUTED)}, {**member, "user_id": str(KICKED)}
    text, friend = [{"type": "Plain", "text": "sent"}], {"request_id": "friend-flag"}
    chat = {"chat_type": "private", "chat_id": str(FRIEND), "message_id": message_id}
    away = {"from_chat_type": "private", "from_chat_id": str(FRIEND), "message_id": message_id}
    return [
        ApiCall("reply_message", "reply", {"message": "a reply", "quote": True}),
        api_call("send_message", "messages.send", target_type="group", target_id=str(GROUP), chain=text),
        api_call("forward_message", "messages.forward", **away, to_chat_type="group", to_chat_id=str(GROUP)),
        api_call("get_message", "messages.get", {"message_id": message_id}, **chat),
        api_call("delete_message", "messages.delete", **chat),
        api_call("get_group_info", "groups.info", {"name": "the group", "member_count": 4}, **group),
        api_call("get_group_list", "groups.list", [{"id": str(GROUP)}, {"id": str(LEFT)}]),
        api_call("get_group_member_list", "groups.members", **group),
        api_call("get_group_member_info", "groups.member", {"display_name": f"card {MEMBER}"}, **member),
        api_call("set_group_name", "groups.rename", **group, name="renamed"),
        api_call("mute_member", "groups.mute", **member, duration=0),
        api_call("mute_member", "groups.mute", **muted, duration=60),
        api_call("unmute_member", "groups.unmute", **muted),
        api_call("kick_member", "groups.kick", **kicked),
        api_call("is_muted", "groups.is_muted", False, **group),
        api_call("leave_group", "groups.leave", group_id=str(LEFT)),
        api_call("get_user_info", "users.info", {"nickname": f"user {FRIEND}"}, user_id=str(FRIEND)),
        api_call("get_friend_list", "users.friends", [{"id": str(FRIEND), "remark": "my friend"}]),
        api_call("answer_friend_request", "users.answer_friend_request", **friend, approve=True, remark="A"),
        api_call("answer_group_invite", "users.answer_group_invite", request_id="invite-flag", approve=False),
        api_call("get_file_url", "media.url", "https://example.com/cat.jpg", file_id="cat.jpg"),
        ApiCall("call_platform_api", "platform.call", {"action": "get_status", "params": {}}, {"online": True}),
        action_call("get_login_info", {"user_id": 10001}),
        action_call("get_status", {"online": True}),
        action_call("get_version_info", {"protocol_version": "v11"}),
        action_call("get_group_honor_info", {"type": "all"}, **group, type="all"),
        action_call("set_group_card", **member, card="new card"),
        action_call("set_group_special_title", **member, special_title="hero"),
        action_call("set_group_admin", **muted, enable=True),
        action_call("set_group_whole_ban", **group, enable=True),
        action_call("set_group_add_request", flag="join-flag", sub_type="add", approve=True),
        action_call("send_group_forward_msg", **group, messages=[native.segment("node", user_id="7", content=[])]),
        action_call("get_forward_msg", None, id="fwd"),
        action_call("get_record", {"url": "https://example.com/a.amr"}, file="a.amr", out_format="mp3"),
        action_call("get_image", {"url": "https://example.com/cat.jpg"}, file="cat.jpg"),
        action_call("can_send_image", {"yes": True}),
        action_call("can_send_record", {"yes": True}),
    ]


def _check_world(simulator: Simulator, first: int) -> None:
    """Checks the effects of the calls on the simulated platform."""
    world = simulator.world
    group = world.groups[GROUP]
    assert group.name == "renamed"
    assert group.members[MEMBER]["shut_up_timestamp"] > time.time() + 29 * 24 * 3600
    assert group.members[MUTED]["shut_up_timestamp"] == 0
    assert (group.members[MEMBER]["card"], group.members[MEMBER]["title"]) == ("new card", "hero")
    assert group.members[MUTED]["role"] == "admin"
    assert group.whole_ban
    assert KICKED not in group.members
    assert LEFT not in world.groups
    assert world.requests["friend-flag"]["answer"] == {"approve": True, "remark": "A"}
    assert world.requests["invite-flag"]["answer"] == {"sub_type": "invite", "approve": False}
    assert world.requests["join-flag"]["answer"] == {"sub_type": "add", "approve": True}
    reply, *_ = simulator.sent()[first:]
    assert [each["type"] for each in reply.segments] == ["reply", "text"]
    assert [each.forward for each in simulator.sent(f"group:{GROUP}")] == [False, True, True]
