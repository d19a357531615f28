"""Generates updates that no Telegram should send, from a seed: wrong types, missing fields, odd parts."""

import random
from typing import Any

from . import native
from .native import Payload

STRANGE: tuple[Any, ...] = (None, True, -1, 1.5, 10**400, "", "x" * 300, [], [[]], {}, {"a": {}}, "\x00", [None])
KINDS = ("message", "edited_message", "callback_query", "message_reaction", "chat_member", "my_chat_member", "poll")


def updates(seed: int, number: int) -> list[Payload]:
    """Yields updates; none of them is a complete message."""
    chance = random.Random(seed)
    return [_damaged(chance) for _ in range(number)]


def _damaged(chance: random.Random) -> Payload:
    match chance.randrange(5):
        case 0:
            return {chance.choice(KINDS): chance.choice(STRANGE)}
        case 1:
            return {}
        case 2:
            return {f"unheard_of_{chance.randrange(9)}": chance.choice(STRANGE)}
        case 3:
            message = _message()
            message[chance.choice(["message_id", "from", "chat", "date"])] = chance.choice(STRANGE[:2])
            return {"message": message}
    message = _message()
    del message["text"]
    part = chance.choice(["photo", "document", "voice", "poll", "text", "forward_origin", "sticker"])
    return {"message": {**message, part: chance.choice([None, 1.5, [[]], [None], {"a": {}}])}}


def _message() -> Payload:
    person = native.user(7)
    return {"message_id": 1, "from": person, "chat": native.private(7), "date": native.now(), "text": "x"}
