"""Compares the names that users, plugins and stored data rely on with the committed snapshot."""

import json

from tools import public_names


def test_public_names_are_those_of_the_snapshot() -> None:
    snapshot = json.loads(public_names.SNAPSHOT.read_text(encoding="utf-8"))
    current = json.loads(public_names.to_text(public_names.collect()))
    for kind, names in snapshot.items():
        assert current[kind] == names, f"{kind} changed; if that is meant: python -m tools.public_names"
