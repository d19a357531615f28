"""Settings that can be changed while the Host runs. They are stored in the database and override file and environment.

Names are those of the settings, such as `retention.events_days`. Subscribers are notified immediately.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from parlour.core.encoding import dumps, loads
from parlour.core.journal import Insert, Journal, Select, Statement, Unit, Upsert, where
from parlour.core.store.tables import META

META_KEY = "settings"

SettingValues = Mapping[str, Any]
SettingsSubscriber = Callable[[SettingValues], None]


class LiveSettings:
    """Current values of the live settings, and their subscribers."""

    def __init__(self, journal: Journal, configured: SettingValues) -> None:
        """Starts with the values of file and environment; `configured` has every name that may be changed."""
        self._journal = journal
        self._configured = configured
        self._overrides: dict[str, Any] = {}
        self._subscribers: list[SettingsSubscriber] = []
        self._lock = asyncio.Lock()

    async def load(self) -> None:
        rows = await self._journal.read(Select(META, where(name=META_KEY), limit=1))
        stored = loads(rows[0]["value"]) if rows else {}
        self._overrides = {name: value for name, value in stored.items() if name in self._configured}

    async def reload(self) -> None:
        """Loads the values that another Host has stored, and notifies the subscribers if they are different."""
        async with self._lock:
            before = self._overrides
            await self.load()
        if self._overrides != before:
            self._notify()

    def values(self) -> dict[str, Any]:
        return {**self._configured, **self._overrides}

    def overridden_names(self) -> list[str]:
        """Returns the names of settings that override file and environment."""
        return sorted(self._overrides)

    def subscribe(self, subscriber: SettingsSubscriber) -> None:
        """Calls the subscriber with all values now, and after every change.

        Subscribers come after construction, since they are built with the loaded values.
        """
        self._subscribers.append(subscriber)
        subscriber(self.values())

    async def update(self, changes: SettingValues, entry: Callable[[SettingValues, SettingValues], Statement]) -> None:
        """Stores new values; None resets a setting. `entry` builds the audit entry from the values before and after."""
        async with self._lock:
            requested = {**self._overrides, **changes}
            overrides = {name: value for name, value in requested.items() if value is not None}
            before, after = self.values(), {**self._configured, **overrides}
            stored_row = Insert(
                META, {"name": META_KEY, "value": dumps(overrides)}, conflict=Upsert(("name",), ("value",))
            )
            changed_names = {name for name in after if after[name] != before[name]}
            audit_entry = entry(*({name: each[name] for name in sorted(changed_names)} for each in (before, after)))
            await self._journal.commit(Unit("settings.change", (stored_row, audit_entry)))
            self._overrides = overrides
        self._notify()

    def _notify(self) -> None:
        for subscriber in self._subscribers:
            subscriber(self.values())
