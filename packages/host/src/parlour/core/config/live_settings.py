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
        kept = loads(rows[0]["value"]) if rows else {}
        self._overrides = {name: value for name, value in kept.items() if name in self._configured}

    def values(self) -> dict[str, Any]:
        return {**self._configured, **self._overrides}

    def overridden_names(self) -> list[str]:
        """Returns the names of settings that override file and environment."""
        return sorted(self._overrides)

    def subscribe(self, follower: SettingsSubscriber) -> None:
        """Calls the subscriber with all values now, and after every change."""
        self._subscribers.append(follower)
        follower(self.values())

    async def update(self, wishes: SettingValues, entry: Callable[[SettingValues, SettingValues], Statement]) -> None:
        """Stores new values; None resets a setting. `entry` builds the audit entry from the values before and after."""
        async with self._lock:
            wanted = {**self._overrides, **wishes}
            changed = {name: value for name, value in wanted.items() if value is not None}
            before, after = self.values(), {**self._configured, **changed}
            kept = Insert(META, {"name": META_KEY, "value": dumps(changed)}, conflict=Upsert(("name",), ("value",)))
            told = {name for name in after if after[name] != before[name]}
            audited = entry(*({name: each[name] for name in sorted(told)} for each in (before, after)))
            await self._journal.commit(Unit("settings.change", (kept, audited)))
            self._overrides = changed
        for follower in self._subscribers:
            follower(self.values())
