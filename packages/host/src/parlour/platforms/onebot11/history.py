"""A chat's latest messages, asked for to learn whether a send whose answer was lost has arrived."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from .segments import Segment, segments_of
from .values import number

COUNT = 50
SKEW_SECONDS = 2
"""How far the two clocks may be apart. With more, the message is not found and sent again, which is the safe side."""
Payload = dict[str, Any]


def request(target_type: str, target: int) -> tuple[str, Payload]:
    """Action and parameters."""
    if target_type == "group":
        return "get_group_msg_history", {"group_id": target, "count": COUNT}
    return "get_friend_msg_history", {"user_id": target, "count": COUNT}


def made_at(key: str) -> int:
    """Seconds since 1970: the Host's keys are UUIDs that begin with their time. Far in the future for any other."""
    try:
        key_id = UUID(key)
    except ValueError:
        return 2**40
    return (key_id.int >> 80) // 1000 if key_id.version == 7 else 2**40


def own(answer: Any, account: str, since: int) -> list[Payload]:
    """The account's own messages that are young enough, the latest first."""
    told = answer.get("messages") if isinstance(answer, dict) else None
    messages = [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []
    young = [each for each in messages if (number(each.get("time")) or 0) >= since - SKEW_SECONDS]
    return [each for each in reversed(young) if _sender(each) == account]


def alike(messages: list[Payload], segments: list[Segment]) -> Iterator[str]:
    """The ids of those that say the same. Files are told by other names when they come back, so only that they are."""
    sent = _outline(segments)
    for message in messages:
        try:
            same = _outline(segments_of(message.get("message"))) == sent
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        if same and "message_id" in message:
            yield str(message["message_id"])


def _outline(segments: list[Any]) -> str:
    """Texts that follow each other may come back as one, and their lines may end otherwise."""
    told = "".join(_word(segment["type"], segment["data"]) for segment in segments)
    return told.replace("\r\n", "\n").replace("\r", "\n").strip()


def _word(kind: str, data: Payload) -> str:
    return str(data.get("text", "")) if kind == "text" else f"\0{kind}:{data.get('qq', '')}\0"


def _sender(message: Payload) -> str:
    sender = message.get("sender")
    return str(sender.get("user_id")) if isinstance(sender, dict) else str(message.get("user_id"))
