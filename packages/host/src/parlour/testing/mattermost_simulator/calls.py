"""The calls of the simulated REST API, checked as Mattermost checks them."""

import re
import time
from collections.abc import Awaitable, Callable
from typing import Any

from .gateway import MattermostSocketServer
from .world import (
    BOT_ID,
    ID,
    Json,
    MattermostRefusal,
    MattermostWorld,
    SentPost,
    forbidden,
    invalid,
    missing,
    place_event,
)

MAX_MESSAGE, MAX_FILES, MAX_NAME = 16383, 10, 64
PENDING_SECONDS = 30.0
EMOJI = re.compile(r"[a-zA-Z0-9\-+_]{1,64}")
Call = Callable[[Json, Any], Awaitable[Any]]
"""Takes the parameters of the address and query, and the body."""


class MattermostCalls:
    def __init__(self, world: MattermostWorld, gateway: MattermostSocketServer) -> None:
        self._world = world
        self._gateway = gateway
        self._pending: dict[str, tuple[float, str]] = {}
        self.pending_seconds = PENDING_SECONDS

    def routes(self) -> list[tuple[str, str, str, Call]]:
        """Returns method, path, name and function of each call."""
        return [
            ("GET", "users/me", "users/me", self.me),
            ("GET", "users/me/teams", "teams", self.teams),
            ("GET", "users/{user}", "user", self.user),
            ("POST", "users/usernames", "users", self.users_by_name),
            ("POST", "users/ids", "users", self.users_by_id),
            ("GET", "users/{user}/channels", "channels", self.channels),
            ("POST", "users/{user}/typing", "typing", self.typing),
            ("DELETE", "users/{user}/posts/{post}/reactions/{emoji}", "reactions/delete", self.unreact),
            ("POST", "channels/direct", "channels/direct", self.direct),
            ("GET", "channels/{channel}", "channel", self.channel),
            ("GET", "channels/{channel}/stats", "channel", self.stats),
            ("PUT", "channels/{channel}/patch", "channel/patch", self.patch_channel),
            ("GET", "channels/{channel}/posts", "channels/posts", self.channel_posts),
            ("GET", "channels/{channel}/members", "members", self.members),
            ("GET", "channels/{channel}/members/{user}", "member", self.member),
            ("DELETE", "channels/{channel}/members/{user}", "member/delete", self.remove),
            ("POST", "posts", "posts", self.create),
            ("GET", "posts/{post}", "post", self.post),
            ("GET", "posts/{post}/thread", "thread", self.thread),
            ("PUT", "posts/{post}/patch", "posts/patch", self.patch),
            ("DELETE", "posts/{post}", "posts/delete", self.delete),
            ("POST", "posts/{post}/pin", "pin", self.pin),
            ("POST", "posts/{post}/unpin", "unpin", self.unpin),
            ("POST", "reactions", "reactions", self.react),
            ("GET", "files/{file}/info", "file", self.file_info),
        ]

    # --- posts

    async def create(self, params: Json, body: Any) -> Json:
        channel_id, message = body.get("channel_id"), body.get("message", "")
        if not isinstance(channel_id, str) or not ID.fullmatch(channel_id):
            raise invalid("channel_id")
        channel = self._world.channels.get(channel_id)
        if channel is None or BOT_ID not in self._world.members[channel_id]:
            raise forbidden()
        if channel["delete_at"]:
            problem = "Can not post to deleted channel."
            raise MattermostRefusal(400, "api.post.create_post.can_not_post_to_deleted.error", problem)
        pending = str(body.get("pending_post_id") or "")
        until, known = self._pending.get(pending, (0.0, ""))
        if known and time.monotonic() < until:
            return self._world.posts[known]
        self._check(message, body)
        root_id = self._root(body.get("root_id") or "", channel_id)
        fields = {"props": dict(body.get("props") or {}), "pending_post_id": pending, "root_id": root_id}
        found = [each for each in body.get("file_ids") or [] if each in self._world.files]
        own = [each for each in found if self._world.files[each][0]["channel_id"] == channel_id]
        post = self._world.write(channel_id, BOT_ID, message, file_ids=own, **fields)
        self._world.sent.append(SentPost(post, [message]))
        if pending:
            self._pending[pending] = (time.monotonic() + self.pending_seconds, post["id"])
        await self._gateway.dispatch(self._world.event("posted", post))
        return post

    def _check(self, message: Any, body: Json) -> None:
        if not isinstance(message, str):
            raise invalid("message")
        if len(message) > MAX_MESSAGE:
            problem = "Post Message property is longer than the maximum permitted length."
            raise MattermostRefusal(400, "model.post.is_valid.message_length.app_error", problem)
        if len(body.get("file_ids") or []) > MAX_FILES:
            problem = "Invalid file ids. Note that uploads are limited to 10 files maximum."
            raise MattermostRefusal(400, "model.post.is_valid.file_ids.app_error", problem)

    def _root(self, root_id: str, channel_id: str) -> str:
        if not root_id:
            return ""
        root = self._world.posts.get(root_id)
        if root is None or root["delete_at"] or root["root_id"]:
            raise MattermostRefusal(400, "api.post.create_post.root_id.app_error", "Invalid RootId parameter.")
        if root["channel_id"] != channel_id:
            problem = "Invalid ChannelId for RootId parameter."
            raise MattermostRefusal(400, "api.post.create_post.channel_root_id.app_error", problem)
        return root_id

    def _find(self, post_id: str, own: bool = False) -> Json:
        post = self._world.posts.get(post_id)
        if post is None or post["delete_at"]:
            raise missing("post")
        self._world.channel(post["channel_id"])
        if own and post["user_id"] != BOT_ID:
            raise forbidden()
        return post

    async def post(self, params: Json, body: Any) -> Json:
        return self._find(params["post"])

    async def patch(self, params: Json, body: Any) -> Json:
        post = self._find(params["post"], own=True)
        self._check(body.get("message", post["message"]), body)
        moment = self._world.now()
        post |= {name: body[name] for name in ("message", "props") if name in body}
        post |= {"update_at": moment, "edit_at": moment}
        if (sent := self._world.sent_post(post["id"])) is not None:
            sent.versions.append(post["message"])
        await self._gateway.dispatch(self._world.event("post_edited", post))
        return post

    async def delete(self, params: Json, body: Any) -> Json:
        post = self._find(params["post"], own=True)
        post |= {"delete_at": (moment := self._world.now()), "update_at": moment}
        await self._gateway.dispatch(self._world.event("post_deleted", post, delete_by=BOT_ID))
        return {"status": "OK"}

    async def thread(self, params: Json, body: Any) -> Json:
        post = self._find(params["post"])
        root_id = post["root_id"] or post["id"]
        return _list([each for each in self._world.posts.values() if root_id in (each["id"], each["root_id"])])

    async def pin(self, params: Json, body: Any) -> Json:
        return self._set_pinned(params, True)

    async def unpin(self, params: Json, body: Any) -> Json:
        return self._set_pinned(params, False)

    def _set_pinned(self, params: Json, is_pinned: bool) -> Json:
        self._find(params["post"])["is_pinned"] = is_pinned
        return {"status": "OK"}

    async def react(self, params: Json, body: Any) -> Json:
        post, name = self._find(str(body.get("post_id"))), str(body.get("emoji_name") or "")
        if body.get("user_id") != BOT_ID:
            raise forbidden()
        if not EMOJI.fullmatch(name):
            raise MattermostRefusal(400, "model.reaction.is_valid.emoji_name.app_error", "Invalid emoji name.")
        self._world.reactions.add((post["id"], BOT_ID, name))
        return {"user_id": BOT_ID, "post_id": post["id"], "emoji_name": name, "create_at": self._world.now()}

    async def unreact(self, params: Json, body: Any) -> Json:
        self._find(params["post"])
        if params["user"] != BOT_ID:
            raise forbidden()
        self._world.reactions.discard((params["post"], BOT_ID, params["emoji"]))
        return {"status": "OK"}

    async def file_info(self, params: Json, body: Any) -> Json:
        if params["file"] not in self._world.files:
            raise missing("file")
        return self._world.files[params["file"]][0]

    # --- channels

    async def channel(self, params: Json, body: Any) -> Json:
        return self._world.channel(params["channel"])

    async def stats(self, params: Json, body: Any) -> Json:
        channel = await self.channel(params, body)
        return {"channel_id": channel["id"], "member_count": len(self._world.members[channel["id"]])}

    async def channels(self, params: Json, body: Any) -> list[Json]:
        if params["user"] not in (BOT_ID, "me"):
            raise forbidden()
        return [each for each in self._world.channels.values() if BOT_ID in self._world.members[each["id"]]]

    async def patch_channel(self, params: Json, body: Any) -> Json:
        channel = await self.channel(params, body)
        name = body.get("display_name", channel["display_name"])
        if not isinstance(name, str) or not 1 <= len(name) <= MAX_NAME:
            raise MattermostRefusal(400, "model.channel.is_valid.display_name.app_error", "Invalid display name.")
        channel |= {"display_name": name, "update_at": self._world.now()}
        return channel

    async def channel_posts(self, params: Json, body: Any) -> Json:
        channel = await self.channel(params, body)
        posts = [each for each in self._world.posts.values() if each["channel_id"] == channel["id"]]
        if "since" in params:
            return _list([each for each in posts if each["update_at"] > int(params["since"])])
        shown = [each for each in posts if not each["delete_at"]]
        return _list(shown[-int(params.get("per_page") or 60) :])

    async def direct(self, params: Json, body: Any) -> Json:
        if not isinstance(body, list) or len(body) != 2 or not all(isinstance(each, str) for each in body):
            raise invalid("user_ids")
        if BOT_ID not in body:
            raise forbidden()
        if any(each not in self._world.users for each in body):
            raise missing("user")
        return self._world.direct_channel(*body)

    async def members(self, params: Json, body: Any) -> list[Json]:
        channel = await self.channel(params, body)
        members = list(self._world.members[channel["id"]].values())
        size, page = int(params.get("per_page") or 60), int(params.get("page") or 0)
        return members[page * size : (page + 1) * size]

    async def member(self, params: Json, body: Any) -> Json:
        channel = await self.channel(params, body)
        if params["user"] not in self._world.members[channel["id"]]:
            raise missing("channel_member")
        return self._world.members[channel["id"]][params["user"]]

    async def remove(self, params: Json, body: Any) -> Json:
        member = await self.member(params, body)
        if self._world.channels[member["channel_id"]]["type"] in "DG":
            problem = "Cannot remove a user from a direct or group message channel."
            raise MattermostRefusal(400, "api.channel.remove_channel_member.type.app_error", problem)
        del self._world.members[member["channel_id"]][member["user_id"]]
        if member["user_id"] == BOT_ID:
            data = {"channel_id": member["channel_id"], "remover_id": BOT_ID}
            await self._gateway.dispatch(place_event("user_removed", data, user_id=BOT_ID))
        return {"status": "OK"}

    async def typing(self, params: Json, body: Any) -> Json:
        channel = self._world.channel(body.get("channel_id"))
        self._world.typing.append((channel["id"], str(body.get("parent_id") or "")))
        return {"status": "OK"}

    # --- users

    async def me(self, params: Json, body: Any) -> Json:
        return self._world.bot

    async def teams(self, params: Json, body: Any) -> list[Json]:
        return self._world.teams

    async def user(self, params: Json, body: Any) -> Json:
        if params["user"] not in self._world.users:
            raise missing("user")
        return self._world.users[params["user"]]

    async def users_by_name(self, params: Json, body: Any) -> list[Json]:
        if not isinstance(body, list) or not body:
            raise invalid("usernames")
        return [each for each in self._world.users.values() if each["username"] in body]

    async def users_by_id(self, params: Json, body: Any) -> list[Json]:
        if not isinstance(body, list) or not body:
            raise invalid("user_ids")
        return [self._world.users[each] for each in body if each in self._world.users]


def _list(posts: list[Json]) -> Json:
    newest_first = sorted(posts, key=lambda each: -each["create_at"])
    return {"order": [each["id"] for each in newest_first], "posts": {each["id"]: each for each in posts}}
