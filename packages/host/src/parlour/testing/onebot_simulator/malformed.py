"""Generates frames that no implementation should send, from a seed: broken JSON, wrong types,
missing fields, odd segments.
"""

import json
import random
from typing import Any

from parlour.testing.simulator import STRANGE_VALUES

from . import native

STRANGE = (*STRANGE_VALUES, "[CQ:at,qq=")
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
    generator = random.Random(seed)
    return [_frame(generator, self_id) for _ in range(number)]


def _frame(generator: random.Random, self_id: int) -> str | bytes:
    if generator.random() < 0.2:
        return generator.choice(BROKEN)
    return json.dumps(_damaged(generator, self_id))


def _damaged(generator: random.Random, self_id: int) -> Any:
    """Returns a valid event with one relevant mistake."""
    match generator.randrange(6):
        case 0:
            event = native.message(self_id, generator.randrange(10**6), 7, [native.text("x")])
            event[generator.choice(["message", "user_id", "message_type", "time"])] = generator.choice(STRANGE[:2])
        case 1:
            event = native.message(self_id, generator.randrange(10**6), 7, [generator.choice(STRANGE)])
        case 2:
            segment = {
                "type": generator.choice(["image", "at", "reply", "face", "text"]),
                "data": generator.choice(STRANGE[:2]),
            }
            event = native.message(self_id, generator.randrange(10**6), 7, [segment], group_id=8)
        case 3:
            event = native.heartbeat(self_id, 60)
            event[generator.choice(["time", "interval", "status", "meta_event_type"])] = generator.choice(STRANGE)
        case 4:
            event = native.notice(self_id, generator.choice(["group_ban", "group_recall", "friend_add", ""]))
        case _:
            event = {"post_type": generator.choice(STRANGE), "self_id": generator.choice(STRANGE)}
    return event
