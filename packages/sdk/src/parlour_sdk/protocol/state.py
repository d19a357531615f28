"""Small JSON values in the scopes of a run."""

from typing import Any, Literal

from pydantic import JsonValue

from .base import Key, Strict, Tolerant
from .calls import RunCall

StateScope = Literal["conversation", "actor", "subject", "runner", "binding"]
CHECKPOINT_KEY = "runner.compaction.checkpoint"


class StateGet(RunCall):
    """Asks for one value."""

    scope: StateScope
    key: Key


class StateSet(RunCall):
    """Sets one value, at most 256 KiB."""

    scope: StateScope
    key: Key
    value: JsonValue


class StateDelete(RunCall):
    """Forgets one value."""

    scope: StateScope
    key: Key


class StateList(RunCall):
    """Asks which keys there are."""

    scope: StateScope
    prefix: str | None = None


class StateValue(Tolerant):
    """One value; a value may be null, so `found` says whether there is one."""

    found: bool
    value: Any = None


class StateKeys(Strict):
    """At most 100 keys."""

    keys: list[str]
    has_more: bool = False


class CompactionCheckpoint(Tolerant):
    """What a runner keeps under CHECKPOINT_KEY in the conversation scope once it has summarized its history."""

    schema_version: int
    summary: str
    covers_until: str
    """The cursor of the last transcript item that the summary covers."""
    tokens_before: int
    created_at: int
    conversation_id: str
