"""The users, teams, channels and posts of a simulated Mattermost."""

import itertools
import json
import re
import time
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
ID = re.compile(r"[a-z0-9]{26}")
MENTION = re.compile(r"@([a-z0-9][a-z0-9._-]*)", re.IGNORECASE)


def make_id(name: str) -> str:
    """Returns an id in Mattermost's form that begins with a name."""
    return re.sub(r"[^a-z0-9]", "", name.lower()).ljust(26, "z")[:26]


BOT_ID, TEAM_ID = make_id("bot"), make_id("team")


class MattermostRefusal(Exception):
    """An error answer of the REST API."""

    def __init__(self, status: int, code: str, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.retry_after = retry_after


def forbidden() -> MattermostRefusal:
    return MattermostRefusal(403, "api.context.permissions.app_error", "You do not have the appropriate permissions.")


def missing(what: str) -> MattermostRefusal:
    return MattermostRefusal(404, f"app.{what}.get.app_error", f"Unable to find the {what}.")


def invalid(name: str) -> MattermostRefusal:
    message = f"Invalid or missing {name} in request body."
    return MattermostRefusal(400, "api.context.invalid_body_param.app_error", message)


@dataclass
class SentPost:
    """A post of the bot, with the texts that it has had."""

    payload: Json
    versions: list[str] = field(default_factory=list)

    @property
    def chat(self) -> str:
        return str(self.payload["channel_id"])

    @property
    def text(self) -> str:
        return str(self.payload["message"])

    @property
    def deleted(self) -> bool:
        return bool(self.payload["delete_at"])

    @property
    def buttons(self) -> list[Json]:
        attachments = self.payload["props"].get("attachments") or []
        return [action for each in attachments for action in each.get("actions", ())]


class MattermostWorld:
    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._last_moment = 0
        self.users: dict[str, Json] = {}
        self.channels: dict[str, Json] = {}
        self.members: dict[str, dict[str, Json]] = {}
        self.posts: dict[str, Json] = {}
        self.files: dict[str, tuple[Json, bytes]] = {}
        self.reactions: set[tuple[str, str, str]] = set()
        """Post, user and emoji of each reaction."""
        self.typing: list[tuple[str, str]] = []
        """Channel and thread of each time at which the bot was seen typing."""
        self.teams: list[Json] = [{"id": TEAM_ID, "name": "team", "display_name": "The Team", "type": "O"}]
        self.sent: list[SentPost] = []
        self.bot = self.add_user("parlour", BOT_ID, is_bot=True)

    def number(self) -> int:
        return next(self._numbers)

    def now(self) -> int:
        """Returns a time in milliseconds that no other call returns."""
        self._last_moment = max(self._last_moment + 1, round(time.time() * 1000))
        return self._last_moment

    def add_user(self, name: str, user_id: str = "", roles: str = "system_user", is_bot: bool = False) -> Json:
        user_id = user_id or make_id(name)
        user: Json = {
            "id": user_id, "username": name.lower().replace(" ", "."), "first_name": name.title(), "last_name": "",
            "nickname": "", "email": "", "roles": roles, "locale": "en", "create_at": 1_700_000_000_000,
            "update_at": 1_700_000_000_000, "delete_at": 0,
        }  # fmt: skip
        if is_bot:
            user |= {"is_bot": True, "bot_description": ""}
        return self.users.setdefault(user_id, user)

    def add_channel(self, name: str, *user_ids: str, channel_id: str = "", kind: str = "O", admin: str = "") -> Json:
        """Creates a channel with these users and the bot."""
        channel_id = channel_id or make_id(f"{name}{self.number()}")
        channel = {
            "id": channel_id, "create_at": 1_700_000_000_000, "update_at": 1_700_000_000_000, "delete_at": 0,
            "team_id": "" if kind in "DG" else TEAM_ID, "type": kind, "display_name": "" if kind == "D" else name,
            "name": name, "header": "", "purpose": "", "last_post_at": 0, "total_msg_count": 0,
            "creator_id": user_ids[0] if user_ids else BOT_ID,
        }  # fmt: skip
        self.channels[channel_id] = channel
        self.members[channel_id] = {}
        for each in (BOT_ID, *user_ids):
            self.join(channel_id, each, is_admin=each == admin)
        return channel

    def join(self, channel_id: str, user_id: str, is_admin: bool = False) -> None:
        roles = "channel_user channel_admin" if is_admin else "channel_user"
        self.members[channel_id][user_id] = {
            "channel_id": channel_id, "user_id": user_id, "roles": roles, "scheme_user": True, "scheme_admin": is_admin,
        }  # fmt: skip

    def direct_channel(self, *user_ids: str) -> Json:
        """Returns the channel of direct messages between two users, which is created when it is first needed."""
        name = "__".join(sorted(user_ids))
        known = next((each for each in self.channels.values() if each["name"] == name), None)
        others = [each for each in user_ids if each != BOT_ID]
        return known or self.add_channel(name, *others, channel_id=make_id(f"dm{self.number()}"), kind="D")

    def channel(self, channel_id: Any) -> Json:
        """Returns a channel that the bot may see. Raises MattermostRefusal."""
        if channel_id not in self.channels:
            raise missing("channel")
        if BOT_ID not in self.members[channel_id]:
            raise forbidden()
        return self.channels[channel_id]

    def write(self, channel_id: str, user_id: str, message: str, **fields: Any) -> Json:
        moment = self.now()
        post: Json = {
            "id": make_id(f"post{self.number()}"), "create_at": moment, "update_at": moment, "edit_at": 0,
            "delete_at": 0, "is_pinned": False, "user_id": user_id, "channel_id": channel_id, "root_id": "",
            "original_id": "", "message": message, "type": "", "props": {}, "hashtags": "", "file_ids": [],
            "pending_post_id": "", "reply_count": 0, "last_reply_at": 0, "participants": None, **fields,
        }  # fmt: skip
        if self.users[user_id].get("is_bot"):
            post["props"] = {"from_bot": "true", **post["props"]}
        files = [self.files[each][0] for each in post["file_ids"]]
        post["metadata"] = {"files": files} if files else {}
        self.posts[post["id"]] = post
        self.channels[channel_id]["last_post_at"] = moment
        return post

    def add_file(self, name: str, data: bytes, mime_type: str, channel_id: str = "", file_id: str = "") -> Json:
        file_id = file_id or make_id(f"file{self.number()}")
        info = {
            "id": file_id, "user_id": BOT_ID, "post_id": "", "channel_id": channel_id, "name": name,
            "extension": name.rpartition(".")[2], "size": len(data), "mime_type": mime_type, "has_preview_image": False,
        }  # fmt: skip
        self.files[file_id] = (info, data)
        return info

    def event(self, kind: str, post: Json, **data: Any) -> Json:
        """Returns an event about a post in the form in which the WebSocket reports it."""
        channel = self.channels[post["channel_id"]]
        details: Json = {"post": json.dumps(post), **data}
        if kind == "posted":
            names = {each.rstrip("._-").lower() for each in MENTION.findall(post["message"])}
            mentioned = [each["id"] for each in self.users.values() if each["username"] in names]
            details |= {
                "channel_display_name": channel["display_name"], "channel_name": channel["name"],
                "channel_type": channel["type"], "sender_name": f"@{self.users[post['user_id']]['username']}",
                "team_id": channel["team_id"], "set_online": True,
            }  # fmt: skip
            details |= {"mentions": json.dumps(mentioned)} if mentioned else {}
        return place_event(kind, details, channel_id=channel["id"])

    def sent_post(self, post_id: str) -> SentPost | None:
        return next((each for each in self.sent if each.payload["id"] == post_id), None)


def place_event(kind: str, data: Json, channel_id: str = "", user_id: str = "") -> Json:
    """Returns an event with the place to which the WebSocket reports it."""
    broadcast = {"omit_users": None, "user_id": user_id, "channel_id": channel_id, "team_id": "", "connection_id": ""}
    return {"event": kind, "data": data, "broadcast": broadcast}
