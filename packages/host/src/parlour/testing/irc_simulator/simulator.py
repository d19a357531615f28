"""The simulated IRC server as a whole: connected clients, users who are not connected, and faults."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from parlour.testing.simulator import PlatformSimulator, SimulatorFaults

from .client import CAPABILITIES, SimulatedIrcClient, check_target
from .world import (
    IrcRefusal,
    IrcWorld,
    PastIrcMessage,
    SentIrcMessage,
    SimulatedIrcChannel,
    SimulatedIrcUser,
    fold,
    is_channel,
    server_time,
)

ACCOUNT, PASSWORD = "parlour", "the-password-of-the-account"
PAST_LIMIT = 50
MAX_READ_BYTES = 64 * 1024


@dataclass
class IrcFaults(SimulatorFaults[IrcRefusal]):
    """The faults of the simulated server."""

    def refuse(self, numeric: str = "404", text: str = "Cannot send to nick/channel") -> None:
        self.refuse_with("PRIVMSG", IrcRefusal(numeric, "*", text))


class IrcSimulator(PlatformSimulator[SentIrcMessage, IrcRefusal]):
    def __init__(self) -> None:
        self.world = IrcWorld()
        self.faults = IrcFaults()
        super().__init__(self.faults, self.world.sent)
        self.accounts = {ACCOUNT: PASSWORD}
        self.certificates: dict[str, str] = {}
        """Accounts by the SHA-256 fingerprint of their certificate."""
        self.past_limit = PAST_LIMIT
        self.past: list[PastIrcMessage] = []
        """Messages to channels, for clients that ask for the past."""
        self.capabilities = list(CAPABILITIES)
        self.password = ""
        self.ban_reason = ""
        self.max_lines = 0
        """Lines of one client within ten seconds; 0 for no limit. Who sends more is disconnected."""
        self.turned_away = 0
        """Number of the next connections that end without an answer."""
        self.clients: set[SimulatedIrcClient] = set()
        self.last_line = ""

    @asynccontextmanager
    async def listening(self, port: int = 0, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
        server = await asyncio.start_server(self._connected, "127.0.0.1", port, limit=MAX_READ_BYTES, ssl=tls)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
            self.cut()
            await self.end_tasks()

    def cut(self) -> None:
        """Breaks every connection as a network does."""
        for client in list(self.clients):
            client.writer.transport.abort()
            self._forget(client)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.turned_away:
            self.turned_away -= 1
            writer.close()
            return
        client = SimulatedIrcClient(self, reader, writer)
        self.clients.add(client)
        try:
            await client.serve()
        except (ConnectionError, asyncio.IncompleteReadError, ValueError):
            pass
        finally:
            self._forget(client)
            writer.close()
            await self.notify()

    def _forget(self, client: SimulatedIrcClient) -> None:
        self.clients.discard(client)
        if client.user is not None and self.world.users.get(fold(client.user.nick)) is client.user:
            del self.world.users[fold(client.user.nick)]
            for channel in self.world.channels.values():
                channel.members.pop(fold(client.user.nick), None)

    # --- commands of registered clients

    async def execute(
        self, client: SimulatedIrcClient, user: SimulatedIrcUser, command: str, params: list[str], tags: dict[str, str]
    ) -> bool:
        """Executes a command. Returns true if the connection ends. Raises IrcRefusal."""

        def param(place: int) -> str:
            if len(params) <= place:
                raise IrcRefusal("461", command, "Not enough parameters")
            return params[place]

        match command:
            case "PRIVMSG" | "NOTICE" | "TAGMSG":
                return await self._message(client, user, command, param(0), params[1] if len(params) > 1 else "", tags)
            case "JOIN":
                for name in param(0).split(","):
                    self._join(client, user, name, params[1] if len(params) > 1 else "")
            case "PART":
                channel = self._own_channel(user, param(0))
                self._tell_channel(channel, user, "PART", channel.name)
                channel.members.pop(fold(user.nick))
            case "KICK":
                channel = self._operated(user, param(0))
                if fold(param(1)) not in channel.members:
                    raise IrcRefusal("441", param(1), channel.name, "They aren't on that channel")
                self._tell_channel(channel, user, "KICK", channel.name, param(1), user.nick)
                channel.members.pop(fold(param(1)))
            case "TOPIC":
                channel = self._operated(user, param(0))
                channel.topic = param(1)
                self._tell_channel(channel, user, "TOPIC", channel.name, param(1))
            case "MODE":
                self._mode(user, params)
            case "WHOIS":
                client.show_user(self.world.user(params[-1]))
            case "NAMES":
                client.show_channel(self.world.channel(param(0)))
            case "CHATHISTORY" if "draft/chathistory" in client.capabilities:
                self._show_past(client, user, param(0), param(1), param(2), param(3))
            case "WHO":
                client.answer("315", param(0), "End of /WHO list.")
            case _:
                raise IrcRefusal("421", command, "Unknown command")
        return False

    async def _message(
        self, client: SimulatedIrcClient, user: SimulatedIrcUser, command: str, target: str, content: str,
        tags: dict[str, str],
    ) -> bool:  # fmt: skip
        """Passes on a message of a client. Returns true if the connection is cut."""

        async def show() -> SentIrcMessage:
            check_target(target)
            if command != "TAGMSG" and not content:
                raise IrcRefusal("412", "No text to send")
            if is_channel(target):
                self._check_may_write(user, self.world.channel(target))
            else:
                self.world.user(target)
            passed = {name: each for name, each in tags.items() if name.startswith("+")}
            message = SentIrcMessage(content, user.nick, target, self.world.message_id(), passed, tags.get("label", ""))
            {"PRIVMSG": self.world.sent, "NOTICE": self.world.notices}.get(command, self.world.tagged).append(message)
            return message

        outcome = await self.perform(command, show, IrcRefusal)
        if outcome.refusal is not None:
            numeric, params = outcome.refusal.numeric, outcome.refusal.params
            raise IrcRefusal(numeric, *(target if each == "*" else each for each in params))
        if outcome.cuts:
            client.writer.transport.abort()
            self._forget(client)
            return True
        client.withholds_pong = not outcome.answers
        if outcome.result is not None:
            self._pass_on(user, command, outcome.result)
            client.echo(outcome.result, command)
        return False

    def _pass_on(self, sender: SimulatedIrcUser, command: str, message: SentIrcMessage) -> None:
        """Sends a message to the connected clients that it is for."""
        if command == "PRIVMSG" and is_channel(message.target):
            self.past.append(PastIrcMessage(server_time(), sender, message))
        for client in self.clients:
            is_for = (
                client.user is not None and client.user is not sender and self._reaches(client.user, message.target)
            )
            tags = {**message.tags, "msgid": message.message_id}
            if is_for and command != "TAGMSG":
                client.tell_message(sender, command, message.target, message.content, tags)
            elif is_for and "message-tags" in client.capabilities:
                client.tell(sender, command, message.target, tags=tags)

    def _show_past(
        self, client: SimulatedIrcClient, user: SimulatedIrcUser, order: str, target: str, since: str, limit: str
    ) -> None:
        kind, _, value = since.partition("=")
        channel = self._own_channel(user, target)
        past = [each for each in self.past if fold(each.message.target) == fold(channel.name)]
        ids = [each.message.message_id for each in past]
        is_known = kind == "timestamp" or (kind == "msgid" and value in ids)
        if order != "AFTER" or not is_known or not limit.isdecimal() or int(limit) > self.past_limit:
            client.raw(f"FAIL CHATHISTORY INVALID_PARAMS {order} :Invalid parameters")
            return
        found = [each for each in past if each.time > value] if kind == "timestamp" else past[ids.index(value) + 1 :]
        client.show_past(channel.name, found[: int(limit)])

    def _reaches(self, user: SimulatedIrcUser, target: str) -> bool:
        if is_channel(target):
            channel = self.world.channels.get(fold(target))
            return channel is not None and fold(user.nick) in channel.members
        return fold(user.nick) == fold(target)

    def _check_may_write(self, user: SimulatedIrcUser, channel: SimulatedIrcChannel) -> None:
        modes = channel.members.get(fold(user.nick))
        if modes is None or (channel.is_moderated and not modes) or channel.bans_user(user):
            raise IrcRefusal("404", channel.name, "Cannot send to channel")

    def _join(self, client: SimulatedIrcClient, user: SimulatedIrcUser, name: str, key: str) -> None:
        if not is_channel(name):
            raise IrcRefusal("403", name, "No such channel")
        channel = self.world.channels.setdefault(fold(name), SimulatedIrcChannel(name))
        if fold(user.nick) in channel.members:
            return
        if channel.bans_user(user):
            raise IrcRefusal("474", channel.name, "Cannot join channel (+b)")
        if channel.is_invite_only:
            raise IrcRefusal("473", channel.name, "Cannot join channel (+i)")
        if channel.key and channel.key != key:
            raise IrcRefusal("475", channel.name, "Cannot join channel (+k)")
        channel.members[fold(user.nick)] = set() if channel.members else {"o"}
        self.announce_join(channel, user)
        client.show_channel(channel)

    def _own_channel(self, user: SimulatedIrcUser, name: str) -> SimulatedIrcChannel:
        channel = self.world.channel(name)
        if fold(user.nick) not in channel.members:
            raise IrcRefusal("442", channel.name, "You're not on that channel")
        return channel

    def _operated(self, user: SimulatedIrcUser, name: str) -> SimulatedIrcChannel:
        channel = self._own_channel(user, name)
        if not channel.members[fold(user.nick)] & {"q", "a", "o"}:
            raise IrcRefusal("482", channel.name, "You're not channel operator")
        return channel

    def _mode(self, user: SimulatedIrcUser, params: list[str]) -> None:
        if len(params) < 3 or not is_channel(params[0]):
            return
        channel = self._operated(user, params[0])
        change, mask = params[1], params[2]
        if change not in ("+b", "-b"):
            raise IrcRefusal("472", change, "is unknown mode char to me")
        (channel.bans.add if change == "+b" else channel.bans.discard)(mask)
        self._tell_channel(channel, user, "MODE", channel.name, change, mask)

    # --- what clients see

    def _tell_channel(self, channel: SimulatedIrcChannel, source: SimulatedIrcUser, command: str, *params: str) -> None:
        for client in self.clients:
            if client.user is not None and fold(client.user.nick) in channel.members:
                client.tell(source, command, *params)

    def announce_join(self, channel: SimulatedIrcChannel, user: SimulatedIrcUser) -> None:
        for client in self.clients:
            if client.user is not None and fold(client.user.nick) in channel.members:
                extended = (user.account or "*", user.nick) if "extended-join" in client.capabilities else ()
                client.tell(user, "JOIN", channel.name, *extended)

    def rename(self, user: SimulatedIrcUser, nick: str) -> None:
        for client in self.clients:
            if client.user is not None:
                client.tell(user, "NICK", nick)
        self.world.users[fold(nick)] = self.world.users.pop(fold(user.nick))
        for channel in self.world.channels.values():
            if (modes := channel.members.pop(fold(user.nick), None)) is not None:
                channel.members[fold(nick)] = modes
        user.nick = nick

    def client(self, nick: str) -> SimulatedIrcClient | None:
        """Returns the connection of a client that is registered under this nick."""
        return next((each for each in self.clients if each.user and fold(each.user.nick) == fold(nick)), None)

    # --- what users do

    async def say(
        self, text: str, user: SimulatedIrcUser, target: str, command: str = "PRIVMSG", **tags: str
    ) -> SentIrcMessage:
        """Lets a user who is not a client write to a client or a channel."""
        message = SentIrcMessage(text, user.nick, target, self.world.message_id(), dict(tags))
        self._pass_on(user, command, message)
        await self._flush()
        return message

    async def quit(self, user: SimulatedIrcUser) -> None:
        for client in self.clients:
            client.tell(user, "QUIT", "Quit: bye")
        for channel in self.world.channels.values():
            channel.members.pop(fold(user.nick), None)
        self.world.users.pop(fold(user.nick), None)
        await self._flush()

    async def invite(self, user: SimulatedIrcUser, nick: str, channel: str) -> None:
        client = self.client(nick)
        assert client is not None
        client.tell(user, "INVITE", nick, channel)
        await self._flush()

    async def deliver(self, line: str, nick: str) -> None:
        """Sends a line to a client unchanged."""
        client = self.client(nick)
        assert client is not None
        self.last_line = line
        client.raw(line)
        await self._flush()

    async def _flush(self) -> None:
        for client in list(self.clients):
            if not client.writer.is_closing():
                await client.writer.drain()
        await self.notify()
