"""Implements the platform API on IRC. Methods that are not overridden are not supported by IRC."""

from collections.abc import Sequence
from secrets import token_hex
from typing import Any

from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.port import PlatformOffline, PlatformRefused
from parlour.platforms._kit.ids import short_key
from parlour.platforms._kit.partial_sends import PartialSends
from parlour.platforms._kit.unreachable import OFFLINE_RETRY_SECONDS
from parlour_sdk.protocol.chain import MessageChain
from parlour_sdk.protocol.people import ChatType, Group, GroupMember, User
from parlour_sdk.protocol.platform_api import MessageResult, NotSupportedError

from .batches import MULTILINE
from .connected_session import ConnectedSession
from .encode import IrcEncoder, IrcText
from .lines import MAX_LINE_BYTES, IrcLine, format_line
from .server_state import IrcChannel, IrcUser, MultilineLimits
from .session import LABEL, IrcSession

CHUNK_LINES = 8
"""Lines of a message that are sent before the server is asked whether it took them."""
MESSAGE_SECONDS = 24.0
"""Seconds that the lines of a message may take; the lines of a longer one are joined."""
ALL_LINES = 10_000


class IrcApi(PlatformApi):
    """Platform API of one bot."""

    def __init__(self, connected: ConnectedSession, encoder: IrcEncoder, line_interval: float) -> None:
        self._connected = connected
        self._encoder = encoder
        self._max_lines = int(MESSAGE_SECONDS / line_interval) if line_interval else ALL_LINES
        self._sends = PartialSends("IRC")

    # --- messages

    async def send_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Sends a chain line by line. Lines that the server took are not sent again by another attempt."""
        session = self._session
        target = await self._target(target_type, target_id)
        lines, quoted = await self._encoder.encode(chain, target, session.state, self._max_lines)
        chunks = _chunks(lines, session.state.multiline)
        key = short_key(idempotency_key or token_hex(16), 24)

        async def send(number: int, chunk: list[IrcText]) -> str:
            tags = {"+draft/reply": quoted} if quoted and number == 0 and session.has_tags else {}
            return await self._send_lines(session, target, chunk, f"{key}.{number}", tags)

        return await self._sends.send_all(idempotency_key, chunks, send)

    async def _send_lines(
        self, session: IrcSession, target: str, chunk: Sequence[IrcText], key: str, tags: dict[str, str]
    ) -> str:
        """Sends lines and returns the id of the first one: the server's own if it names one."""
        has_labels = {"labeled-response", "echo-message"} <= session.state.capabilities
        if len(chunk) > 1 and session.state.multiline and not any(each.is_action for each in chunk):
            return await self._send_multiline(session, target, chunk, key, tags)
        lines = []
        for place, each in enumerate(chunk):
            shown = {**(tags if place == 0 else {}), **({LABEL: f"{key}.{place}"} if has_labels else {})}
            lines.append(format_line("PRIVMSG", target, each.content, tags=shown))
        return _message_id(await session.request(lines)) or key

    async def _send_multiline(
        self, session: IrcSession, target: str, chunk: Sequence[IrcText], key: str, tags: dict[str, str]
    ) -> str:
        """Sends lines as one message, which other clients with this capability show as such."""
        has_labels = {"labeled-response", "echo-message"} <= session.state.capabilities
        name = "".join(each for each in key if each.isalnum())
        opening = {**tags, **({LABEL: key} if has_labels else {})}
        lines = [format_line("BATCH", f"+{name}", MULTILINE, target, tags=opening)]
        lines += [format_line("PRIVMSG", target, each.content, tags={"batch": name}) for each in chunk]
        lines.append(format_line("BATCH", f"-{name}"))
        return _message_id(await session.request(lines)) or key

    async def react(self, chat_type: ChatType, chat_id: str, message_id: str, reaction: str, add: bool = True) -> None:
        if not add:
            raise PlatformRefused("a reaction on IRC can't be taken back", permanent=True)
        session = self._tagged()
        target = await self._target(chat_type, chat_id)
        tags = {"+draft/reply": message_id, "+draft/react": reaction}
        await session.request([format_line("TAGMSG", target, tags=tags)])

    async def send_typing(self, chat_type: ChatType, chat_id: str, thread_id: str = "") -> None:
        session = self._tagged()
        target = await self._target(chat_type, chat_id)
        await session.request([format_line("TAGMSG", target, tags={"+typing": "active"})])

    # --- channels

    async def get_group_info(self, group_id: str) -> Group:
        channel = self._channel(group_id)
        return self._group(channel)

    async def get_group_list(self) -> Sequence[Group]:
        return [self._group(each) for each in self._session.state.channels.values()]

    async def get_group_member_list(self, group_id: str) -> Sequence[GroupMember]:
        channel = self._channel(group_id)
        return [self._member(channel, nick) for nick in channel.members]

    async def get_group_member_info(self, group_id: str, user_id: str) -> GroupMember:
        channel, user = self._channel(group_id), await self._find(user_id)
        nick = self._session.state.fold(user.nick)
        if nick not in channel.members:
            raise PlatformRefused("the user is not in the channel", permanent=True)
        return self._member(channel, nick)

    async def kick_member(self, group_id: str, user_id: str) -> None:
        channel, user = self._channel(group_id), await self._find(user_id)
        await self._session.request([format_line("KICK", channel.name, user.nick)])

    async def leave_group(self, group_id: str) -> None:
        channel = self._channel(group_id)
        await self._session.request([format_line("PART", channel.name)])
        self._connected.joined.discard(channel.name)

    async def answer_group_invite(self, request_id: str, approve: bool) -> None:
        if approve:
            await self._connected.join(request_id)

    # --- users

    async def get_user_info(self, user_id: str) -> User:
        user = await self._find(user_id)
        return self._user(user)

    async def call_platform_api(self, action: str, params: dict[str, Any]) -> Any:
        session = self._session
        match action:
            case "join_channel":
                await self._connected.join(params["channel"], params.get("key", ""))
                return {"channel": session.state.fold(params["channel"])}
            case "set_topic":
                channel = self._channel(params["channel"])
                await session.request([format_line("TOPIC", channel.name, params["topic"])])
                return {}
            case "set_ban":
                channel = self._channel(params["channel"])
                change = "+b" if params.get("ban", True) else "-b"
                await session.request([format_line("MODE", channel.name, change, params["mask"])])
                return {}
            case "whois":
                user = await self._whois(params["nick"])
                return {"user_id": session.state.user_id(user), "nick": user.nick, "account": user.account,
                        "user": user.user, "host": user.host}  # fmt: skip
        raise NotSupportedError(f"the action {action}")

    # --- parts

    @property
    def _session(self) -> IrcSession:
        """The session of now. Raises PlatformOffline."""
        session = self._connected.session
        if session is None:
            raise PlatformOffline("the bot is not connected to the IRC server", retry_after=OFFLINE_RETRY_SECONDS)
        return session

    def _tagged(self) -> IrcSession:
        session = self._session
        if not session.has_tags:
            raise PlatformRefused("the IRC server passes on neither reactions nor typing", permanent=True)
        return session

    async def _target(self, chat_type: ChatType, chat_id: str) -> str:
        """Returns the name to which a message goes: a channel, or the nick of a user who is online."""
        if chat_type == "group":
            channel = self._session.state.channel(chat_id)
            return channel.name if channel is not None else chat_id
        return (await self._find(chat_id)).nick

    async def _find(self, user_id: str) -> IrcUser:
        """Returns a user with this id who is online. A nick alone proves nothing: someone else may have it by now."""
        session = self._session
        known = session.state.find_user(user_id)
        if known is not None and known.host:
            return known
        nick, separator, _ = user_id.partition("!")
        user = await self._whois(nick)
        has_accounts = "account-tag" in session.state.capabilities
        if session.state.user_id(user) != session.state.fold(user_id) and (separator or has_accounts):
            raise PlatformRefused("the user is not online, or has another nick now", permanent=True)
        return user

    async def _whois(self, nick: str) -> IrcUser:
        session = self._session
        replies = await session.request([format_line("WHOIS", nick)])
        user = IrcUser(nick)
        for each in replies:
            match each.command:
                case "311":
                    user.nick, user.user, user.host = each.param(1), each.param(2), each.param(3)
                case "330":
                    user.account = each.param(2)
                case "335":
                    user.is_bot = True
        if not user.host:
            raise PlatformRefused("there is no user or channel with this name", permanent=True)
        session.state.users.set(session.state.fold(user.nick), user)
        return user

    def _channel(self, group_id: str) -> IrcChannel:
        channel = self._session.state.channel(group_id)
        if channel is None:
            raise PlatformRefused("the bot is not in the channel; let it join first", permanent=True)
        return channel

    def _group(self, channel: IrcChannel) -> Group:
        return Group(
            id=self._session.state.fold(channel.name),
            name=channel.name,
            description=channel.topic or None,
            member_count=len(channel.members),
        )

    def _member(self, channel: IrcChannel, nick: str) -> GroupMember:
        state = self._session.state
        user = state.users.get(nick) or IrcUser(nick)
        return GroupMember(
            user=self._user(user), group_id=state.fold(channel.name), role=state.role(channel.name, nick)
        )

    def _user(self, user: IrcUser) -> User:
        user_id = self._session.state.user_id(user)
        return User(id=user_id, nickname=user.nick, username=user.account or None, is_bot=user.is_bot)


def _chunks(lines: list[IrcText], multiline: MultilineLimits | None) -> list[list[IrcText]]:
    """Divides the lines of a message into those that are sent before the server is asked whether it took them."""
    max_lines = multiline.lines if multiline is not None else CHUNK_LINES
    max_bytes = multiline.bytes if multiline is not None else CHUNK_LINES * MAX_LINE_BYTES
    chunks: list[list[IrcText]] = []
    size = 0
    for each in lines:
        length = len(each.content.encode()) + 1
        if not chunks or len(chunks[-1]) >= max_lines or size + length > max_bytes:
            chunks.append([])
            size = 0
        chunks[-1].append(each)
        size += length
    return chunks


def _message_id(replies: Sequence[IrcLine]) -> str:
    """Returns the server's id of the message that was sent; empty if it names none."""
    return next((each.tags["msgid"] for each in replies if each.command == "PRIVMSG" and each.tags.get("msgid")), "")
