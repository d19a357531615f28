"""Converts users, channels and times of Slack into common entities."""

from typing import Any

from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.payloads import Payload, identifier, number, object_in, text
from parlour_sdk.protocol.people import ChatType, Group, GroupMember, MemberRole, User
from parlour_sdk.values import dataclass

NAME = "slack"
SERVICE = "Slack"
DIRECT = "im"
USER_PREFIXES = ("U", "W")
DIRECT_PREFIX = "D"


@dataclass(frozen=True, slots=True)
class SlackAccount:
    """The bot's own account in its workspace."""

    user_id: str
    bot_id: str = ""
    team_id: str = ""

    def is_own(self, message: Payload) -> bool:
        """Returns whether the bot itself wrote a message."""
        return text(message, "user") == self.user_id or (bool(self.bot_id) and message.get("bot_id") == self.bot_id)


def time_milliseconds(value: Any) -> int:
    """Returns the time of a message or event in milliseconds. Raises ValueError if it is none."""
    if not isinstance(value, str) or len(value) > 40:
        raise ValueError("a time is a text with seconds")
    seconds = float(value)
    if not 0 <= seconds < 1e11:
        raise ValueError("a time is a number of seconds since 1970")
    return round(seconds * 1000)


def timestamp(name: str, value: str) -> str:
    """Checks the time that names a message. Raises PlatformRefused."""
    seconds, _, fraction = value.partition(".")
    if not (seconds.isdecimal() and fraction.isdecimal()):
        reason = f"{name}: '{value[:60]}' is no message of Slack; its time is expected, as 1779012345.000200"
        raise PlatformRefused(reason, permanent=True)
    return value


def chat_type(channel_id: str, kind: str = "") -> ChatType:
    """Returns whether a channel is private: a direct message with one user."""
    return "private" if kind == DIRECT or channel_id.startswith(DIRECT_PREFIX) else "group"


def user(payload: Payload) -> User:
    """Returns a user, with the name that Slack shows."""
    profile = object_in(payload, "profile")
    names = (
        text(profile, "display_name"),
        text(payload, "real_name"),
        text(profile, "real_name"),
        text(payload, "name"),
    )
    return User(
        id=identifier(payload.get("id")),
        nickname=next(filter(None, names), ""),
        username=text(payload, "name") or None,
        avatar_url=text(profile, "image_192") or None,
        is_bot=payload.get("is_bot") is True or payload.get("id") == "USLACKBOT",
    )


def role(payload: Payload) -> MemberRole:
    """Returns the role in the workspace; a channel of Slack has none."""
    if payload.get("is_owner") is True:
        return "owner"
    return "admin" if payload.get("is_admin") is True else "member"


def group(channel: Payload) -> Group:
    return Group(
        id=identifier(channel.get("id")),
        name=text(channel, "name"),
        description=text(object_in(channel, "purpose"), "value") or None,
        member_count=number(channel.get("num_members")),
        owner_id=text(channel, "creator") or None,
    )


def member(payload: Payload, group_id: str) -> GroupMember:
    person = user(payload)
    title = text(object_in(payload, "profile"), "title")
    return GroupMember(
        user=person, group_id=group_id, role=role(payload), display_name=person.nickname or None, title=title or None
    )
