"""Builds events in OneBot's own shape, as an implementation reports them."""

import time
from typing import Any

from .world import Payload, Segment


def text(words: str) -> Segment:
    return {"type": "text", "data": {"text": words}}


def segment(kind: str, **data: Any) -> Segment:
    return {"type": kind, "data": data}


def message(
    self_id: int, message_id: int, user_id: int, segments: list[Segment], group_id: int = 0, role: str = "member"
) -> Payload:
    """Builds a message event. `message` holds the segments; the connection writes them in its own format."""
    sender: Payload = {"user_id": user_id, "nickname": f"user {user_id}", "sex": "unknown", "age": 0}
    event = base(self_id, "message", message_id=message_id, user_id=user_id, message=segments, font=0)
    if group_id:
        event.update(message_type="group", sub_type="normal", group_id=group_id, anonymous=None)
        sender.update(card="", role=role)
    else:
        event.update(message_type="private", sub_type="friend")
    return {**event, "sender": sender}


def notice(self_id: int, notice_type: str, **fields: Any) -> Payload:
    return base(self_id, "notice", notice_type=notice_type, **fields)


def request(self_id: int, request_type: str, flag: str, **fields: Any) -> Payload:
    return base(self_id, "request", request_type=request_type, flag=flag, **fields)


def lifecycle(self_id: int) -> Payload:
    return base(self_id, "meta_event", meta_event_type="lifecycle", sub_type="connect")


def heartbeat(self_id: int, interval: float, online: bool = True) -> Payload:
    status = {"online": online, "good": True}
    return base(self_id, "meta_event", meta_event_type="heartbeat", status=status, interval=int(interval * 1000))


def base(self_id: int, post_type: str, **fields: Any) -> Payload:
    return {"time": int(time.time()), "self_id": self_id, "post_type": post_type, **fields}
