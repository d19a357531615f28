"""Generates updates that no Telegram should send, from a seed: wrong types, missing fields, odd parts."""

import random

from parlour.testing.simulator import STRANGE_VALUES as STRANGE

from . import native
from .native import Payload

KINDS = ("message", "edited_message", "callback_query", "message_reaction", "chat_member", "my_chat_member", "poll")


def updates(seed: int, number: int) -> list[Payload]:
    """Yields updates; none of them is a complete message."""
    generator = random.Random(seed)
    return [_damaged(generator) for _ in range(number)]


def _damaged(generator: random.Random) -> Payload:
    match generator.randrange(5):
        case 0:
            return {generator.choice(KINDS): generator.choice(STRANGE)}
        case 1:
            return {}
        case 2:
            return {f"unheard_of_{generator.randrange(9)}": generator.choice(STRANGE)}
        case 3:
            message = _message()
            message[generator.choice(["message_id", "from", "chat", "date"])] = generator.choice(STRANGE[:2])
            return {"message": message}
    message = _message()
    del message["text"]
    part = generator.choice(["photo", "document", "voice", "poll", "text", "forward_origin", "sticker"])
    return {"message": {**message, part: generator.choice([None, 1.5, [[]], [None], {"a": {}}])}}


def _message() -> Payload:
    user = native.user(7)
    return {"message_id": 1, "from": user, "chat": native.private(7), "date": native.now(), "text": "x"}
