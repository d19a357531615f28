"""Implements the platform API on Lark. Methods that are not overridden are not supported by Lark."""

import base64
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from parlour.core.platforms.api import PlatformApi, PlatformStream
from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.outgoing_files import Fetch
from parlour.platforms._kit.partial_sends import PartialSends
from parlour.platforms._kit.payloads import Payload, object_in, objects_in, text
from parlour_sdk.protocol.chain import MessageChain, Source
from parlour_sdk.protocol.people import ChatType, Group, GroupMember, User
from parlour_sdk.protocol.platform_api import MessageResult, NotSupportedError, PlatformMessage

from . import entities
from .cards import LarkCardStream, LarkSender, LarkTarget, card_of_message, id_type
from .client import LarkClient
from .content import decode_chain, quote_of
from .encode import CARD, POST, TEXT, LarkMessage, card, card_text, encode, feedback_buttons
from .entities import emoji_name, time_milliseconds
from .event_processor import LarkTenant

FEEDBACK_LABELS = ("👍", "👎")


class LarkApi(PlatformApi):
    """Platform API of one Lark bot in one tenant."""

    def __init__(
        self, client: LarkClient, tenant: LarkTenant, fetch: Fetch, mode: str, asks_for_feedback: bool = False
    ) -> None:
        self._app = client
        self._client = tenant.client
        self._directory = tenant.directory
        self._sender = LarkSender(tenant.client)
        self._fetch = fetch
        self._mode = mode
        self._final_elements = feedback_buttons(FEEDBACK_LABELS) if asks_for_feedback else []
        self._sends = PartialSends("Lark")

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
        messages, quoted = await encode(chain, self._fetch)

        async def send(place: int, message: LarkMessage) -> str:
            target = _target(target_id, thread_id, "" if place else quoted)
            return text(await self._sender.send(target, message, idempotency_key, place), "message_id")

        return await self._sends.send_all(idempotency_key, messages, send)

    def streams(self, target_type: ChatType) -> bool:
        return True

    async def open_stream(
        self, target_type: ChatType, target_id: str, idempotency_key: str, thread_id: str = ""
    ) -> PlatformStream:
        async def send_rest(chain: MessageChain, key: str) -> MessageResult:
            return await self.send_message(target_type, target_id, chain, key, thread_id)

        target = _target(target_id, thread_id, "")
        return LarkCardStream(self._client, self._sender, target, idempotency_key, send_rest, self._final_elements)

    async def edit_message(
        self, chat_type: ChatType, chat_id: str, message_id: str, chain: MessageChain
    ) -> MessageResult:
        """Edits a message. Lark keeps its kind: a text stays a text, and a card a card."""
        messages, _ = await encode(chain, self._fetch)
        if len(messages) != 1 or messages[0].kind not in (TEXT, POST, CARD):
            raise PlatformRefused("a message can only be edited into one text or one card", permanent=True)
        [message] = messages
        kind, found = self._sender.kinds.get(message_id), dict[str, Any]()
        if kind is None or kind == CARD:
            found = await self._directory.message(message_id)
            kind = text(found, "msg_type")
        path = f"im/v1/messages/{quote(message_id, safe='')}"
        if kind != CARD:
            if message.kind == CARD:
                raise PlatformRefused("Lark can't turn a text into a card", permanent=True)
            await self._client.call("PUT", path, {"msg_type": message.kind, "content": message.payload()})
        elif "card_id" in text(object_in(found, "body"), "content"):
            await self._replace_card(found, message, chain)
        else:
            content = message if message.kind == CARD else LarkMessage(CARD, card(card_text(message.components)))
            await self._client.call("PATCH", path, {"content": content.payload()})
        return MessageResult(message_id=message_id)

    async def _replace_card(self, found: Payload, message: LarkMessage, chain: MessageChain) -> None:
        """Replaces a card that streamed, which an earlier process may have left unfinished."""
        entity = await card_of_message(self._client, found)
        await entity.set_streaming(False)
        content = message.content if message.kind == CARD else card(card_text(message.components), self._final_elements)
        await entity.replace(content)

    async def delete_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> None:
        await self._client.call("DELETE", f"im/v1/messages/{quote(message_id, safe='')}")

    async def forward_message(
        self, from_chat_type: ChatType, from_chat_id: str, message_id: str, to_chat_type: ChatType, to_chat_id: str
    ) -> MessageResult:
        path = f"im/v1/messages/{quote(message_id, safe='')}/forward"
        query: dict[str, str | int] = {"receive_id_type": id_type(to_chat_id)}
        answer = await self._client.call("POST", path, {"receive_id": to_chat_id}, query=query)
        return MessageResult(message_id=text(object_in(answer, "data"), "message_id") or None)

    async def get_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> PlatformMessage:
        message = await self._directory.message(message_id)
        author = object_in(message, "sender")
        sent_at = time_milliseconds(message.get("create_time"))
        user_id = text(author, "id")
        return PlatformMessage(
            message_id=message_id,
            chat_type=chat_type,
            chat_id=chat_id,
            sender=entities.user(user_id, {}) if user_id and author.get("sender_type") == "user" else None,
            time=sent_at,
            chain=[Source(id=message_id, time=sent_at), *quote_of(message), *decode_chain(message)],
        )

    async def react(self, chat_type: ChatType, chat_id: str, message_id: str, reaction: str, add: bool = True) -> None:
        path, name = f"im/v1/messages/{quote(message_id, safe='')}/reactions", emoji_name(reaction)
        if add:
            await self._client.call("POST", path, {"reaction_type": {"emoji_type": name}})
            return
        async for each in self._client.pages(path, reaction_type=name):
            if text(object_in(each, "operator"), "operator_type") == "app":
                await self._client.call("DELETE", f"{path}/{quote(text(each, 'reaction_id'), safe='')}")
                return

    # --- groups and users

    async def get_group_info(self, group_id: str) -> Group:
        path = f"im/v1/chats/{quote(group_id, safe='')}"
        return entities.group(group_id, await self._client.get(path, user_id_type="open_id"))

    async def get_group_list(self) -> Sequence[Group]:
        """Returns the groups that the bot is in."""
        pages = self._client.pages("im/v1/chats", user_id_type="open_id")
        return [entities.group(text(each, "chat_id"), each) async for each in pages]

    async def get_group_member_list(self, group_id: str) -> Sequence[GroupMember]:
        owner = (await self.get_group_info(group_id)).owner_id
        pages = self._client.pages(f"im/v1/chats/{quote(group_id, safe='')}/members", member_id_type="open_id")
        return [
            GroupMember(
                user=User(id=text(each, "member_id"), nickname=text(each, "name")),
                group_id=group_id,
                role="owner" if text(each, "member_id") == owner else "member",
            )
            async for each in pages
        ]

    async def get_group_member_info(self, group_id: str, user_id: str) -> GroupMember:
        for each in await self.get_group_member_list(group_id):
            if each.user.id == user_id:
                return each
        raise PlatformRefused("this person is not in the group", permanent=True)

    async def set_group_name(self, group_id: str, name: str) -> None:
        await self._client.call("PUT", f"im/v1/chats/{quote(group_id, safe='')}", {"name": name})

    async def kick_member(self, group_id: str, user_id: str) -> None:
        await self._remove(group_id, user_id, "open_id")

    async def leave_group(self, group_id: str) -> None:
        await self._remove(group_id, self._app.app_id, "app_id")

    async def _remove(self, group_id: str, member_id: str, kind: str) -> None:
        path = f"im/v1/chats/{quote(group_id, safe='')}/members"
        query: dict[str, str | int] = {"member_id_type": kind}
        answer = await self._client.call("DELETE", path, {"id_list": [member_id]}, query=query)
        if object_in(answer, "data").get("invalid_id_list"):
            raise PlatformRefused("this person is not in the group", permanent=True)

    async def get_user_info(self, user_id: str) -> User:
        return entities.user(user_id, await self._directory.get_profile(user_id))

    # --- actions

    async def call_platform_api(self, action: str, params: dict[str, Any]) -> Any:
        match action:
            case "get_mode":
                return {"mode": self._mode, "open_id": (await self._directory.account()).open_id}
            case "check_tenant_access_token":
                return {"valid": await self._client.check_token()}
            case "refresh_tenant_access_token":
                await self._client.refresh()
                return {"refreshed": True}
            case "get_chat":
                return await self._client.get(f"im/v1/chats/{quote(str(params['chat_id']), safe='')}")
            case "get_message":
                return {
                    "items": objects_in({"items": await self._directory.messages(str(params["message_id"]))}, "items")
                }
            case "get_message_resource":
                message_id, key = (quote(str(params[name]), safe="") for name in ("message_id", "file_key"))
                data = await self._client.resource(message_id, key, str(params["type"]))
                return {"base64": base64.b64encode(data).decode()}
        raise NotSupportedError(f"the action {action}")


def _target(chat_id: str, thread_id: str, quoted: str) -> LarkTarget:
    """Returns where a message goes. A thread is named by the message that began it."""
    return LarkTarget(chat_id, quoted or thread_id, bool(thread_id))
