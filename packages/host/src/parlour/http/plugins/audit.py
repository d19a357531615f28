"""Writes audit entries for changes of plugins. The change itself is made to files, so the entry is written after it."""

import re
from typing import Any

from parlour.core.access import audit
from parlour.core.access.audit_writer import AuditWriter
from parlour.core.model.plugin_manager import PluginInfo
from parlour.core.model.ports import Clock

from ..principals import Principal

_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]*@")


class PluginAudit:
    def __init__(self, log: AuditWriter, clock: Clock) -> None:
        self._log = log
        self._clock = clock

    async def record(
        self, principal: Principal, action: str, before: PluginInfo | None, after: PluginInfo | None
    ) -> None:
        """Adds the entry of a change that was made already; an entry that can't be written now waits for the
        database."""
        info = after or before
        assert info is not None
        now = self._clock.now()
        self._log.add(
            [audit.change_entry(principal.owner, action, info.plugin_id, _audit_view(before), _audit_view(after), now)]
        )
        await self._log.flush()


def _audit_view(info: PluginInfo | None) -> dict[str, Any] | None:
    if info is None:
        return None
    return {
        "version": info.version,
        "enabled": info.enabled,
        "granted": info.granted,
        "source": _CREDENTIALS.sub("", info.source),
        "sha256": info.sha256,
    }
