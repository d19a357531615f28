"""Builds objects as the Bot API describes them."""

import time
from typing import Any

Payload = dict[str, Any]


def user(user_id: int, name: str = "", **fields: Any) -> Payload:
    return {"id": user_id, "is_bot": False, "first_name": name or f"user {user_id}", **fields}


def private(user_id: int, name: str = "") -> Payload:
    return {"id": user_id, "type": "private", "first_name": name or f"user {user_id}"}


def group(chat_id: int, title: str = "the group", **fields: Any) -> Payload:
    return {"id": chat_id, "type": "supergroup", "title": title, **fields}


def entity(kind: str, offset: int, length: int, **fields: Any) -> Payload:
    return {"type": kind, "offset": offset, "length": length, **fields}


def mention(text: str, name: str) -> list[Payload]:
    """Returns the mention entity of a name in an ASCII text."""
    return [entity("mention", text.index(name), len(name))]


def member(person: Payload, status: str = "member", **fields: Any) -> Payload:
    return {"user": person, "status": status, **fields}


def changed(chat: Payload, actor: Payload, old: Payload, new: Payload, **fields: Any) -> Payload:
    """Returns the content of `chat_member` and `my_chat_member`."""
    update = {"chat": chat, "from": actor, "date": now(), "old_chat_member": old, "new_chat_member": new}
    return {**update, **fields}


def now() -> int:
    return int(time.time())
