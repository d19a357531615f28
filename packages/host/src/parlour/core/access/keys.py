"""API keys: made once, shown once, kept as a digest. A revoked key fails on its next request."""

import hashlib
import secrets
from dataclasses import dataclass
from typing import Literal, get_args

from parlour.core.facts.tables import API_KEYS
from parlour.core.journal import GuardFailed, Insert, Journal, Row, Select, Unit, Update, where
from parlour.core.ports import Clock, Ids

from . import audit

Scope = Literal["admin", "operator", "viewer", "chat"]
SCOPES: tuple[Scope, ...] = get_args(Scope)


@dataclass(frozen=True, slots=True)
class Key:
    key_id: str
    name: str
    scope: Scope
    created_at: int
    revoked_at: int


COMMAND_LINE = "command line"
"""Who makes and revokes keys: whoever may use the database itself."""


class ApiKeys:
    def __init__(self, journal: Journal, ids: Ids, clock: Clock) -> None:
        self._journal = journal
        self._ids = ids
        self._clock = clock

    async def create(self, name: str, scope: Scope) -> str:
        """The key itself; it can't be read again."""
        secret = f"parlour_{secrets.token_urlsafe(32)}"
        key_id, now = self._ids.new(), self._clock.now()
        row: dict[str, str | int] = {
            "key_id": key_id,
            "name": name,
            "scope": scope,
            "digest": _digest(secret),
            "created_at": now,
            "expires_at": 0,
            "revoked_at": 0,
        }
        made = audit.admin(COMMAND_LINE, "key.create", key_id, None, {"name": name, "scope": scope}, now)
        await self._journal.commit(Unit("key.create", (Insert(API_KEYS, {**row}), made)))
        return secret

    async def authenticate(self, secret: str) -> Key | None:
        rows = await self._journal.read(Select(API_KEYS, where(digest=_digest(secret)), limit=1, few=True))
        if not rows or rows[0]["revoked_at"]:
            return None
        expires_at = rows[0]["expires_at"]
        return None if expires_at and expires_at <= self._clock.now() else _key(rows[0])

    async def all(self) -> list[Key]:
        return [_key(row) for row in await self._journal.read(Select(API_KEYS, order=("key_id",)))]

    async def revoke(self, key_id: str) -> bool:
        """False when there is no such key to revoke."""
        now = self._clock.now()
        statement = Update(API_KEYS, {"revoked_at": now}, where(key_id=key_id, revoked_at=0))
        gone = audit.admin(COMMAND_LINE, "key.revoke", key_id, {"revoked_at": 0}, {"revoked_at": now}, now)
        try:
            await self._journal.commit(Unit("key.revoke", (statement, gone)))
        except GuardFailed:
            return False
        return True


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def _key(row: Row) -> Key:
    return Key(row["key_id"], row["name"], row["scope"], row["created_at"], row["revoked_at"])
