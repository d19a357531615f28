"""The configurations of plugins themselves, by the forms in their manifests. Secrets are sealed.

They are read when a plugin starts and when an operator looks at them, so nothing is cached.
"""

from typing import Any

from parlour.core.encoding import dumps, loads
from parlour.core.journal import Insert, Journal, Select, Statement, Unit, Upsert, where
from parlour.core.model.ids import PluginId
from parlour.core.model.ports import Clock
from parlour.core.store.tables import PLUGIN_CONFIGS


class PluginConfigs:
    """Reads and writes the values that operators gave."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock

    async def get(self, plugin_id: PluginId) -> dict[str, Any]:
        """Returns the stored values of a plugin; empty if it has none."""
        rows = await self._journal.read(Select(PLUGIN_CONFIGS, where(plugin_id=plugin_id), limit=1))
        return dict(loads(rows[0]["definition"])) if rows else {}

    async def put(self, plugin_id: PluginId, values: dict[str, Any], *extra_statements: Statement) -> None:
        """Stores the values of a plugin."""
        now = self._clock.now()
        row: dict[str, str | int] = {"plugin_id": plugin_id, "definition": dumps(values)}
        change = Insert(
            PLUGIN_CONFIGS,
            {**row, "created_at": now, "updated_at": now},
            conflict=Upsert(("plugin_id",), ("definition", "updated_at")),
        )
        await self._journal.commit(Unit("plugin_config.put", (change, *extra_statements)))
