"""Actions on a platform that a run asks for: checked, approved where the policy says so, executed, recorded."""

from typing import Any, Literal

from pydantic import Field

from .base import Tolerant
from .calls import RunCall

ACTION_NAMES = (
    "message.send",
    "message.reply",
    "message.edit",
    "message.delete",
    "message.forward",
    "message.react",
    "group.rename",
    "group.leave",
    "member.mute",
    "member.unmute",
    "member.kick",
    "friend_request.answer",
    "group_invite.answer",
    "platform.call",
)


class RequestAction(RunCall):
    """`wait_seconds` parks the run until a person has decided, at most that long."""

    action: str
    """One of ACTION_NAMES."""
    target: dict[str, Any] | None = None
    payload: dict[str, Any] | None = None
    wait_seconds: float = Field(default=0, ge=0, le=3600)


class ActionOutcome(Tolerant):
    """What became of an action."""

    status: Literal["done", "pending", "denied"]
    approval_id: str | None = None
    """Of what a person still has to decide."""
    result: Any = None
