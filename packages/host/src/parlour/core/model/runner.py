"""Describes a runner that a plugin offers."""

from dataclasses import dataclass
from functools import cached_property

from parlour_sdk.protocol.host_actions import Permission
from parlour_sdk.protocol.manifest import AgentRunnerManifest
from parlour_sdk.protocol.rules.permissions import literals

from .ids import PluginId, RunnerId


@dataclass(frozen=True)
class RunnerDescriptor:
    """A runner with its plugin, version and manifest."""

    runner_id: RunnerId
    plugin_id: PluginId
    plugin_version: str
    manifest: AgentRunnerManifest

    @cached_property
    def permissions(self) -> frozenset[Permission]:
        """Permissions that the manifest asks for."""
        return literals(self.manifest.permissions)
