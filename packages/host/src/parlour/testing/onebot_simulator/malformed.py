"""Generates frames that no implementation should send, from a seed: broken JSON, wrong types,
missing fields, odd segments.
"""

import json
import random
from typing import Any

from . import native

STRANGE: tuple[Any, ...] = (None, True, -1, 1.5, 10**400, "", "x" * 300, [], [[]], {}, {"a": {}}, "\x00", "[CQ:at,qq=")
BROKEN: tuple[str | bytes, ...] = (
    "",
    "{",
    "null",
    "[]",
    "42",
    '"text"',
    b"\xff\xfe\x00",
    '{"post_type": NaN}',
    "[" * 5000,
    '{"a":' * 5000,
    '{"post_type":"message","message":"\\ud83d"}',
    "{'single': 'quotes'}",
)


def frames(seed: int, number: int, self_id: int) -> list[str | bytes]:
    """Yields frames; none of them is a complete message."""
    chance = random.Random(seed)
    return [_frame(chance, self_id) for _ in range(number)]


def _frame(chance: random.Random, self_id: int) -> str | bytes:
    if chance.random() < 0.2:
        return chance.choice(BROKEN)
    return json.dumps(_damaged(chance, self_id))


def _damaged(chance: random.Random, self_id: int) -> Any:
    """Returns a valid event with one relevant mistake."""
    match chance.randrange(6):
        case 0:
            event = native.message(self_id, chance.randrange(10**6), 7, [native.text("x")])
            event[chance.choice(["message", "user_id", "message_type", "time"])] = chance.choice(STRANGE[:2])
        case 1:
            event = native.message(self_id, chance.randrange(10**6), 7, [chance.choice(STRANGE)])
        case 2:
            segment = {
                "type": chance.choice(["image", "at", "reply", "face", "text"]),
                "data": chance.choice(STRANGE[:2]),
            }
            event = native.message(self_id, chance.randrange(10**6), 7, [segment], group_id=8)
        case 3:
            event = native.heartbeat(self_id, 60)
            event[chance.choice(["time", "interval", "status", "meta_event_type"])] = chance.choice(STRANGE)
        case 4:
            event = native.notice(self_id, chance.choice(["group_ban", "group_recall", "friend_add", ""]))
        case _:
            event = {"post_type": chance.choice(STRANGE), "self_id": chance.choice(STRANGE)}
    return event
