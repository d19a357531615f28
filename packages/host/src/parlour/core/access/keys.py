"""API keys: generated and shown once, stored as a digest. A revoked key fails on its next request."""

import contextlib
import hashlib
import secrets
from collections.abc import Sequence
from typing import Literal, get_args

from parlour.core.encoding import dumps, loads
from parlour.core.journal import ANY, GuardFailed, Insert, Journal, Row, Select, StorageFailed, Unit, Update, where
from parlour.core.model.ids import ApiKeyId
from parlour.core.model.ports import Clock, Ids
from parlour.core.store.tables import API_KEYS
from parlour_sdk.values import dataclass

from . import audit

Scope = Literal["admin", "operator", "viewer", "chat", "platform", "mcp", "worker"]
SCOPES: tuple[Scope, ...] = get_args(Scope)


@dataclass(frozen=True, slots=True)
class ApiKeyRecord:
    """An API key without its secret. Times are in milliseconds; 0 means never."""

    key_id: ApiKeyId
    name: str
    scope: Scope
    created_at: int
    expires_at: int
    revoked_at: int
    last_used_at: int
    labels: tuple[str, ...] = ()
    """Labels that a worker with this key may have."""
    runners: tuple[str, ...] = ()
    """Ids of runners that a worker with this key may execute; empty for any runner."""

    def is_valid(self, now: int) -> bool:
        return not self.revoked_at and (not self.expires_at or self.expires_at > now)


COMMAND_LINE_ACTOR = "command line"
"""Actor in the audit for keys that are created or revoked on the command line, which uses the database directly."""


USE_RECORD_INTERVAL_MILLISECONDS = 3600 * 1000
"""Milliseconds between two records of a key's last use."""


class ApiKeys:
    def __init__(self, journal: Journal, ids: Ids, clock: Clock) -> None:
        self._journal = journal
        self._ids = ids
        self._clock = clock

    async def create(
        self,
        name: str,
        scope: Scope,
        actor: str = COMMAND_LINE_ACTOR,
        expires_at: int = 0,
        labels: Sequence[str] = (),
        runners: Sequence[str] = (),
    ) -> tuple[str, ApiKeyRecord]:
        """Creates a key. Returns its secret, which can't be read again, and the record that is stored."""
        secret, now = f"parlour_{secrets.token_urlsafe(32)}", self._clock.now()
        bounds = (tuple(dict.fromkeys(labels)), tuple(dict.fromkeys(runners)))
        key = ApiKeyRecord(ApiKeyId(self._ids.new()), name, scope, now, expires_at, 0, 0, *bounds)
        values = {column: getattr(key, column) for column in ApiKeyRecord.__slots__}
        lists = {"labels": dumps(key.labels), "runners": dumps(key.runners)}
        insert = Insert(API_KEYS, {**values, **lists, "digest": _digest(secret)})
        fields: dict[str, object] = {"name": name, "scope": scope, "expires_at": expires_at}
        if scope == "worker":
            fields |= {"labels": list(key.labels), "runners": list(key.runners)}
        audit_entry = audit.change_entry(actor, "key.create", key.key_id, None, fields, now)
        await self._journal.commit(Unit("key.create", (insert, audit_entry)))
        return secret, key

    async def authenticate(self, secret: str) -> ApiKeyRecord | None:
        """Returns the key of a secret, or None if it is unknown, revoked or expired."""
        rows = await self._journal.read(Select(API_KEYS, where(digest=_digest(secret)), limit=1, point_read=True))
        if not rows:
            return None
        key, now = _key(rows[0]), self._clock.now()
        if not key.is_valid(now):
            return None
        if now - key.last_used_at >= USE_RECORD_INTERVAL_MILLISECONDS:
            await self._note_use(key, now)
        return key

    async def _note_use(self, key: ApiKeyRecord, now: int) -> None:
        """Records that the key is in use, so rarely that the cost does not matter.

        A storage failure is ignored here; the next write that matters reports it.
        """
        update = Update(API_KEYS, {"last_used_at": now}, where(key_id=key.key_id), expect=ANY)
        with contextlib.suppress(StorageFailed):
            await self._journal.commit(Unit("key.use", (update,)))

    async def get(self, key_id: ApiKeyId) -> ApiKeyRecord | None:
        rows = await self._journal.read(Select(API_KEYS, where(key_id=key_id), limit=1, point_read=True))
        return _key(rows[0]) if rows else None

    async def all(self) -> list[ApiKeyRecord]:
        return [_key(row) for row in await self._journal.read(Select(API_KEYS, order=("key_id",)))]

    async def revoke(self, key_id: ApiKeyId, actor: str = COMMAND_LINE_ACTOR) -> bool:
        """Revokes a key. Returns False if there is no such key or it was revoked before."""
        now = self._clock.now()
        statement = Update(API_KEYS, {"revoked_at": now}, where(key_id=key_id, revoked_at=0))
        audit_entry = audit.change_entry(actor, "key.revoke", key_id, {"revoked_at": 0}, {"revoked_at": now}, now)
        try:
            await self._journal.commit(Unit("key.revoke", (statement, audit_entry)))
        except GuardFailed:
            return False
        return True


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def _key(row: Row) -> ApiKeyRecord:
    values = {column: row[column] for column in ApiKeyRecord.__slots__}
    lists = {"labels": tuple(loads(row["labels"])), "runners": tuple(loads(row["runners"]))}
    return ApiKeyRecord(**{**values, **lists})
