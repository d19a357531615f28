"""Converts users, chats, times and emojis of Lark into common entities."""

from typing import Any

from parlour.platforms._kit.payloads import Payload, identifier, object_in, text
from parlour_sdk.protocol.people import Group, User
from parlour_sdk.values import dataclass

NAME = "lark"
SERVICE = "Lark"
FEISHU_URL = "https://open.feishu.cn"
LARK_URL = "https://open.larksuite.com"
USER_PREFIX = "ou_"
PRIVATE_MODE = "p2p"
MAX_MILLISECONDS = 10**14
_EMOJI_NAMES = {
    "👍": "THUMBSUP", "👎": "ThumbsDown", "👌": "OK", "👏": "APPLAUSE", "🙏": "THANKS", "💪": "MUSCLE", "👋": "WAVE",
    "❤️": "HEART", "💔": "HEARTBROKEN", "🔥": "Fire", "🎉": "PARTY", "✅": "DONE", "✔️": "CheckMark", "❌": "CrossMark",
    "💯": "Hundred", "😀": "SMILE", "😄": "LAUGH", "😂": "LOL", "😉": "WINK", "😊": "BLUSH", "😍": "LOVE",
    "😎": "SMART", "😢": "CRY", "😭": "SOB", "😡": "ANGRY", "😱": "TERROR", "😅": "SWEAT", "🤝": "SHAKE", "😴": "SLEEP",
    "🤔": "THINKING", "🍺": "BEER", "🎂": "CAKE", "🎁": "GIFT", "🌹": "ROSE", "⏳": "Typing", "👀": "GLANCE",
    "📌": "Pin", "🚀": "FIREWORKS",
}  # fmt: skip
_EMOJI_CHARACTERS = {name: character for character, name in _EMOJI_NAMES.items()}


def emoji_name(reaction: str) -> str:
    """Returns Lark's name of an emoji, which may be given by its name."""
    return (
        _EMOJI_NAMES.get(reaction)
        or _EMOJI_NAMES.get(reaction.rstrip("\ufe0f"))
        or _EMOJI_NAMES.get(f"{reaction}\ufe0f")
        or reaction
    )


def emoji_character(name: str) -> str:
    """Returns the character of a named emoji, or its name if no character is known."""
    return _EMOJI_CHARACTERS.get(name, name)


@dataclass(frozen=True, slots=True)
class LarkAccount:
    """The bot's own account in one tenant."""

    open_id: str
    name: str = ""


def time_milliseconds(value: Any) -> int:
    """Returns a time in milliseconds, which Lark writes as a text. Raises ValueError if it is none."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError("a time is a number of milliseconds")
    moment = int(value)
    if not 0 <= moment <= MAX_MILLISECONDS:
        raise ValueError("a time is a number of milliseconds since 1970")
    return moment


def open_id(ids: Any) -> str:
    """Returns the open id of a user, which is the same for all events of an app. Raises ValueError if it is missing."""
    return identifier(ids.get("open_id") if isinstance(ids, dict) else ids)


def user(user_id: str, profile: Payload) -> User:
    """Returns a user with the name of the profile, if there is one."""
    return User(
        id=user_id,
        nickname=text(profile, "name"),
        avatar_url=text(object_in(profile, "avatar"), "avatar_240") or None,
    )


def group(chat_id: str, chat: Payload) -> Group:
    count = text(chat, "user_count")
    return Group(
        id=chat_id,
        name=text(chat, "name"),
        description=text(chat, "description") or None,
        avatar_url=text(chat, "avatar") or None,
        owner_id=text(chat, "owner_id") or None,
        member_count=int(count) if count.isdecimal() else None,
    )
