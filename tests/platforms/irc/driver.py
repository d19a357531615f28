"""Plays an IRC server in the shared adapter suite, with users who are not connected and with the bot as a client."""

import itertools
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import parlour.platforms.irc as package
from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, HostLink
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.irc.adapter import IrcAdapter
from parlour.platforms.irc.api import IrcApi
from parlour.testing.adapter_suite import ApiCall, PlatformDriver, Probe, SuiteChat, action_call, api_call
from parlour.testing.irc_simulator import IrcSimulator, SentIrcMessage
from parlour.testing.irc_simulator.simulator import ACCOUNT, PASSWORD
from parlour.testing.irc_simulator.world import SimulatedIrcUser, fold
from parlour.testing.native_payloads import read_samples
from parlour_sdk.protocol.chain import Component, MessageChain, Plain, Platform, Quote
from parlour_sdk.protocol.people import ChatType

NICK, CHANNEL = "Parlour", "#Talk"
JUNK = (
    ":Odd!odd@people.example PRIVMSG Parlour", ":Odd!odd@people.example NOTICE", ":Odd!odd@people.example KICK #Talk",
    ":Odd!odd@people.example TOPIC #Talk", ":Odd!odd@people.example MODE", ":Odd!odd@people.example INVITE Parlour",
    "", ":", "@", "@time=x", ":Odd!odd@people.example", "::::", ":Odd!odd@people.example JOIN", "\x00\x01",
)  # fmt: skip
"""Lines that mean nothing."""


class IrcDriver(PlatformDriver):
    manifest = BuiltinAdapterCatalogue().manifests()["irc"]
    api = IrcApi
    level = "protocol+"
    samples = read_samples(Path(package.__file__).parent / "samples")
    tokens_per_message = 25
    token = PASSWORD

    def __init__(self) -> None:
        self.simulator = simulator = IrcSimulator()
        self._numbers = itertools.count(1)
        world = simulator.world
        self.ann, self.bob, self.speaker = (world.add_user(nick) for nick in ("Ann", "Bob", "Sam"))
        for user in (self.ann, self.bob, self.speaker):
            user.user = user.nick.lower()
        world.add_channel(CHANNEL, self.ann, self.bob, self.speaker, operator=self.ann)
        world.add_channel("#Side", self.ann, operator=self.ann)
        self._users: dict[str, SimulatedIrcUser] = {}
        *self._free, self._own, self._left = (self._new_channel() for _ in range(6))
        self._channels = ["#Side", *self._free, self._own, self._left, CHANNEL]

    def _new_channel(self) -> str:
        return self.simulator.world.add_channel(f"#group{next(self._numbers)}", self.speaker)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.simulator.listening() as port:
            self.config = {
                "host": "127.0.0.1",
                "port": port,
                "security": "none",
                "nick": NICK,
                "sasl_account": ACCOUNT,
                "sasl_password": PASSWORD,
                "channels": self._channels,
                "line_interval": 0,
            }
            yield

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        return IrcAdapter(link, backoff)

    async def online(self) -> None:
        """Waits until the bot is in its channels, of which it joins this one last."""
        channel = self.simulator.world.channels[fold(CHANNEL)]
        await self.until(lambda: fold(NICK) in channel.members)

    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        if kind == "group":
            return SuiteChat(kind, self._free.pop())
        user = self.simulator.world.add_user(f"user{next(self._numbers)}")
        self._users[user.id] = user
        return SuiteChat(kind, user.id)

    def _place(self, chat: SuiteChat) -> tuple[SimulatedIrcUser, str]:
        """Returns who writes in a chat, and to whom."""
        return (self._users[chat.id], NICK) if chat.kind == "private" else (self.speaker, chat.id)

    async def say(self, chat: SuiteChat, text: str) -> None:
        await self.online()
        user, target = self._place(chat)
        mention = f"{NICK}: " if chat.kind == "group" else ""
        message = await self.simulator.say(f"{mention}{text}", user, target)
        self.simulator.last_line = f"@msgid={message.message_id} :{user.mask} PRIVMSG {target} :{message.content}"

    def read(self, chat: SuiteChat) -> list[str]:
        """Returns the messages of the bot; the label of a line says whether it is the first one of a message."""
        messages: list[str] = []
        for each in self._sent(chat):
            if messages and not each.label.endswith(".0.0"):
                messages[-1] += f"\n{each.text}"
            else:
                messages.append(each.text)
        return messages

    def _sent(self, chat: SuiteChat) -> list[SentIrcMessage]:
        return self.simulator.sent(fold(self._users[chat.id].nick) if chat.kind == "private" else chat.id)

    async def deliver(self, native: Any) -> None:
        await self.online()
        await self.simulator.deliver(str(native), NICK)

    async def repeat(self) -> None:
        await self.simulator.deliver(self.simulator.last_line, NICK)

    async def echo(self, chat: SuiteChat) -> None:
        await self.online()
        await self.simulator.deliver(f"@msgid=own :{NICK}!parlour@bots.example PRIVMSG {CHANNEL} :I said this", NICK)

    async def malformed(self, chat: SuiteChat, seed: int, number: int) -> None:
        await self.online()
        generator = random.Random(seed)
        for place in range(number):
            tags = f"@msgid=odd{seed}x{place} " if generator.random() < 0.5 else ""
            await self.simulator.deliver(f"{tags}{generator.choice(JUNK)}", NICK)

    def components(self, chat: SuiteChat) -> MessageChain:
        return [
            Quote(id="sample001"),
            Plain(text="It says {that}, 中文 👨‍👩‍👧"),
            Platform(platform="irc", component_type="action", data={"text": "waves"}),
            Plain(text="the end"),
        ]

    async def reflect(self, chat: SuiteChat) -> int:
        user, target = self._place(chat)
        sent = self._sent(chat)
        for each in sent:
            await self.simulator.say(each.content, user, target, **each.tags)
        return len(sent)

    def same(self, sent: Component, received: Component) -> bool:
        match sent, received:
            case Platform(), Platform():
                return (sent.component_type, sent.data) == (received.component_type, received.data)
        return sent == received

    async def use_apis(self, probe: Probe) -> None:
        simulator, world = self.simulator, self.simulator.world
        await self.online()
        kicked = world.add_user("Loud")
        own, left = world.channels[self._own], world.channels[self._left]
        own.members[fold(NICK)].add("o")
        own.members[fold("Loud")] = set()
        simulator.world.add_channel("#later", self.bob)
        for line in (f":Ann!ann@x MODE {own.name} +o {NICK}", f":{kicked.mask} JOIN {own.name} * :Loud"):
            await simulator.deliver(line, NICK)
        seen = await simulator.say("look", self.ann, NICK)
        await probe.calls(*_calls(own.name, left.name, kicked.id, self.ann.id, seen.message_id))
        assert fold("Loud") not in own.members
        assert fold(NICK) not in left.members
        assert fold(NICK) in world.channels["#later"].members
        assert (own.topic, own.bans) == ("tea", {"*!*@bad.example"})
        assert {(each.tags.get("+draft/react"), each.tags.get("+typing")) for each in world.tagged} == {
            ("👍", None),
            (None, "active"),
        }
        assert "quoting" in simulator.texts(own.name)
        assert any(each.text == "a reply" for each in simulator.sent())

    async def cut(self) -> None:
        self.simulator.cut()

    async def cut_for_long(self, times: int) -> None:
        self.simulator.turned_away = times
        self.simulator.cut()

    def refuse_send(self, retry_after: float | None = None) -> None:
        self.simulator.faults.refuse()

    def cut_send(self, happens: bool) -> None:
        self.simulator.faults.cut("PRIVMSG", happens)

    def stay_silent(self) -> None:
        self.simulator.faults.stay_silent("PRIVMSG")


