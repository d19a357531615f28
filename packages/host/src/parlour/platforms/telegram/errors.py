"""Translates error responses of the Bot API into errors of the platform port, with a readable reason."""

from typing import Any

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain

from .values import Payload, number, object_in, text

NOT_MODIFIED = "message is not modified"
_MEANINGS = {
    "bot was blocked by the user": "this person has blocked the bot",
    "user is deactivated": "this person's account no longer exists",
    "bot was kicked": "the bot is no longer in this group",
    "bot is not a member": "the bot is not in this group",
    "bot can't initiate conversation": "this person has not written to the bot yet, and a bot may not begin",
    "chat not found": "there is no such chat, or the bot is not in it",
    "message is too long": "the text is longer than the 4096 characters of a message",
    "message caption is too long": "the caption is longer than 1024 characters",
    "message text is empty": "there is no text in this message",
    "message to edit not found": "the message is not there any more",
    "message can't be edited": "this message can't be edited any more",
    "message to delete not found": "the message is not there any more",
    "file is too big": "the file is larger than the 20 MB that Telegram hands to bots",
    "Request Entity Too Large": "the file is larger than the 50 MB that Telegram takes from bots",
    "not enough rights": "the bot lacks the administrator's right for this",
    "CHAT_WRITE_FORBIDDEN": "the bot may not write in this chat",
    "need administrator rights": "the bot must be an administrator of the group for this",
    "can't parse entities": "the markup was not understood",
    "query is too old": "the button was pressed too long ago",
}
DEFAULT_RETRY_SECONDS = 5.0


class GroupMigrated(PlatformRefused):
    """Raised when the group has become a supergroup, which has another id."""

    def __init__(self, chat_id: int) -> None:
        super().__init__("the group has become a supergroup and has another id", permanent=True)
        self.chat_id = chat_id


class Unauthorized(PlatformRefused):
    """Raised when Telegram does not know the token."""


class Forbidden(PlatformRefused):
    """Raised when the bot may not act in this chat: it was blocked or removed."""


class Conflict(PlatformRefused):
    """Raised when another program receives this bot's updates."""


class EntitiesRefused(PlatformRefused):
    """Raised when Telegram rejects the formatting; the text alone may be accepted."""


def raise_for(method: str, status: int, answer: Any) -> Any:
    """Returns the result of a successful response. Raises the error of any other."""
    if not isinstance(answer, dict):
        raise PlatformUncertain(f"Telegram answered {method} with something that can't be read (HTTP {status})")
    if answer.get("ok") is True:
        return answer.get("result")
    raise _refusal(method, number(answer.get("error_code")) or status, answer)


def _refusal(method: str, code: int, answer: Payload) -> Exception:
    said = (text(answer, "description") or "no reason was given")[:300]
    sentence = f"Telegram refused {method}: {_reason(said)}"
    more = object_in(answer, "parameters")
    moved = more.get("migrate_to_chat_id")
    if isinstance(moved, int):
        return GroupMigrated(moved)
    match code:
        case 401:
            return Unauthorized(sentence, permanent=True)
        case 404 if said == "Not Found":
            return Unauthorized(sentence, permanent=True)
        case 403:
            return Forbidden(sentence, permanent=True)
        case 409:
            return Conflict(sentence, retry_after=DEFAULT_RETRY_SECONDS)
        case 429:
            return PlatformRefused(
                sentence, retry_after=float(number(more.get("retry_after")) or DEFAULT_RETRY_SECONDS)
            )
    if code >= 500:
        return PlatformUncertain(f"Telegram failed at {method}: {said}")
    kind = EntitiesRefused if "entit" in said.lower() and code == 400 and method != "getFile" else PlatformRefused
    return kind(sentence, permanent=True)


def _reason(said: str) -> str:
    meaning = next((words for part, words in _MEANINGS.items() if part.lower() in said.lower()), "")
    return f"{meaning} ({said})" if meaning else said
