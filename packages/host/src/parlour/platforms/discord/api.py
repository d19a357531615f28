"""Implements the platform API on Discord. Methods that are not overridden are not supported by Discord's API."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from parlour.core.platforms.api import IsKnownMessage, PlatformApi
from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.ids import short_key
from parlour.platforms._kit.outgoing_files import Fetch
from parlour.platforms._kit.partial_sends import PartialSends
from parlour.platforms._kit.payloads import Payload, identifier, object_in, text
from parlour_sdk.protocol.chain import MessageChain, Source
from parlour_sdk.protocol.people import ChatType, Group, GroupMember, User
from parlour_sdk.protocol.platform_api import MessageResult, PlatformMessage

from . import entities
from .actions import run_action
from .client import UNKNOWN_CHANNEL, DiscordClient, DiscordRefused
from .content import DiscordContentReader
from .encode import DiscordMessage, encode
from .entities import message_place, snowflake, snowflake_milliseconds
from .gateway import DiscordGateway
from .guilds import DiscordGuilds, role_ids
from .lookups import DiscordLookups

NONCE_LENGTH = 25
MAX_TIMEOUT = timedelta(days=28)
"""The longest time for which Discord lets a member be muted; a mute for good lasts as long."""
PAGE_SIZE, MAX_PAGES = 1000, 100
GUILD_PAGE_SIZE = 200
SEARCHED_MESSAGES = 50
FORWARD = 1


class DiscordApi(PlatformApi):
    """Platform API of one Discord bot."""

    def __init__(
        self,
        client: DiscordClient,
        guilds: DiscordGuilds,
        lookups: DiscordLookups,
        gateway: DiscordGateway,
        fetch: Fetch,
    ) -> None:
        self._client = client
        self._guilds = guilds
        self._lookups = lookups
        self._gateway = gateway
        self._fetch = fetch
        self._sends = PartialSends("Discord")

    # --- messages

    async def send_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Sends a chain as one or more messages. The result has the id of the first one; `raw` has all ids."""
        messages = await encode(chain, self._fetch)
        target = (target_type, target_id, thread_id)

        async def send(number: int, message: DiscordMessage) -> str:
            nonce = {"nonce": short_key(f"{idempotency_key}:{number}", NONCE_LENGTH), "enforce_nonce": True}
            return await self._send(target, {**message.body(), **(nonce if idempotency_key else {})}, message)

        return await self._sends.send_all(idempotency_key, messages, send)

    async def _send(
        self, target: tuple[ChatType, str, str], body: Payload, message: DiscordMessage | None = None
    ) -> str:
        """Sends one message. A private target may be a user, whose channel is opened then."""
        target_type, target_id, thread_id = target
        channel_id = self._lookups.channel_for(target_type, target_id, thread_id)
        files = message.files if message is not None else ()
        try:
            sent = await self._client.call_object("POST", f"/channels/{channel_id}/messages", body, files=files)
        except DiscordRefused as refused:
            if refused.code != UNKNOWN_CHANNEL or target_type != "private" or channel_id != target_id:
                raise
            channel_id = await self._lookups.open_direct(target_id)
            if not channel_id:
                raise
            sent = await self._client.call_object("POST", f"/channels/{channel_id}/messages", body, files=files)
        return entities.message_id(channel_id, text(sent, "id"), thread_id)

    async def find_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str,
        is_known: IsKnownMessage,
        thread_id: str = "",
    ) -> MessageResult | None:
        """Searches the latest messages, since Discord recognizes a nonce for some minutes only."""
        messages = await encode(chain, self._fetch)
        if len(messages) != 1 or messages[0].files or messages[0].embeds or messages[0].stickers:
            return None
        channel_id = self._lookups.channel_for(target_type, target_id, thread_id)
        try:
            latest = await self._client.call_list(f"/channels/{channel_id}/messages", limit=SEARCHED_MESSAGES)
        except DiscordRefused:
            return None
        for each in latest:
            is_own = text(object_in(each, "author"), "id") == self._gateway.account.id
            if is_own and text(each, "content") == messages[0].text.strip():
                message_id = entities.message_id(channel_id, text(each, "id"), thread_id)
                if not await is_known(message_id):
                    return MessageResult(message_id=message_id)
        return None

    async def edit_message(
        self, chat_type: ChatType, chat_id: str, message_id: str, chain: MessageChain
    ) -> MessageResult:
        messages = await encode(chain, self._fetch)
        if len(messages) != 1 or messages[0].files:
            raise PlatformRefused("a message can only be edited into one without files", permanent=True)
        body = {"embeds": [], "components": [], **messages[0].body()}
        body.pop("message_reference", None)
        await self._client.call("PATCH", self._message_path(chat_id, message_id), body)
        return MessageResult(message_id=message_id)

    async def delete_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> None:
        await self._client.call("DELETE", self._message_path(chat_id, message_id))

    async def forward_message(
        self, from_chat_type: ChatType, from_chat_id: str, message_id: str, to_chat_type: ChatType, to_chat_id: str
    ) -> MessageResult:
        channel_id, native_id = message_place(from_chat_id, message_id)
        reference = {"type": FORWARD, "channel_id": channel_id, "message_id": native_id}
        return MessageResult(
            message_id=await self._send((to_chat_type, to_chat_id, ""), {"message_reference": reference})
        )

    async def get_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> PlatformMessage:
        message = await self._client.call_object("GET", self._message_path(chat_id, message_id))
        channel_id, native_id = message_place(chat_id, message_id)
        reader = DiscordContentReader(self._gateway.account, self._guilds)
        sent_at = snowflake_milliseconds(native_id)
        return PlatformMessage(
            message_id=message_id,
            chat_type=chat_type,
            chat_id=chat_id,
            sender=entities.user(object_in(message, "author"), is_bot=bool(message.get("webhook_id"))),
            time=sent_at,
            chain=[Source(id=message_id, time=sent_at), *reader.chain({**message, "channel_id": channel_id})],
        )

    async def react(self, chat_type: ChatType, chat_id: str, message_id: str, reaction: str, add: bool = True) -> None:
        path = f"{self._message_path(chat_id, message_id)}/reactions/{quote(reaction, safe=':')}/@me"
        await self._client.call("PUT" if add else "DELETE", path)

    async def send_typing(self, chat_type: ChatType, chat_id: str, thread_id: str = "") -> None:
        await self._client.call("POST", f"/channels/{self._lookups.channel_for(chat_type, chat_id, thread_id)}/typing")

    def _message_path(self, chat_id: str, message_id: str) -> str:
        channel_id, native_id = message_place(chat_id, message_id)
        return f"/channels/{channel_id}/messages/{native_id}"

    # --- servers and channels

    async def get_group_info(self, group_id: str) -> Group:
        """Returns a server or, under the id of a channel, that channel."""
        guild_id = await self._lookups.guild_id(group_id)
        if guild_id != group_id:
            return entities.channel_group(await self._client.call_object("GET", f"/channels/{group_id}"))
        return entities.guild_group(await self._guild(guild_id, with_counts="true"))

    async def get_group_list(self) -> Sequence[Group]:
        groups: list[Group] = []
        for _ in range(MAX_PAGES):
            after = {"after": groups[-1].id} if groups else {}
            page = await self._client.call_list("/users/@me/guilds", limit=GUILD_PAGE_SIZE, **after)
            groups += [entities.guild_group(each) for each in page]
            if len(page) < GUILD_PAGE_SIZE:
                break
        return groups

    async def get_group_member_list(self, group_id: str) -> Sequence[GroupMember]:
        """Returns all members of a server, which needs the intent for members."""
        guild_id = await self._lookups.guild_id(group_id)
        await self._guild(guild_id)
        members: list[GroupMember] = []
        for _ in range(MAX_PAGES):
            after = {"after": members[-1].user.id} if members else {}
            page = await self._client.call_list(f"/guilds/{guild_id}/members", limit=PAGE_SIZE, **after)
            members += [self._member(each, guild_id) for each in page]
            if len(page) < PAGE_SIZE:
                break
        return members

    async def get_group_member_info(self, group_id: str, user_id: str) -> GroupMember:
        guild_id = await self._lookups.guild_id(group_id)
        if self._guilds.guild(guild_id) is None:
            await self._guild(guild_id)
        path = f"/guilds/{guild_id}/members/{snowflake('user_id', user_id)}"
        return self._member(await self._client.call_object("GET", path), guild_id)

    async def set_group_name(self, group_id: str, name: str) -> None:
        """Renames a server or, under the id of a channel, that channel."""
        guild_id = await self._lookups.guild_id(group_id)
        kind = "guilds" if guild_id == group_id else "channels"
        await self._client.call("PATCH", f"/{kind}/{group_id}", {"name": name})

    async def mute_member(self, group_id: str, user_id: str, duration: int = 0) -> None:
        """Mutes a member. Discord has no mute for good: 0 or more than 28 days are 28 days."""
        time = min(timedelta(seconds=duration), MAX_TIMEOUT) if duration else MAX_TIMEOUT
        await self._timeout(group_id, user_id, (datetime.now(UTC) + time).isoformat(timespec="seconds"))

    async def unmute_member(self, group_id: str, user_id: str) -> None:
        await self._timeout(group_id, user_id, None)

    async def kick_member(self, group_id: str, user_id: str) -> None:
        guild_id = await self._lookups.guild_id(group_id)
        await self._client.call("DELETE", f"/guilds/{guild_id}/members/{snowflake('user_id', user_id)}")

    async def leave_group(self, group_id: str) -> None:
        await self._client.call("DELETE", f"/users/@me/guilds/{await self._lookups.guild_id(group_id)}")

    async def is_muted(self, group_id: str) -> bool:
        guild_id = await self._lookups.guild_id(group_id)
        path = f"/guilds/{guild_id}/members/{self._gateway.account.id}"
        until = text(await self._client.call_object("GET", path), "communication_disabled_until")
        return bool(until) and datetime.fromisoformat(until) > datetime.now(UTC)

    async def get_user_info(self, user_id: str) -> User:
        return entities.user(await self._client.call_object("GET", f"/users/{snowflake('user_id', user_id)}"))

    async def call_platform_api(self, action: str, params: dict[str, Any]) -> Any:
        return await run_action(action, params, self._client, self._guilds, self._gateway)

    async def _timeout(self, group_id: str, user_id: str, until: str | None) -> None:
        path = f"/guilds/{await self._lookups.guild_id(group_id)}/members/{snowflake('user_id', user_id)}"
        await self._client.call("PATCH", path, {"communication_disabled_until": until})

    async def _guild(self, guild_id: str, **query: str) -> Payload:
        """Asks for a server and remembers its roles."""
        guild = await self._client.call_object("GET", f"/guilds/{snowflake('group_id', guild_id)}", query=query)
        self._guilds.add_guild(guild)
        return guild

    def _member(self, payload: Payload, guild_id: str) -> GroupMember:
        user_id = identifier(object_in(payload, "user").get("id"))
        role = self._guilds.role_of(guild_id, user_id, role_ids(payload)) or "member"
        return entities.member(payload, guild_id, role)
