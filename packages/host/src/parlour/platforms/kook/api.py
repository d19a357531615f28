"""Implements the platform API on KOOK. Methods that are not overridden are not supported by KOOK."""

from collections.abc import Sequence
from typing import Any

from parlour.core.platforms.api import IsKnownMessage, PlatformApi
from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.ids import short_key
from parlour.platforms._kit.outgoing_files import Fetch, OutgoingFile
from parlour.platforms._kit.partial_sends import PartialSends
from parlour.platforms._kit.payloads import Payload, number, object_in, objects_in, text
from parlour_sdk.protocol.chain import MessageChain, Source
from parlour_sdk.protocol.people import ChatType, Group, GroupMember, User
from parlour_sdk.protocol.platform_api import MessageResult, NotSupportedError, PlatformMessage, UploadedFile

from . import entities
from .client import KookClient, KookRefused
from .decode import CARD, KMARKDOWN, chain_of
from .encode import KookMessage, encode
from .entities import KookAccount
from .guilds import KookGuilds

NONCE_LENGTH = 32
HIDDEN = "hidden"


class KookApi(PlatformApi):
    """Platform API of one KOOK bot."""

    def __init__(self, client: KookClient, guilds: KookGuilds, fetch: Fetch) -> None:
        self._client = client
        self._guilds = guilds
        self._fetch = fetch
        self._sends = PartialSends("KOOK")
        self.account = KookAccount("")

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
        messages, quote = await encode(chain, self._fetch)

        async def send(place: int, message: KookMessage) -> str:
            content = await self._client.upload(message.file) if message.file is not None else message.payload()
            answer = await self._client.post(
                _path(target_type, "create"),
                type=message.kind,
                target_id=target_id,
                content=content,
                quote=quote if quote and not place else None,
                nonce=_nonce(idempotency_key, place) if idempotency_key else None,
            )
            return text(answer, "msg_id")

        return await self._sends.send_all(idempotency_key, messages, send)

    async def find_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str,
        is_known: IsKnownMessage,
        thread_id: str = "",
    ) -> MessageResult | None:
        """Looks up a message by its nonce among the latest messages of the chat."""
        try:
            answer = await self._client.get(_path(target_type, "list"), target_id=target_id, page_size=50)
        except KookRefused:
            return None
        wanted = _nonce(idempotency_key, 0)
        found = [each for each in objects_in(answer, "items") if each.get("nonce") == wanted]
        return MessageResult(message_id=text(found[0], "id")) if found else None

    async def edit_message(
        self, chat_type: ChatType, chat_id: str, message_id: str, chain: MessageChain
    ) -> MessageResult:
        """Edits a message. KOOK keeps its kind: a text stays a text, and a card a card."""
        messages, _ = await encode(chain, self._fetch)
        if len(messages) != 1 or messages[0].kind not in (KMARKDOWN, CARD):
            raise PlatformRefused("a message can only be edited into one text or one card", permanent=True)
        content = messages[0].payload()
        try:
            await self._client.post(_path(chat_type, "update"), msg_id=message_id, content=content)
        except KookRefused as refused:
            if messages[0].kind != KMARKDOWN or refused.code == 40400:
                raise
            card = KookMessage(CARD, cards=[_text_card(content)])  # the message has buttons, so it is a card
            await self._client.post(_path(chat_type, "update"), msg_id=message_id, content=card.payload())
        return MessageResult(message_id=message_id)

    async def delete_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> None:
        await self._client.post(_path(chat_type, "delete"), msg_id=message_id)

    async def get_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> PlatformMessage:
        if chat_type == "private":
            raise NotSupportedError("get_message")
        message = await self._client.get("message/view", msg_id=message_id)
        author = object_in(message, "author")
        sent_at = number(message.get("create_at"))
        return PlatformMessage(
            message_id=message_id,
            chat_type=chat_type,
            chat_id=chat_id,
            sender=entities.user(author) if author else None,
            time=sent_at,
            chain=[Source(id=message_id, time=sent_at), *chain_of(message, self.account)],
        )

    async def react(self, chat_type: ChatType, chat_id: str, message_id: str, reaction: str, add: bool = True) -> None:
        await self._client.post(
            _path(chat_type, "add-reaction" if add else "delete-reaction"), msg_id=message_id, emoji=reaction
        )

    # --- channels, servers and users

    async def get_group_info(self, group_id: str) -> Group:
        """Returns a channel or, under the id of a server, that server."""
        try:
            return entities.channel_group(await self._client.get("channel/view", target_id=group_id))
        except KookRefused:
            return entities.guild_group(await self._client.get("guild/view", guild_id=group_id))

    async def get_group_list(self) -> Sequence[Group]:
        """Returns the servers that the bot is in."""
        return [entities.guild_group(each) async for each in self._client.pages("guild/list")]

    async def get_group_member_list(self, group_id: str) -> Sequence[GroupMember]:
        guild_id = await self._guilds.guild_id(group_id)
        guild = await self._guilds.find(guild_id)
        pages = self._client.pages("guild/user-list", guild_id=guild_id)
        return [entities.member(each, guild_id, guild) async for each in pages]

    async def get_group_member_info(self, group_id: str, user_id: str) -> GroupMember:
        guild_id = await self._guilds.guild_id(group_id)
        member = await self._client.get("user/view", user_id=user_id, guild_id=guild_id)
        return entities.member(member, guild_id, await self._guilds.find(guild_id))

    async def set_group_name(self, group_id: str, name: str) -> None:
        """Renames a channel. KOOK lets bots rename no servers."""
        await self._client.post("channel/update", channel_id=group_id, name=name)

    async def kick_member(self, group_id: str, user_id: str) -> None:
        await self._client.post("guild/kickout", guild_id=await self._guilds.guild_id(group_id), target_id=user_id)

    async def leave_group(self, group_id: str) -> None:
        await self._client.post("guild/leave", guild_id=await self._guilds.guild_id(group_id))

    async def get_user_info(self, user_id: str) -> User:
        return entities.user(await self._client.get("user/view", user_id=user_id))

    async def upload_file(self, data: bytes, filename: str) -> UploadedFile:
        """Uploads a file. Messages of KOOK show files by this address only."""
        file = OutgoingFile(data, filename, "application/octet-stream")
        return UploadedFile(url=await self._client.upload(file))

    async def call_platform_api(self, action: str, params: dict[str, Any]) -> Any:
        match action:
            case "get_current_user":
                return await self._client.get("user/me")
            case "get_user":
                guild = {"guild_id": str(params["guild_id"])} if "guild_id" in params else {}
                return await self._client.get("user/view", user_id=str(params["user_id"]), **guild)
            case "get_channel":
                return await self._client.get("channel/view", target_id=str(params["channel_id"]))
            case "get_guild":
                return await self._client.get("guild/view", guild_id=str(params["guild_id"]))
            case "get_gateway":
                answer = await self._client.get("gateway/index", compress=0)
                return {"url": f"{text(answer, 'url').partition('?')[0]}?token={HIDDEN}"}
            case "send_direct_message":
                content = {"target_id": str(params["user_id"]), "content": str(params["content"])}
                return await self._client.post("direct-message/create", type=KMARKDOWN, **content)
        raise NotSupportedError(f"the action {action}")


def _path(chat_type: str, call: str) -> str:
    return f"{'direct-message' if chat_type == 'private' else 'message'}/{call}"


def _nonce(key: str, place: int) -> str:
    return short_key(f"{key}:{place}", NONCE_LENGTH)


def _text_card(content: str) -> Payload:
    section = {"type": "section", "text": {"type": "kmarkdown", "content": content}}
    return {"type": "card", "theme": "secondary", "size": "lg", "modules": [section]}