def _calls(own: str, left: str, kicked: str, ann: str, seen: str) -> Sequence[ApiCall]:
    chat = {"chat_type": "private", "chat_id": ann}
    quoting = [{"type": "Quote", "id": seen}, {"type": "Plain", "text": "quoting"}]
    whois = {"nick": "Ann", "user_id": ann}
    return [
        ApiCall("reply_message", "reply", {"message": "a reply", "quote": False}),
        api_call("send_message", "messages.send", target_type="group", target_id=own, chain=quoting),
        api_call("react", "messages.react", **chat, message_id=seen, reaction="👍"),
        api_call("send_typing", "messages.typing", **chat),
        api_call("get_group_info", "groups.info", {"name": own, "member_count": 3}, group_id=own),
        api_call("get_group_list", "groups.list"),
        api_call("get_group_member_list", "groups.members", group_id=own),
        api_call(
            "get_group_member_info", "groups.member", {"user": {"nickname": "Loud"}}, group_id=own, user_id=kicked
        ),
        api_call("kick_member", "groups.kick", group_id=own, user_id=kicked),
        api_call("leave_group", "groups.leave", group_id=left),
        api_call("answer_group_invite", "users.answer_group_invite", request_id="#later", approve=True),
        api_call("get_user_info", "users.info", {"nickname": "Ann"}, user_id=ann),
        action_call("join_channel", {"channel": "#more"}, channel="#more"),
        action_call("set_topic", channel=own, topic="tea"),
        action_call("set_ban", channel=own, mask="*!*@bad.example"),
        action_call("whois", whois, nick="Ann"),
        ApiCall("call_platform_api", "platform.call", {"action": "whois", "params": {"nick": "Ann"}}, whois),
    ]
