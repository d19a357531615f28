"""Plays Matrix in the shared adapter suite: a real Synapse, unmodified clients, and a proxy that causes faults."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import parlour.platforms.matrix as package
from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, HostLink
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.matrix.adapter import MatrixAdapter
from parlour.platforms.matrix.api import MatrixApi
from parlour.testing.adapter_suite import ApiCall, PlatformDriver, Probe, SuiteChat, api_call
from parlour.testing.adapter_suite.driver import WAIT_SECONDS, Json
from parlour.testing.adapter_suite.probe import eventually
from parlour.testing.homeserver_proxy import HomeserverProxy
from parlour.testing.native_payloads import read_samples
from parlour.testing.synapse_server import Account
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

from .events import do_everything, expected_events, say_everything
from .home import Home
from .malformed import events
from .person import Person, require_success
from .world import numbers

API = "/_matrix/client/v3"
SEND = "/send/m.room.message/"
PROXIED_ATTEMPTS = 2
"""The client library itself repeats a request once on a connection that was used before."""


class MatrixDriver(PlatformDriver):
    manifest = BuiltinAdapterCatalogue().manifests()["matrix"]
    api = MatrixApi
    samples = read_samples(Path(package.__file__).parent / "samples")
    level = "peer"
    tokens_per_message = 125

    def __init__(self, home: Home) -> None:
        self._home = home
        self.synapse = home.synapse
        self.proxy = HomeserverProxy(self.synapse.url)
        self._last = ("", "")

    def running(self) -> AbstractAsyncContextManager[None]:
        return self._running(*self._accounts())

    def running_for_samples(self) -> AbstractAsyncContextManager[None]:
        return self._running(self._home.bot, self._home.ann, self._home.bob)

    @asynccontextmanager
    async def _running(self, bot: Account, ann: Account, bob: Account) -> AsyncIterator[None]:
        self.bot, self.ann, self.bob = bot, ann, bob
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self.proxy.listening())
            self.token = self.bot.access_token
            self.person = await stack.enter_async_context(Person(self.synapse.url, self.ann).online())
            self.other = await stack.enter_async_context(Person(self.synapse.url, self.bob).online())
            account = {"user": self.bot.user_id, "access_token": self.token}
            self.config = {"homeserver": self.proxy.url, **account, "invitations": "ask"}
            yield

    def _accounts(self) -> tuple[Account, Account, Account]:
        number = next(numbers)
        bot = self.synapse.register(f"suitebot{number}", "The Bot")
        ann, bob = self.synapse.register(f"suiteann{number}", "Ann"), self.synapse.register(f"suitebob{number}", "Bob")
        return bot, ann, bob

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        return MatrixAdapter(link, backoff)

    async def until(self, condition: Callable[[], bool], seconds: float = WAIT_SECONDS) -> None:
        async with asyncio.timeout(seconds):
            while not condition():
                changes = [asyncio.create_task(each.changed()) for each in (self.person, self.proxy)]
                await asyncio.wait(changes, return_when=asyncio.FIRST_COMPLETED)
                for change in changes:
                    change.cancel()

    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        others = [self.bob.user_id] if kind == "group" else []
        wishes = {"invite": [self.bot.user_id, *others], "is_direct": kind == "private"}
        made = await self._call("POST", "/createRoom", wishes, self.ann)
        room = str(made["room_id"])
        for account in (self.bot, *([self.bob] if others else [])):
            await self._call("POST", f"/rooms/{room}/join", {}, account)
        await self.person.until(lambda: self.bot.user_id in self.person.members(room))
        return SuiteChat(kind, room)

    async def say(self, chat: SuiteChat, text: str) -> None:
        body = f"{self.bot.user_id} {text}" if chat.kind == "group" else text
        self._last = (chat.id, await self.person.say(chat.id, body))

    def read(self, chat: SuiteChat) -> list[str]:
        return self.person.read(chat.id)

    async def deliver(self, native: Any) -> None:
        if native.get("content", {}).get("membership") == "invite":
            self.proxy.report_invitation(native["room_id"], native)
        else:
            self.proxy.report(native["room_id"], native)
        await self.proxy.until(lambda: not self.proxy.has_reports)

    async def repeat(self) -> None:
        room, event_id = self._last
        self.proxy.report(room, await self.person.event(room, event_id))

    async def echo(self, chat: SuiteChat) -> None:
        await self._send(chat, {"msgtype": "m.text", "body": "I said this myself"}, self.bot)

    async def malformed(self, chat: SuiteChat, seed: int, number: int) -> None:
        made = events(seed, number)
        for first in range(0, number, 50):
            self.proxy.report(chat.id, *made[first : first + 50])
            await self.proxy.until(lambda: not self.proxy.has_reports)

    def components(self, chat: SuiteChat) -> MessageChain:
        path = f"{API}/rooms/{chat.id}/send/m.room.message/{next(numbers)}"
        earlier = self.synapse.call("PUT", path, {"msgtype": "m.text", "body": "earlier"}, self.bot)["event_id"]
        return [
            Quote(id=earlier, sender=self.bot.user_id, origin=[Plain(text="earlier")]),
            At(target=self.ann.user_id, display="Ann"),
            Plain(text=" a <b>at room</b> & *b*, c\n"),
            AtAll(),
            Plain(text=" before the picture"),
            Image(base64="aGVsbG8=", name="a.png", mime_type="image/png"),
            Plain(text="between"),
            Image(base64="aGVsbG8h", name="b.png", mime_type="image/png"),
            Voice(base64="b2dn", name="a.ogg", mime_type="audio/ogg"),
            Video(base64="bXA0", name="a.mp4", mime_type="video/mp4"),
            File(base64="cGRm", name="a.pdf", mime_type="application/pdf"),
            Platform(platform="matrix", component_type="m.location", data={"geo_uri": "geo:1,2", "body": "here"}),
            Plain(text="the end 👨‍👩‍👧"),
        ]

    async def reflect(self, chat: SuiteChat) -> int:
        await self.person.until(lambda: self.read(chat)[-1:] == ["the end 👨‍👩‍👧"])
        contents = [each["content"] for each in self.person.events(chat.id)][1:]
        for content in contents:
            await self._send(chat, content, self.ann)
        return len(contents)

    def same(self, sent: Component, received: Component) -> bool:
        """A file comes back with its size, a quote with its author's name, an own part with its text."""
        match sent, received:
            case Quote(), Quote():
                return sent.model_copy(update={"name": received.name}) == received
            case Platform(), Platform():
                return sent.model_copy(update={"text": received.text}) == received
            case Media(), Media():
                return received.size is not None and sent == received.model_copy(update={"size": None})
        return sent == received

    async def produce_events(self, probe: Probe) -> list[Json]:
        """Real users do everything; the bot's invitation is answered by a plugin."""
        ann, bob, bot = self.person, self.other, self.bot.user_id
        room = await self._invited(probe, "The room", bob.id)
        require_success(await bob.client.join(room))
        said = await say_everything(ann, bob, bot, room)
        await do_everything(ann, bob, bot, room, said)
        return expected_events(said, ann.id, bob.id, bot, room)

    async def _invited(self, probe: Probe, name: str, *others: str, **wishes: Any) -> str:
        """Creates a room whose invitation of the bot a plugin accepts."""
        made = await self.person.client.room_create(name=name, invite=[self.bot.user_id, *others], **wishes)
        room = str(require_success(made).room_id)
        await eventually(lambda: _is_invited(probe, room), "the plugin received the invitation")
        await probe.calls(api_call("answer_group_invite", "users.answer_group_invite", request_id=room, approve=True))
        await self.person.until(lambda: self.bot.user_id in self.person.members(room))
        return room

    async def use_apis(self, probe: Probe) -> None:
        ann, bob, bot = self.person, self.other, self.bot.user_id
        declined = str(require_success(await ann.client.room_create(name="declined", invite=[bot])).room_id)
        await eventually(lambda: _is_invited(probe, declined), "the plugin received the invitation")
        await probe.calls(
            api_call("answer_group_invite", "users.answer_group_invite", request_id=declined, approve=False)
        )
        group = await self._invited(probe, "a group", bob.id, power_level_override={"users": {bot: 50}})
        require_success(await bob.client.join(group))
        earlier = await ann.say(group, "before")
        await eventually(lambda: _has_event(probe, earlier), "the plugin received the message")
        sent = (await probe.calls(*_sends(group)))[0]["message_id"]
        await probe.calls(*_reads(ann, group, earlier), *_changes(bob, group, sent, earlier))
        await ann.until(lambda: ann.members(group) == {ann.id})
        await ann.until(lambda: (group, bot) in ann.typists)
        await ann.until(lambda: len(ann.events(group, "m.room.redaction")) == 2)
        assert ann.read(group) == ["before"]
        assert [each["content"]["m.relates_to"]["key"] for each in ann.events(group, "m.reaction")] == ["👍"]
        assert ann.client.rooms[group].name == "renamed"
        assert bot not in ann.members(declined)

    async def cut(self) -> None:
        self.proxy.cut("GET", "/sync", times=PROXIED_ATTEMPTS, happens=False)
        self.proxy.cut_all()

    async def cut_for_long(self, times: int) -> None:
        self.proxy.refuse("GET", "/account/whoami", 502, {"error": "not now"}, times=times)
        await self.cut()

    def refuse_send(self, retry_after: float | None = None) -> None:
        if retry_after is None:
            self.proxy.refuse("PUT", SEND, 403, {"errcode": "M_FORBIDDEN", "error": "you may not speak here"})
        else:
            busy = {"errcode": "M_LIMIT_EXCEEDED", "error": "busy", "retry_after_ms": int(retry_after * 1000)}
            self.proxy.refuse("PUT", SEND, 429, busy)

    def cut_send(self, happens: bool) -> None:
        self.proxy.cut("PUT", SEND, times=PROXIED_ATTEMPTS, happens=happens)

    def stay_silent(self) -> None:
        self.proxy.hold("PUT", SEND)

    async def _send(self, chat: SuiteChat, content: Json, account: Account) -> None:
        await self._call("PUT", f"/rooms/{chat.id}/send/m.room.message/{next(numbers)}", content, account)

    async def _call(self, method: str, path: str, body: Json, account: Account) -> Json:
        return dict(await asyncio.to_thread(self.synapse.call, method, API + path, body, account))


