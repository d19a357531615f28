"""Reads values, users, groups and failed responses of OneBot implementations. Ids become strings without loss.

Some implementations write numbers as strings.
"""

import re
from typing import Any

from parlour.core.json_kinds import kind_name
from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour_sdk.protocol.people import Group, GroupMember, MemberRole, User

WHOLE = re.compile(r"-?[0-9]{1,20}")
MAX_ID_LENGTH = 512
"""Maximum length of an id that the Host stores and looks up."""
Payload = dict[str, Any]
_ROLES: dict[str | None, MemberRole] = {"owner": "owner", "admin": "admin"}
MEANINGS = {
    404: "it does not know this action",
    100: "a parameter is missing or wrong, or the operation failed",
    102: "it has no permission for this, or what was named does not exist",
    103: "the operation failed",
    104: "its login is no longer valid; log the account in again",
    201: "it is too busy",
    1400: "the request was not understood",
    1401: "the access token is missing",
    1403: "the access token is wrong",
    1404: "it does not know this action",
    429: "too many requests",
    1429: "too many requests",
}
PERMANENT_RETCODES = frozenset((102, 404, 1400, 1401, 1403, 1404))
"""Retcodes after which another attempt would be refused in the same way.

Every other failure is retried, up to the five attempts of the outbox: implementations answer 1200 (and go-cqhttp 100)
for any failure. The guide has the table.
"""
BUSY_RETCODES = frozenset((201, 429, 1429))
_BUSY_WORDS = ("频繁", "too many", "rate limit", "frequent", "频率", "429")
MAX_RETRY_AFTER_SECONDS = 3600
"""Maximum delay in seconds before a retry; after that a message is too old to be sent."""
_OPEN_WORDS = ("timeout", "timed out", "超时")


def identifier(value: Any, name: str = "id") -> str:
    """Returns an id as a string. Raises ValueError, which names the field, if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"{name}: a whole number or a text is expected, not {kind_name(value)}")
    text = str(value)
    if not 0 < len(text) <= MAX_ID_LENGTH:
        raise ValueError(f"{name}: an id of 1 to {MAX_ID_LENGTH} characters is expected, not of {len(text)}")
    return text


def required_id(data: dict[str, Any], name: str) -> str:
    """Returns the id in a field. Raises KeyError if it is missing, and ValueError if it is no id."""
    return identifier(data[name], name)


def number(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if 0 <= value < 2**53 else None
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 16 else None


def milliseconds(seconds: Any) -> int | None:
    """Converts a time to milliseconds. OneBot uses seconds; a few implementations use milliseconds."""
    time = number(seconds) if isinstance(seconds, str) else seconds
    if isinstance(time, bool) or not isinstance(time, int | float) or not 0 <= time < 10**14:
        return None
    return int(time) if time > 10**11 else int(time * 1000)


def text(data: dict[str, Any], name: str) -> str | None:
    value = data.get(name)
    return value if isinstance(value, str) and value else None


def native_id(name: str, value: str) -> int:
    """Converts an id for a request: OneBot's ids are numbers."""
    if WHOLE.fullmatch(value):
        return int(value)
    reason = f"{name}: '{value[:60]}' is no id of OneBot; a whole number is expected"
    raise PlatformRefused(reason, permanent=True)


def read_user(payload: Any) -> User:
    payload = object_of(payload)
    return User(
        id=_answer_id(payload, "user_id"),
        nickname=text(payload, "nickname") or "",
        remark=text(payload, "remark"),
        is_bot=is_bot(payload),
    )


def is_bot(payload: Payload) -> bool:
    """Returns whether the user is a bot.

    OneBot has no field for it; NapCat and Lagrange use is_robot, others is_bot.
    """
    return payload.get("is_robot") is True or payload.get("is_bot") is True


def read_group(payload: Any) -> Group:
    payload = object_of(payload)
    count = number(payload.get("member_count"))
    return Group(id=_answer_id(payload, "group_id"), name=text(payload, "group_name") or "", member_count=count)


def read_member(payload: Any, group_id: str) -> GroupMember:
    payload = object_of(payload)
    join_time = number(payload.get("join_time"))
    return GroupMember(
        user=read_user(payload),
        group_id=group_id,
        role=_ROLES.get(text(payload, "role"), "member"),
        display_name=text(payload, "card"),
        joined_at=join_time * 1000 if join_time else None,
        title=text(payload, "title"),
    )


def object_of(answer: Any) -> Payload:
    if not isinstance(answer, dict):
        raise PlatformRefused("OneBot answered with something else than an object", permanent=True)
    return answer


def list_of(answer: Any) -> list[Any]:
    if not isinstance(answer, list):
        raise PlatformRefused("OneBot answered with something else than a list", permanent=True)
    return answer


def _answer_id(payload: Payload, name: str) -> str:
    try:
        return identifier(payload.get(name))
    except ValueError:
        raise PlatformRefused(f"OneBot's answer has no {name}", permanent=True) from None


def raise_for(action: str, answer: dict[str, Any]) -> None:
    """Raises PlatformRefused or PlatformUncertain unless the action was done.

    An implementation whose own client did not respond in time does not know whether it was done.
    """
    retcode = _code(answer.get("retcode", 0))
    if answer.get("status") in ("ok", "async") or (retcode in (0, 1) and answer.get("status") != "failed"):
        return
    message = _message(answer)
    sentence = f"OneBot refused {action}: {_reason(retcode, message)}"
    if any(phrase in message.lower() for phrase in _OPEN_WORDS):
        raise PlatformUncertain(sentence)
    if retcode in BUSY_RETCODES or any(phrase in message.lower() for phrase in _BUSY_WORDS):
        raise PlatformRefused(sentence, retry_after=_wait(answer))
    raise PlatformRefused(sentence, permanent=retcode in PERMANENT_RETCODES)


def _code(value: Any) -> int | str:
    """Returns the retcode as a number, or a description of its shape if it is none."""
    as_number = number(value)
    return as_number if as_number is not None else value if isinstance(value, int) else kind_name(value)


def _reason(retcode: int | str, message: str) -> str:
    meaning = MEANINGS.get(retcode, "") if isinstance(retcode, int) else ""
    reason = " – ".join(part for part in (meaning, message) if part)
    return f"{reason or 'it gave no reason; look at what it logs'} (retcode {retcode})"


def _message(answer: dict[str, Any]) -> str:
    for name in ("wording", "message", "msg"):
        value = answer.get(name)
        if isinstance(value, str) and value:
            return value[:300]
    return ""


def _wait(answer: dict[str, Any]) -> float | None:
    """Returns the delay that the implementation asks for, within limits; None means the usual retry delay."""
    data = answer.get("data")
    retry_after = data.get("retry_after") if isinstance(data, dict) else None
    if isinstance(retry_after, int | float) and not isinstance(retry_after, bool) and retry_after > 0:
        return float(min(retry_after, MAX_RETRY_AFTER_SECONDS))
    return None
