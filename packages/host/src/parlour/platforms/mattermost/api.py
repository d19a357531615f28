"""Implements the platform API on Mattermost. Methods that are not overridden are not supported by Mattermost."""

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

from parlour.core.platforms.api import IsKnownMessage, PlatformApi
from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.emoji_names import emoji_name
from parlour.platforms._kit.ids import short_key
from parlour.platforms._kit.outgoing_files import Fetch
from parlour.platforms._kit.partial_sends import PartialSends
from parlour.platforms._kit.payloads import Payload, number, object_in, text
from parlour_sdk.protocol.chain import MessageChain, Source
from parlour_sdk.protocol.people import ChatType, Group, GroupMember, User
from parlour_sdk.protocol.platform_api import MessageResult, NotSupportedError, PlatformMessage

from . import entities
from .client import MattermostClient, MattermostRefused
from .content import decode_chain, mentioned_names
from .directory import MattermostDirectory
from .encode import MattermostPost, encode
from .entities import SERVICE, MattermostAccount, checked_id

KEY_PROP = "parlour_key"
"""Property of a post that has the idempotency key of its message."""
KEY_LENGTH = 40
SEARCHED_POSTS = 60
Callback = Callable[[str, str], Payload | None]
"""Returns the callback of a button in a channel with this data."""


