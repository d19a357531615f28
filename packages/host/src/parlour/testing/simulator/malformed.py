"""Damages payloads in ways that no platform should and any may: wrong types, missing fields, odd values."""

import copy
import random
from typing import Any, Final

STRANGE_VALUES: Final[tuple[Any, ...]] = (
    None, True, -1, 1.5, 10**400, "", "x" * 300, [], [[]], {}, {"a": {}}, "\x00", [None],
)  # fmt: skip


def damaged(payload: dict[str, Any], generator: random.Random) -> dict[str, Any]:
    """Returns a copy in which one field, at any depth, is missing or has a strange value."""
    whole = copy.deepcopy(payload)
    part, fields = whole, whole
    while True:
        name = generator.choice(sorted(fields))
        value = part[name]
        if not isinstance(value, dict) or not value or generator.random() < 0.3:
            break
        part = fields = value
    if generator.random() < 0.3:
        del part[name]
    else:
        part[name] = generator.choice(STRANGE_VALUES)
    return whole
