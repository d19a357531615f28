"""Implements the platform API on Slack. Methods that are not overridden are not supported by Slack."""

from collections.abc import Callable, Sequence
from typing import Any

from parlour.core.platforms.api import IsKnownMessage, PlatformApi
from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.emoji_names import emoji_name
from parlour.platforms._kit.outgoing_files import Fetch
from parlour.platforms._kit.partial_sends import PartialSends
from parlour.platforms._kit.payloads import Payload, object_in, objects_in, text
from parlour_sdk.protocol.chain import MessageChain, Source
from parlour_sdk.protocol.people import ChatType, Group, GroupMember, User
from parlour_sdk.protocol.platform_api import MessageResult, NotSupportedError, PlatformMessage

from . import entities
from .client import SlackClient, SlackRefused
from .content import decode_chain
from .encode import SlackMessage, encode
from .entities import SERVICE, USER_PREFIXES, SlackAccount, time_milliseconds, timestamp
from .users import SlackUsers

METADATA_EVENT = "message_of_parlour"
SEARCHED_MESSAGES = 100
CHANNEL_TYPES = "public_channel,private_channel,mpim"


class SlackApi(PlatformApi):
    """Platform API of one Slack bot."""

    def __init__(
        self, client: SlackClient, users: SlackUsers, account: Callable[[], SlackAccount], fetch: Fetch, mode: str
    ) -> None:
        self._client = client
        self._users = users
        self._account = account
        self._fetch = fetch
        self._mode = mode
        self._sends = PartialSends("Slack")
        self._direct: BoundedMap[str, str] = BoundedMap()
        """Channels of direct messages by user."""

    # --- messages

    async def send_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Sends a chain as one or more messages. The result has the id of the first one; `raw` has all ids.

        A message with files has no id, because Slack shows it only after the call.
        """
        messages = await encode(chain, self._fetch)
        channel_id = await self._channel(target_type, target_id)

        async def send(number: int, message: SlackMessage) -> str:
            if message.files:
                await self._client.upload(message.files, channel_id, thread_id, message.text)
                return ""
            key = {"event_type": METADATA_EVENT, "event_payload": {"key": f"{idempotency_key}:{number}"}}
            answer = await self._client.call(
                "chat.postMessage",
                channel=channel_id,
                thread_ts=thread_id or None,
                unfurl_links="false",
                unfurl_media="false",
                metadata=key if idempotency_key else None,
                **message.content(),
            )
            return text(answer, "ts")

        sent = await self._sends.send(idempotency_key, messages, send)
        return MessageResult(message_id=next(filter(None, sent), None), raw={"message_ids": sent})

    async def _channel(self, target_type: ChatType, target_id: str) -> str:
        """Returns the channel of a target. A private one may be a user, whose channel is opened then."""
        if target_type != "private" or not target_id.startswith(USER_PREFIXES):
            return target_id
        known = self._direct.get(target_id)
        if known is None:
            opened = object_in(await self._client.call("conversations.open", users=target_id), "channel")
            known = text(opened, "id")
            self._direct.set(target_id, known)
        return known

    async def find_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str,
        is_known: IsKnownMessage,
        thread_id: str = "",
    ) -> MessageResult | None:
        """Looks up a message by the key in its metadata."""
        try:
            history = await self._history(await self._channel(target_type, target_id), thread_id)
        except SlackRefused:
            return None
        for each in history:
            metadata = object_in(each, "metadata")
            key = object_in(metadata, "event_payload").get("key")
            if metadata.get("event_type") == METADATA_EVENT and key == f"{idempotency_key}:0":
                return MessageResult(message_id=text(each, "ts"))
        return None

    async def _history(self, channel_id: str, thread_id: str, **params: Any) -> list[Payload]:
        options = {"channel": channel_id, "limit": SEARCHED_MESSAGES, "include_all_metadata": "true", **params}
        method = "conversations.replies" if thread_id else "conversations.history"
        answer = await self._client.call(method, ts=thread_id or None, **options)
        return objects_in(answer, "messages")

    async def edit_message(
        self, chat_type: ChatType, chat_id: str, message_id: str, chain: MessageChain
    ) -> MessageResult:
        messages = await encode(chain, self._fetch)
        if len(messages) != 1 or messages[0].files:
            raise PlatformRefused("a message can only be edited into one without files", permanent=True)
        content = {"blocks": [], **messages[0].content()}
        channel_id = await self._channel(chat_type, chat_id)
        await self._client.call("chat.update", channel=channel_id, ts=timestamp("message_id", message_id), **content)
        return MessageResult(message_id=message_id)

    async def delete_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> None:
        channel_id = await self._channel(chat_type, chat_id)
        await self._client.call("chat.delete", channel=channel_id, ts=timestamp("message_id", message_id))

    async def forward_message(
        self, from_chat_type: ChatType, from_chat_id: str, message_id: str, to_chat_type: ChatType, to_chat_id: str
    ) -> MessageResult:
        """Sends the link to a message, which Slack shows with its text."""
        source = await self._channel(from_chat_type, from_chat_id)
        moment = timestamp("message_id", message_id)
        link = text(await self._client.call("chat.getPermalink", channel=source, message_ts=moment), "permalink")
        target = await self._channel(to_chat_type, to_chat_id)
        answer = await self._client.call("chat.postMessage", channel=target, text=f"<{link}>", unfurl_links="true")
        return MessageResult(message_id=text(answer, "ts") or None)

    async def get_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> PlatformMessage:
        """Returns a message of a channel, or of a thread if the channel shows it there only."""
        moment = timestamp("message_id", message_id)
        channel_id = await self._channel(chat_type, chat_id)
        bounds = {"latest": moment, "oldest": moment, "inclusive": "true", "limit": 1}
        found = await self._history(channel_id, "", **bounds) or await self._history(channel_id, moment, **bounds)
        message = next((each for each in found if each.get("ts") == message_id), None)
        if message is None:
            raise PlatformRefused("the message is not there any more", permanent=True)
        author = text(message, "user")
        sent_at = time_milliseconds(moment)
        return PlatformMessage(
            message_id=message_id,
            chat_type=chat_type,
            chat_id=chat_id,
            sender=entities.user(await self._users.get(author)) if author else None,
            time=sent_at,
            chain=[Source(id=message_id, time=sent_at), *decode_chain(message)],
        )

    async def react(self, chat_type: ChatType, chat_id: str, message_id: str, reaction: str, add: bool = True) -> None:
        method, settled = ("reactions.add", "already_reacted") if add else ("reactions.remove", "no_reaction")
        channel_id = await self._channel(chat_type, chat_id)
        try:
            moment = timestamp("message_id", message_id)
            await self._client.call(method, channel=channel_id, timestamp=moment, name=emoji_name(reaction, SERVICE))
        except SlackRefused as refused:
            if refused.code != settled:
                raise

    # --- channels and users

    async def get_group_info(self, group_id: str) -> Group:
        answer = await self._client.call("conversations.info", channel=group_id, include_num_members="true")
        return entities.group(object_in(answer, "channel"))

    async def get_group_list(self) -> Sequence[Group]:
        """Returns the channels that the bot is in."""
        pages = self._client.pages("users.conversations", "channels", types=CHANNEL_TYPES, exclude_archived="true")
        return [entities.group(each) async for each in pages if isinstance(each, dict)]

    async def get_group_member_list(self, group_id: str) -> Sequence[GroupMember]:
        pages = self._client.pages("conversations.members", "members", channel=group_id)
        members = [each async for each in pages if isinstance(each, str)]
        return [entities.member(await self._users.get(each), group_id) for each in members]

    async def get_group_member_info(self, group_id: str, user_id: str) -> GroupMember:
        async for each in self._client.pages("conversations.members", "members", channel=group_id):
            if each == user_id:
                return entities.member(await self._users.get(user_id), group_id)
        raise PlatformRefused("this person is not in the channel", permanent=True)

    async def set_group_name(self, group_id: str, name: str) -> None:
        await self._client.call("conversations.rename", channel=group_id, name=name)

    async def kick_member(self, group_id: str, user_id: str) -> None:
        await self._client.call("conversations.kick", channel=group_id, user=user_id)

    async def leave_group(self, group_id: str) -> None:
        await self._client.call("conversations.leave", channel=group_id)

    async def get_user_info(self, user_id: str) -> User:
        return entities.user(await self._users.get(user_id))

    async def call_platform_api(self, action: str, params: dict[str, Any]) -> Any:
        match action:
            case "auth_test":
                answer = await self._client.call("auth.test")
                return {name: value for name, value in answer.items() if name != "ok"}
            case "get_mode":
                return {"mode": self._mode, "user_id": self._account().user_id, "team_id": self._account().team_id}
        raise NotSupportedError(f"the action {action}")
