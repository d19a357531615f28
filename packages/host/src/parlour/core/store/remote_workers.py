"""Statements and reads of remote workers: how they registered, and until when they count as active."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from parlour.core.encoding import dumps, loads
from parlour.core.journal import Condition, Insert, Journal, Row, Select, Update, where
from parlour.core.model.ids import NO_KEY, ApiKeyId, PluginId, RuntimeId
from parlour_sdk.values import dataclass

from .tables import RUNTIMES

ACTIVE, GONE = "active", "gone"
LEASE_SECONDS = 30.0
"""Seconds after which a lease that is not renewed expires, and a worker without heartbeats counts as gone."""


@dataclass(frozen=True, slots=True)
class RemoteWorker:
    """A registered remote worker."""

    runtime_id: RuntimeId
    plugin_id: PluginId
    status: str
    definition: Mapping[str, Any]
    """Values of its registration: labels, runners, slots, versions, providers, workspaces."""
    registered_at: int
    last_seen_at: int
    expires_at: int
    workspace_id: str = "default"
    key_id: ApiKeyId = NO_KEY
    """API key of a worker process on another machine; empty for the worker of a plugin."""

    @property
    def owner(self) -> str:
        """Plugin or API key to which it belongs, for the audit."""
        return self.plugin_id or f"key:{self.key_id}"

    @property
    def lease_seconds(self) -> float:
        """Seconds that its leases and its registration last without being renewed."""
        return float(self.definition.get("lease_seconds", LEASE_SECONDS))

    @property
    def instance(self) -> str:
        """Id of the worker's process; empty for the worker of a plugin."""
        return str(self.definition.get("instance", ""))

    @property
    def labels(self) -> frozenset[str]:
        return frozenset(self.definition["labels"])

    @property
    def runners(self) -> frozenset[str]:
        """Runners that it executes; empty means any."""
        return frozenset(self.definition["runners"])

    @property
    def slots(self) -> int:
        return int(self.definition["slots"])

    def extended(self, now: int) -> "RemoteWorker":
        """Returns the worker with its full time from now on."""
        return replace(self, last_seen_at=now, expires_at=now + int(self.lease_seconds * 1000))

    def to_dict(self) -> dict[str, Any]:
        """Returns the worker with the fields of the protocol."""
        timestamps = {
            "registered_at": self.registered_at,
            "last_seen_at": self.last_seen_at,
            "expires_at": self.expires_at,
        }
        return {"runtime_id": self.runtime_id, "status": self.status, **self.definition, **timestamps}


def insert(runtime: RemoteWorker) -> Insert:
    """Builds the statement that inserts a worker. It fails its guard if the id is in use."""
    return Insert(RUNTIMES, {"runtime_id": runtime.runtime_id, **_values(runtime)})


def update(previous: RemoteWorker, runtime: RemoteWorker) -> Update:
    """Builds the statement that updates a worker. It fails its guard if it was changed since it was read."""
    conditions = where(
        runtime_id=previous.runtime_id, plugin_id=previous.plugin_id, key_id=previous.key_id, status=previous.status
    )
    return Update(RUNTIMES, _values(runtime), conditions)


def record_seen(runtime: RemoteWorker, now: int, until: int) -> Update:
    """Builds the statement that records a sign of activity and extends the worker's expiry."""
    return Update(RUNTIMES, {"last_seen_at": now, "expires_at": until}, _is_active(runtime))


def mark_gone(runtime: RemoteWorker) -> Update:
    """Builds the statement that marks a worker as gone."""
    return Update(RUNTIMES, {"status": GONE}, _is_active(runtime))


def _is_active(runtime: RemoteWorker) -> tuple[Condition, ...]:
    return where(runtime_id=runtime.runtime_id, plugin_id=runtime.plugin_id, key_id=runtime.key_id, status=ACTIVE)


def _values(runtime: RemoteWorker) -> dict[str, str | int]:
    return {
        "workspace_id": runtime.workspace_id,
        "plugin_id": runtime.plugin_id,
        "key_id": runtime.key_id,
        "status": runtime.status,
        "definition": dumps(dict(runtime.definition)),
        "registered_at": runtime.registered_at,
        "last_seen_at": runtime.last_seen_at,
        "expires_at": runtime.expires_at,
    }


class RemoteWorkerStore:
    """Reads remote workers."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def get(self, runtime_id: RuntimeId) -> RemoteWorker | None:
        rows = await self._journal.read(Select(RUNTIMES, where(runtime_id=runtime_id), limit=1, point_read=True))
        return _from_row(rows[0]) if rows else None

    async def all(self) -> list[RemoteWorker]:
        return [_from_row(row) for row in await self._journal.read(Select(RUNTIMES, order=("runtime_id",)))]


def _from_row(row: Row) -> RemoteWorker:
    return RemoteWorker(
        row["runtime_id"],
        row["plugin_id"],
        row["status"],
        loads(row["definition"]),
        row["registered_at"],
        row["last_seen_at"],
        row["expires_at"],
        row["workspace_id"],
        row["key_id"],
    )
