"""Sends the connected Host the newest status of each plugin as soon as it changes. It decides nothing."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from parlour.core.model.ids import PluginId
from parlour.core.model.plugin_manager import PluginInfo, PluginManifestReport
from parlour_sdk.values import dataclass

from ..store import InstalledVersion
from ..supervision.status import PluginStatus, PluginStatusFile
from ..supervision.supervisor import Supervisor

POLL_INTERVAL_SECONDS = 0.2
"""Seconds between checks during an installation, since the steps of a build are not announced."""
MAX_FACTS_BYTES = 256 * 1024
_EMPTY_MANIFEST = {"version": "", "generation": 0, "runners": [], "components": []}


@dataclass(slots=True)
class StatusChanges:
    """Numbers the changes of plugins, and holds the components that they have declared."""

    revision: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set at the next change; a new event follows."""
    _manifests: dict[PluginId, dict[str, Any]] = field(default_factory=dict)

    def announce(self) -> int:
        """Announces a change. Returns the revision at which a Host has seen the current state."""
        self.revision += 1
        self.changed.set()
        self.changed = asyncio.Event()
        return self.revision

    def on_discovered(self, plugin: InstalledVersion, report: PluginManifestReport) -> None:
        generation = self.manifest(plugin.plugin_id)["generation"] + 1
        manifest = {"version": plugin.version, "generation": generation, **asdict(report)}
        self._manifests[plugin.plugin_id] = manifest
        self.announce()

    def on_removed(self, plugin_id: PluginId) -> None:
        """Removes a plugin's components.

        Its generations keep counting, since it may be installed again before a Host has noticed.
        """
        self._manifests[plugin_id] = {**self.manifest(plugin_id), "runners": [], "components": []}
        self.announce()

    def manifest(self, plugin_id: PluginId) -> dict[str, Any]:
        return self._manifests.get(plugin_id, _EMPTY_MANIFEST)


@dataclass(slots=True)
class StatusBroadcast:
    """Streams the status of plugins when it changes."""

    changes: StatusChanges
    facts: Callable[[], list[PluginInfo]]
    supervisors: Callable[[], dict[PluginId, Supervisor]]
    _poller_count: int = 0

    def announce_change(self) -> int:
        """Announces a change. Returns the revision at which a Host has seen the current state."""
        return self.changes.announce()

    @contextlib.contextmanager
    def poll_changes(self) -> Iterator[None]:
        """Checks for changes periodically until the block ends."""
        self._poller_count += 1
        self.announce_change()
        try:
            yield
        finally:
            self._poller_count -= 1
            self.announce_change()

    def runners(self, plugin_id: PluginId) -> dict[str, Any]:
        return {name: value for name, value in self.changes.manifest(plugin_id).items() if name != "components"}

    def components(self, plugin_id: PluginId) -> dict[str, Any]:
        return {"components": self.changes.manifest(plugin_id)["components"]}

    async def watch(self) -> AsyncGenerator[dict[str, Any], None]:
        """Yields a part for each plugin that is new, changed or gone, and then the revision."""
        sent: dict[str, dict[str, Any]] = {}
        sent_revision = -1
        while True:
            revision, changed = self.changes.revision, self.changes.changed
            now = self._all()
            for plugin_id in sent.keys() - now.keys():
                yield {"gone": plugin_id}
            for plugin_id, each in now.items():
                if sent.get(plugin_id) != each:
                    yield {"told": each}
            if revision != sent_revision:
                yield {"revision": revision}
            sent, sent_revision = now, revision
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLL_INTERVAL_SECONDS if self._poller_count else None):
                    await changed.wait()

    def _all(self) -> dict[str, dict[str, Any]]:
        supervisors = self.supervisors()
        return {facts.plugin_id: self._status_update(facts, supervisors.get(facts.plugin_id)) for facts in self.facts()}

    def _status_update(self, facts: PluginInfo, supervisor: Supervisor | None) -> dict[str, Any]:
        return {
            "plugin": _limit_size(asdict(facts), facts),
            "running": supervisor is not None,
            "proven": supervisor is not None and supervisor.is_ready,
            "generation": self.changes.manifest(facts.plugin_id)["generation"],
        }


def _limit_size(description: dict[str, Any], facts: PluginInfo) -> dict[str, Any]:
    """Shortens the description of a plugin if it is too long.

    A frame that is too large would disconnect the Host from all plugins.
    """
    if len(to_json(description)) <= MAX_FACTS_BYTES:
        return description
    remark = f"its description has more than {MAX_FACTS_BYTES // 1024} KiB and is not shown"
    short = replace(facts, label=None, description=None, components=(), warnings=(remark,), reason=facts.reason[:4000])
    return asdict(replace(short, asked={}, granted={}) if len(to_json(asdict(short))) > MAX_FACTS_BYTES else short)


class BroadcastStatusFile(PluginStatusFile):
    """Publishes the status of plugins to commands on this machine and to the Host."""

    def __init__(self, path: Path, changes: StatusChanges) -> None:
        super().__init__(path)
        self._changes = changes

    def write(self, plugins: Mapping[str, PluginStatus]) -> None:
        super().write(plugins)
        self._changes.announce()
