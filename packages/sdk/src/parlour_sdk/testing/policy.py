"""The access settings of a test: replacements for a manifest's permissions, and the state scopes."""

from collections.abc import Mapping, Sequence
from typing import Any

from parlour_sdk.plugin import LoadedPlugin
from parlour_sdk.protocol.manifest import AgentRunnerManifest, Capabilities, Permissions, PluginPermissions

from ..values import dataclass
from .grants import Grant, grant_outside_run


@dataclass(frozen=True, slots=True)
class AccessOverrides:
    permissions: Permissions | None
    capabilities: Capabilities | None
    plugin_permissions: PluginPermissions | None
    state_scopes: tuple[str, ...]
    other_conversations: bool

    @classmethod
    def from_arguments(
        cls,
        permissions: Permissions | Mapping[str, Any] | None,
        capabilities: Capabilities | Mapping[str, bool] | None,
        plugin_permissions: PluginPermissions | Mapping[str, Any] | None,
        state_scopes: Sequence[str],
        other_conversations: bool,
    ) -> "AccessOverrides":
        return cls(
            None if permissions is None else Permissions.model_validate(permissions),
            None if capabilities is None else Capabilities.model_validate(capabilities),
            None if plugin_permissions is None else PluginPermissions.model_validate(plugin_permissions),
            tuple(state_scopes),
            other_conversations,
        )

    def manifest(self, loaded: LoadedPlugin, runner: str) -> AgentRunnerManifest:
        manifest = AgentRunnerManifest.model_validate(loaded.runner_manifests[runner])
        replaced = {"permissions": self.permissions, "capabilities": self.capabilities}
        return manifest.model_copy(update={key: value for key, value in replaced.items() if value is not None})

    def plugin_grant(self, loaded: LoadedPlugin) -> Grant:
        return grant_outside_run(self.plugin_permissions or loaded.manifest.spec.permissions)
