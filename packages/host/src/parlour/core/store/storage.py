"""Storage: binary values by area, owner and name, for data that is too large for state. The caller enforces quotas."""

from collections.abc import Mapping
from typing import Final, Protocol

from parlour.core.journal import ANY, Delete, Insert, Journal, Select, Statement, Unit, Upsert, starts_with, where
from parlour.core.model.event import PREVIEW_WORKSPACE
from parlour.core.model.ids import NO_BINDING, PluginId, RunId
from parlour.core.model.ports import Clock
from parlour.core.model.storage_owners import storage_owners

from . import ledger
from .tables import PLUGIN_CONFIGS, STORAGE

Quotas = Mapping[str, int]
MEBIBYTE = 1024 * 1024
VECTORS: Final = "vectors"
"""Area of the vectors that the Host keeps for plugins; the names are `collection/id`."""
VECTOR_COLLECTIONS: Final = "vector_collections"
"""Area with one value per collection of vectors: what is in it."""
PLUGIN_AREAS: Final = ("plugin", VECTORS, VECTOR_COLLECTIONS)
"""Areas whose owner is the plugin."""
DEFAULT_QUOTAS: Quotas = {"plugin": 100 * MEBIBYTE, "binding": 100 * MEBIBYTE, "workspace": 1024 * MEBIBYTE}
"""Quotas in bytes per owner of an area."""


class EffectfulRun(Protocol):
    """The run that a write belongs to."""

    @property
    def run_id(self) -> RunId: ...

    def mark_effect(self) -> bool:
        """Records that the run has an effect; returns whether this prevents repeating the run."""
        ...


class Storage:
    """Reads and writes storage values."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock

    async def get(self, area: str, owner: str, name: str) -> bytes | None:
        query = Select(STORAGE, where(area=area, owner=owner, name=name), ("value",), limit=1)
        rows = await self._journal.read(query)
        return bytes(rows[0]["value"]) if rows else None

    async def used_bytes(self, area: str, owner: str, except_name: str) -> int:
        """Returns the bytes of the owner's values, except the value named `except_name`."""
        rows = await self._journal.read(Select(STORAGE, where(area=area, owner=owner), ("name", "size_bytes")))
        return sum(int(row["size_bytes"]) for row in rows if row["name"] != except_name)

    async def names(self, area: str, owner: str, prefix: str, limit: int) -> list[str]:
        condition = where(area=area, owner=owner, name=starts_with(prefix))
        rows = await self._journal.read(Select(STORAGE, condition, ("name",), order=("name",), limit=limit))
        return [str(row["name"]) for row in rows]

    async def set(self, area: str, owner: str, name: str, value: bytes, run: EffectfulRun | None) -> None:
        now = self._clock.now()
        row: dict[str, str | int | bytes] = {
            "area": area,
            "owner": owner,
            "name": name,
            "value": value,
            "size_bytes": len(value),
            "updated_at": now,
        }
        upsert = Upsert(("area", "owner", "name"), ("value", "size_bytes", "updated_at"))
        await self._write("storage.set", Insert(STORAGE, {**row}, conflict=upsert), run, now)

    async def delete(self, area: str, owner: str, name: str, run: EffectfulRun | None) -> None:
        removal = Delete(STORAGE, where(area=area, owner=owner, name=name), expect=ANY)
        await self._write("storage.delete", removal, run, self._clock.now())

    async def delete_plugin_data(self, plugin_id: PluginId, workspace_id: str = "default") -> None:
        """Deletes the configuration and all values of a plugin, also of its bindings and of previews. Values of the
        workspace area stay.
        """
        areas = [Delete(PLUGIN_CONFIGS, where(plugin_id=plugin_id), expect=ANY)]
        for workspace in (workspace_id, PREVIEW_WORKSPACE):
            owners = storage_owners(workspace, plugin_id, NO_BINDING)
            areas += [
                *(Delete(STORAGE, where(area=area, owner=owners["plugin"]), expect=ANY) for area in PLUGIN_AREAS),
                Delete(STORAGE, where(area="binding", owner=starts_with(owners["binding"])), expect=ANY),
            ]
        await self._journal.commit(Unit("storage.forget", tuple(areas)))

    async def _write(self, unit: str, statement: Statement, run: EffectfulRun | None, now: int) -> None:
        """Commits a write. A write of a run succeeds only while the run is running, and counts as its effect."""
        if run is None:
            await self._journal.commit(Unit(unit, (statement,)))
            return
        progress = ledger.update_progress(run.run_id, now, has_effects=run.mark_effect())
        await self._journal.commit(Unit(unit, (progress, statement)))
