"""Generates events that no homeserver should deliver and that any may."""

import random
from typing import Any

_VALUES: list[Any] = [None, True, -1, 2**70, 1.5, "", "text", [], [[]], {}, {"a": [{}]}, "\ud800", "\u0000", "x" * 5000]
_KINDS = [
    "m.room.message",
    "m.reaction",
    "m.room.redaction",
    "m.room.member",
    "m.room.encrypted",
    "m.odd/kind",
    7,
    None,
]
_SENDER = "@mallory:elsewhere.test"


def _deep(layers: int) -> Any:
    return {"deeper": [_deep(layers - 1)]} if layers else "the end"


def events(seed: int, number: int) -> list[Any]:
    chance = random.Random(seed)
    return [_event(chance, each) for each in range(number)]


def _event(chance: random.Random, number: int) -> Any:
    if chance.random() < 0.1:
        return chance.choice(_VALUES)
    event = {
        "type": chance.choice(_KINDS),
        "event_id": f"$malformed-{number}",
        "sender": _SENDER,
        "origin_server_ts": 1,
        "content": _content(chance),
    }
    for name in chance.sample(list(event), chance.randint(0, 2)):
        event[name] = chance.choice(_VALUES)
    if chance.random() < 0.2:
        del event[chance.choice(list(event))]
    if chance.random() < 0.2:
        event["state_key"] = chance.choice([_SENDER, *_VALUES])
    return event


def _content(chance: random.Random) -> Any:
    """Returns content that is never a readable message."""
    relation = {"rel_type": chance.choice(["m.replace", "m.thread", "m.annotation", 3]), "event_id": "$nowhere"}
    content = {
        "msgtype": chance.choice(["m.odd", "m.image", 5, None]),
        "body": chance.choice(_VALUES),
        "url": chance.choice(["mxc://", "mxc://nowhere/nothing", "https://example.com", 3]),
        "m.relates_to": chance.choice([relation, *_VALUES]),
        "m.mentions": chance.choice(_VALUES),
        "m.new_content": chance.choice(_VALUES),
        "membership": chance.choice(["odd", 4]),
    }
    if chance.random() < 0.1:
        content["deep"] = _deep(chance.choice([20, 30, 120, 200]))
    return {name: value for name, value in content.items() if chance.random() < 0.7}
