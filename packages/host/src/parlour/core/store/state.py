"""State: small JSON values in scopes. The key of a scope contains runner, binding, bot, workspace and its own ids."""

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from parlour.core.encoding import dumps, loads
from parlour.core.journal import ANY, Delete, Insert, Journal, Select, Upsert, one_of, starts_with, where
from parlour.core.model.ids import ConversationId

from .tables import STATE

MAX_CACHED_KEYS = 4096
"""Number of computed scope keys that are cached."""


class StateScopes(dict[str, str]):
    """Scope keys of one run. A scope whose ids the event lacks is absent."""

    def __init__(self, keys: Mapping[str, str], conversation_id: ConversationId) -> None:
        super().__init__(keys)
        self.conversation_id = conversation_id


@lru_cache(maxsize=MAX_CACHED_KEYS)
def scope_key(*parts: str) -> str:
    return hashlib.sha256(dumps(parts).encode()).hexdigest()


def put(scopes: StateScopes, scope: str, name: str, value: Any, now: int) -> Insert:
    row: dict[str, Any] = {
        "scope_key": scopes[scope],
        "name": name,
        "scope": scope,
        "conversation_id": scopes.conversation_id if scope == "conversation" else "",
        "value": dumps(value),
        "updated_at": now,
    }
    return Insert(STATE, row, conflict=Upsert(("scope_key", "name"), ("value", "updated_at")))


def remove(scopes: StateScopes, scope: str, name: str) -> Delete:
    return Delete(STATE, where(scope_key=scopes[scope], name=name), expect=ANY)


class StateStore:
    """Reads state values."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def snapshot(self, scopes: StateScopes) -> dict[str, dict[str, Any]]:
        values: dict[str, dict[str, Any]] = {scope: {} for scope in scopes}
        if scopes:
            query = Select(
                STATE, where(scope_key=one_of(*scopes.values())), ("scope", "name", "value"), point_read=True
            )
            for row in await self._journal.read(query):
                values[row["scope"]][row["name"]] = loads(row["value"])
        return values

    async def get(self, key: str, name: str) -> tuple[bool, Any]:
        rows = await self._journal.read(
            Select(STATE, where(scope_key=key, name=name), ("value",), limit=1, point_read=True)
        )
        return (True, loads(rows[0]["value"])) if rows else (False, None)

    async def names(self, key: str, prefix: str, limit: int) -> list[str]:
        query = Select(STATE, where(scope_key=key, name=starts_with(prefix)), ("name",), order=("name",), limit=limit)
        return [row["name"] for row in await self._journal.read(query)]
