"""The registry of available runners. It validates the manifests that plugins declare, each on its own."""

import asyncio
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import ValidationError

from parlour.core.model.ids import PluginId, RunnerId
from parlour.core.model.runner import RunnerDescriptor
from parlour_sdk.protocol.manifest import AgentRunnerDiscovery, AgentRunnerManifest

logger = logging.getLogger(__name__)


def missing_runner_message(runner_id: RunnerId) -> str:
    """Returns the message for a runner that is not available."""
    reason = "its plugin is not installed, is disabled or did not start"
    return f"runner '{runner_id}' is not there: {reason}; GET /plugins tells how it is doing"


class RunnerRegistry:
    """The runners of all started plugins, by id."""

    def __init__(self) -> None:
        self._descriptors: dict[RunnerId, RunnerDescriptor] = {}
        self._starting_plugins: set[PluginId] = set()
        self._changed = asyncio.Event()

    @contextmanager
    def mark_starting(self, plugin_ids: Iterable[PluginId]) -> Iterator[None]:
        """Marks plugins as starting; callers that need one of their runners wait for it."""
        self._starting_plugins = set(plugin_ids)
        try:
            yield
        finally:
            self._starting_plugins = set()
            self._notify()

    def is_starting(self, runner_id: RunnerId) -> bool:
        return runner_id.removeprefix("plugin:").rpartition("/")[0] in self._starting_plugins

    async def wait_started(self, runner_id: RunnerId) -> None:
        """Returns when the runner is available or is no longer expected to start."""
        while self.is_starting(runner_id):
            await self._changed.wait()

    def get(self, runner_id: RunnerId) -> RunnerDescriptor | None:
        return self._descriptors.get(runner_id)

    def all(self) -> list[RunnerDescriptor]:
        return [self._descriptors[runner_id] for runner_id in sorted(self._descriptors)]

    def replace_plugin(self, plugin_id: PluginId, version: str, discoveries: list[Any]) -> list[str]:
        """Registers the runners that `list_agent_runners` returned; returns a warning per runner that was skipped."""
        self.remove_plugin(plugin_id)
        warnings: list[str] = []
        for item in discoveries:
            try:
                descriptor = _describe(plugin_id, version, AgentRunnerDiscovery.model_validate(item))
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                field = ".".join(str(part) for part in first["loc"])
                warnings.append(f"a runner of plugin {plugin_id} is skipped: {field}: {first['msg']}")
                continue
            except ValueError as error:
                warnings.append(f"a runner of plugin {plugin_id} is skipped: {error}")
                continue
            self._descriptors[descriptor.runner_id] = descriptor
        self._starting_plugins.discard(plugin_id)
        self._notify()
        for warning in warnings:
            logger.warning("%s", warning)
        return warnings

    def remove_plugin(self, plugin_id: PluginId) -> None:
        remaining = {each.runner_id: each for each in self._descriptors.values() if each.plugin_id != plugin_id}
        self._descriptors = remaining

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _describe(plugin_id: PluginId, version: str, discovery: AgentRunnerDiscovery) -> RunnerDescriptor:
    claimed_plugin_id = f"{discovery.plugin_author}/{discovery.plugin_name}"
    if claimed_plugin_id != plugin_id:
        raise ValueError(f"it claims to belong to plugin {claimed_plugin_id}")
    expected = RunnerId(f"plugin:{plugin_id}/{discovery.runner_name}")
    manifest = AgentRunnerManifest.model_validate(discovery.manifest)
    if manifest.id != expected:
        raise ValueError(f"id: it must be {expected}, not {manifest.id}")
    return RunnerDescriptor(expected, plugin_id, version, manifest)