def _is_invited(probe: Probe, room: str) -> bool:
    return any(each["type"] == "bot.invited_to_group" and each["request_id"] == room for each in probe.events())


def _has_event(probe: Probe, event_id: str) -> bool:
    return any(each["event_id"] == event_id for each in probe.events())


def _plain(text: str) -> Json:
    return {"type": "Plain", "text": text}


def _sends(group: str) -> list[ApiCall]:
    return [
        api_call("send_message", "messages.send", target_type="group", target_id=group, chain=[_plain("sent")]),
        ApiCall("reply_message", "reply", {"message": "a reply", "quote": True}),
        api_call("upload_file", "media.upload", content="hello", filename="a.txt"),
    ]


def _reads(ann: Person, group: str, earlier: str) -> list[ApiCall]:
    chat = {"chat_type": "group", "chat_id": group, "message_id": earlier}
    about_ann = {"user": {"id": ann.id}, "role": "owner"}
    return [
        api_call("get_message", "messages.get", {"sender": {"id": ann.id}, "chain": [_plain("before")]}, **chat),
        api_call("get_group_info", "groups.info", {"id": group, "name": "a group", "member_count": 3}, group_id=group),
        api_call("get_group_list", "groups.list"),
        api_call("get_group_member_list", "groups.members", [None, None, None], group_id=group),
        api_call("get_group_member_info", "groups.member", about_ann, group_id=group, user_id=ann.id),
        api_call("get_user_info", "users.info", {"nickname": "Ann"}, user_id=ann.id),
    ]


def _changes(bob: Person, group: str, sent: str, earlier: str) -> list[ApiCall]:
    chat = {"chat_type": "group", "chat_id": group}
    own, others = {**chat, "message_id": sent}, {**chat, "message_id": earlier}
    forward = {"from_chat_type": "group", "from_chat_id": group, "to_chat_type": "group", "to_chat_id": group}
    return [
        api_call("edit_message", "messages.edit", **own, chain=[_plain("edited")]),
        api_call("react", "messages.react", **others, reaction="👍", add=True),
        api_call("react", "messages.react", **others, reaction="👍", add=True),
        api_call("react", "messages.react", **others, reaction="👍", add=False),
        api_call("forward_message", "messages.forward", **forward, message_id=earlier),
        api_call("delete_message", "messages.delete", **own),
        api_call("set_group_name", "groups.rename", group_id=group, name="renamed"),
        api_call("send_typing", "messages.typing", **chat),
        api_call("kick_member", "groups.kick", group_id=group, user_id=bob.id),
        api_call("leave_group", "groups.leave", group_id=group),
    ]