class MattermostApi(PlatformApi):
    """Platform API of one Mattermost bot."""

    def __init__(
        self,
        client: MattermostClient,
        directory: MattermostDirectory,
        callback: Callback,
        account: Callable[[], MattermostAccount],
        fetch: Fetch,
        server_url: str,
    ) -> None:
        self._client = client
        self._directory = directory
        self._callback = callback
        self._account = account
        self._fetch = fetch
        self._server_url = server_url
        self._sends = PartialSends("Mattermost")
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
        """Sends a chain as one or more posts. The result has the id of the first one; `raw` has all ids."""
        channel_id = await self._channel(target_type, target_id)
        posts = await self._encode(channel_id, chain)

        async def send(place: int, post: MattermostPost) -> str:
            body: dict[str, Any] = {"channel_id": channel_id, "message": post.text, "props": post.props}
            if thread_id:
                body["root_id"] = thread_id
            if post.files:
                body["file_ids"] = await self._client.upload(post.files, channel_id)
            if idempotency_key:
                key = _key(idempotency_key, place)
                body["props"] = {**post.props, KEY_PROP: key}
                body["pending_post_id"] = f"{self._account().id}:{key}"
            return text(await self._client.post("posts", "posts", body), "id")

        return await self._sends.send_all(idempotency_key, posts, send)

    async def _encode(self, channel_id: str, chain: MessageChain) -> list[MattermostPost]:
        return await encode(chain, self._fetch, self._directory.username, lambda data: self._callback(channel_id, data))

    async def _channel(self, target_type: str, target_id: str) -> str:
        """Returns the channel of a target. A private one may be a user, whose direct channel is opened then."""
        checked_id("target_id", target_id)
        if target_type != "private":
            return target_id
        known = self._direct.get(target_id)
        if known is None:
            try:
                known = text(await self._directory.channels.get(target_id), "id")
            except MattermostRefused as refused:
                if refused.status not in (403, 404):
                    raise
                body = [self._account().id, target_id]
                known = text(await self._client.post("channels/direct", "channels/direct", body), "id")
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
        """Looks up a message by its key among the latest posts of the channel."""
        try:
            channel_id = await self._channel(target_type, target_id)
            path = f"channels/{channel_id}/posts"
            answer = await self._client.get(path, "posts", page=0, per_page=SEARCHED_POSTS)
        except MattermostRefused:
            return None
        wanted = _key(idempotency_key, 0)
        for post_id, post in object_in(answer, "posts").items():
            if isinstance(post, dict) and object_in(post, "props").get(KEY_PROP) == wanted:
                return MessageResult(message_id=post_id)
        return None

    async def edit_message(
        self, chat_type: ChatType, chat_id: str, message_id: str, chain: MessageChain
    ) -> MessageResult:
        """Edits a post. Its files stay; attachments and buttons that the chain does not have are removed."""
        posts = await self._encode(await self._channel(chat_type, chat_id), chain)
        if len(posts) != 1 or posts[0].files:
            raise PlatformRefused("a message can only be edited into one without files", permanent=True)
        body = {"message": posts[0].text, "props": posts[0].props}
        await self._client.put(f"posts/{checked_id('message_id', message_id)}/patch", "posts/patch", body)
        return MessageResult(message_id=message_id)

    async def delete_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> None:
        await self._client.delete(f"posts/{checked_id('message_id', message_id)}", "posts")

    async def forward_message(
        self, from_chat_type: ChatType, from_chat_id: str, message_id: str, to_chat_type: ChatType, to_chat_id: str
    ) -> MessageResult:
        """Sends the link to a post, which Mattermost shows with its text to users who may read it."""
        post = await self._post(await self._channel(from_chat_type, from_chat_id), message_id)
        target = await self._channel(to_chat_type, to_chat_id)
        body = {"channel_id": target, "message": f"{self._server_url}/_redirect/pl/{text(post, 'id')}"}
        return MessageResult(message_id=text(await self._client.post("posts", "posts", body), "id") or None)

    async def get_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> PlatformMessage:
        post = await self._post(await self._channel(chat_type, chat_id), message_id)
        author, sent_at = text(post, "user_id"), number(post.get("create_at"))
        names = await self._directory.find_names(mentioned_names(post.get("message")))
        return PlatformMessage(
            message_id=message_id,
            chat_type=chat_type,
            chat_id=chat_id,
            sender=entities.user(await self._directory.users.get(author)) if author else None,
            time=sent_at,
            chain=[Source(id=message_id, time=sent_at), *decode_chain(post, names)],
        )

    async def _post(self, channel_id: str, message_id: str) -> Payload:
        """Returns a post of this channel. Raises PlatformRefused if there is none."""
        post = await self._client.get(f"posts/{checked_id('message_id', message_id)}", "posts")
        if text(post, "channel_id") != channel_id:
            raise PlatformRefused("the message is in another channel", permanent=True)
        return post

    async def react(self, chat_type: ChatType, chat_id: str, message_id: str, reaction: str, add: bool = True) -> None:
        name, me = emoji_name(reaction, SERVICE), self._account().id
        post_id = checked_id("message_id", message_id)
        if add:
            body = {"user_id": me, "post_id": post_id, "emoji_name": name}
            await self._client.post("reactions", "reactions", body)
        else:
            await self._client.delete(f"users/{me}/posts/{post_id}/reactions/{quote(name)}", "reactions")

    async def send_typing(self, chat_type: ChatType, chat_id: str, thread_id: str = "") -> None:
        body = {"channel_id": await self._channel(chat_type, chat_id), "parent_id": thread_id}
        await self._client.post(f"users/{self._account().id}/typing", "typing", body)

    # --- channels and users

    async def get_group_info(self, group_id: str) -> Group:
        channel_id = checked_id("group_id", group_id)
        channel = await self._client.get(f"channels/{channel_id}", "channel")
        stats = await self._client.get(f"channels/{channel_id}/stats", "channel")
        return entities.group(channel).model_copy(update={"member_count": number(stats.get("member_count"))})

    async def get_group_list(self) -> Sequence[Group]:
        """Returns the channels that the bot is in, without direct messages."""
        channels = await self._client.get_list(f"users/{self._account().id}/channels", "channels")
        return [entities.group(each) for each in channels if each.get("type") != entities.DIRECT]

    async def get_group_member_list(self, group_id: str) -> Sequence[GroupMember]:
        path = f"channels/{checked_id('group_id', group_id)}/members"
        members = [each async for each in self._client.pages(path, "members")]
        people: dict[str, Payload] = {}
        for first in range(0, len(members), 100):
            ids = [text(each, "user_id") for each in members[first : first + 100]]
            people |= {text(each, "id"): each for each in await self._client.post_list("users/ids", "users", ids)}
        known = ((each, people.get(text(each, "user_id"))) for each in members)
        return [entities.member(each, person, group_id) for each, person in known if person]

    async def get_group_member_info(self, group_id: str, user_id: str) -> GroupMember:
        member = await self._directory.member(group_id, user_id)
        return entities.member(member, await self._directory.users.get(user_id), group_id)

    async def set_group_name(self, group_id: str, name: str) -> None:
        await self._client.put(f"channels/{checked_id('group_id', group_id)}/patch", "channel", {"display_name": name})

    async def kick_member(self, group_id: str, user_id: str) -> None:
        path = f"channels/{checked_id('group_id', group_id)}/members/{checked_id('user_id', user_id)}"
        await self._client.delete(path, "members")

    async def leave_group(self, group_id: str) -> None:
        await self.kick_member(group_id, self._account().id)

    async def get_user_info(self, user_id: str) -> User:
        return entities.user(await self._directory.users.get(user_id))

    async def call_platform_api(self, action: str, params: dict[str, Any]) -> Any:
        match action:
            case "get_current_user":
                return await self._client.get("users/me", "users/me")
            case "get_channel":
                return await self._client.get(f"channels/{checked_id('channel_id', params['channel_id'])}", "channel")
            case "get_thread":
                post = await self._post(params["channel_id"], params["message_id"])
                return await self._client.get(f"posts/{text(post, 'id')}/thread", "thread")
            case "pin_message" | "unpin_message":
                post = await self._post(params["channel_id"], params["message_id"])
                verb = action.partition("_")[0]
                return await self._client.post(f"posts/{text(post, 'id')}/{verb}", verb, {})
        raise NotSupportedError(f"the action {action}")


def _key(key: str, place: int) -> str:
    return short_key(f"{key}:{place}", KEY_LENGTH)
