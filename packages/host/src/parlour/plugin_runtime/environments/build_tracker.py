"""Tracks which plugins' environments are being built, and the output of the builds. `environment` builds them."""

from collections import Counter, deque
from pathlib import Path

from parlour.core.model.ids import PluginId
from parlour.isolation.subprocesses import OnLine, ignore_line

from ..packages.requirements import Requirements
from .environment import Environments

MAX_BUILD_LINES = 200


class BuildTracker:
    """Builds environments and keeps the output per plugin."""

    def __init__(self, environments: Environments) -> None:
        self._environments = environments
        self._active: Counter[str] = Counter()
        self._lines: dict[str, deque[str]] = {}

    def active(self) -> set[str]:
        return {plugin_id for plugin_id, count in self._active.items() if count}

    def lines(self, plugin_id: PluginId) -> list[str]:
        """Returns the output of the plugin's last build."""
        return list(self._lines.get(plugin_id, ()))

    async def ensure_environment(
        self, plugin_id: PluginId, requirements: Requirements, on_line: OnLine = ignore_line
    ) -> Path:
        """Returns the interpreter for the requirements, after a build if necessary, and passes on its output."""
        if self._environments.is_built(requirements):
            return await self._environments.ensure_environment(requirements)
        lines = self._lines[plugin_id] = deque(maxlen=MAX_BUILD_LINES)

        def report_line(line: str) -> None:
            lines.append(line)
            on_line(line)

        self._active[plugin_id] += 1
        try:
            return await self._environments.ensure_environment(requirements, report_line)
        except OSError as error:
            report_line(str(error))
            raise
        finally:
            self._active[plugin_id] -= 1
