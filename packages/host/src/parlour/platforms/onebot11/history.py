"""Searches a chat's latest messages to find out whether a send without acknowledgement has arrived."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from .segments import Segment, segments_of
from .values import number

HISTORY_MESSAGES = 50
MAX_CLOCK_SKEW_SECONDS = 2
"""Maximum clock difference in seconds.

With more, the message is not found and is sent again, which is the safe side.
"""
Payload = dict[str, Any]


def request(target_type: str, target: int) -> tuple[str, Payload]:
    """Returns action and parameters of the look-up."""
    if target_type == "group":
        return "get_group_msg_history", {"group_id": target, "count": HISTORY_MESSAGES}
    return "get_friend_msg_history", {"user_id": target, "count": HISTORY_MESSAGES}


def key_time(key: str) -> int:
    """Returns the time of an idempotency key in seconds since 1970, far in the future if it has none.

    The Host's keys are UUIDs of version 7, which begin with their time.
    """
    try:
        key_id = UUID(key)
    except ValueError:
        return 2**40
    return (key_id.int >> 80) // 1000 if key_id.version == 7 else 2**40


def own_messages(answer: Any, account: str, since: int) -> list[Payload]:
    """Returns the account's own messages that are recent enough, the latest first."""
    told = answer.get("messages") if isinstance(answer, dict) else None
    messages = [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []
    young = [each for each in messages if (number(each.get("time")) or 0) >= since - MAX_CLOCK_SKEW_SECONDS]
    return [each for each in reversed(young) if _sender(each) == account]


def equal_messages(messages: list[Payload], segments: list[Segment]) -> Iterator[str]:
    """Yields the ids of messages with equal content.

    Files come back under other names, so only their presence is compared.
    """
    sent = _outline(segments)
    for message in messages:
        try:
            same = _outline(segments_of(message.get("message"))) == sent
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        if same and "message_id" in message:
            yield str(message["message_id"])


def _outline(segments: list[Any]) -> str:
    """Builds a normalized text for comparison: adjacent texts may come back as one, and line endings may differ."""
    told = "".join(_word(segment["type"], segment["data"]) for segment in segments)
    return told.replace("\r\n", "\n").replace("\r", "\n").strip()


def _word(kind: str, data: Payload) -> str:
    return str(data.get("text", "")) if kind == "text" else f"\0{kind}:{data.get('qq', '')}\0"


def _sender(message: Payload) -> str:
    sender = message.get("sender")
    return str(sender.get("user_id")) if isinstance(sender, dict) else str(message.get("user_id"))
