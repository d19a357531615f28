"""Builds grants for tests: everything that the manifest asks for and that the fake Host has."""

from collections.abc import Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from typing import Any, get_args

from pydantic import BaseModel

from parlour_sdk.protocol.host_actions import Permission
from parlour_sdk.protocol.manifest import AgentRunnerManifest, Capabilities, Permissions, PluginPermissions
from parlour_sdk.protocol.processes import ProcessPermission
from parlour_sdk.protocol.rules.permissions import (
    granted_actions,
    granted_apis,
    literals,
    permitted_operations,
    plugin_storage_areas,
)

from ..values import dataclass

Operations = Mapping[str, frozenset[str]]
StateKey = tuple[str, ...]
"""A scope, and the ids that tie it to a run."""


@dataclass(frozen=True, slots=True)
class Grant:
    permissions: frozenset[Permission]
    apis: frozenset[str] = frozenset()
    scopes: Mapping[str, StateKey] = field(default_factory=dict)
    resources: Mapping[str, Operations] = field(default_factory=dict)
    every_resource: bool = False
    """True outside a run, where a permission covers all resources."""
    storage: frozenset[str] = frozenset()
    actions: tuple[str, ...] = ()
    conversation_id: str = ""
    other_conversations: bool = False

    def allows(self, kind: str, name: str, operation: str) -> bool:
        return self.every_resource or operation in self.resources.get(kind, {}).get(name, frozenset())

    def allows_action(self, action: str) -> bool:
        return any(fnmatchcase(action, pattern) for pattern in self.actions)


def grant_for_run(
    manifest: AgentRunnerManifest,
    available: Mapping[str, Operations],
    scopes: Mapping[str, StateKey],
    conversation_id: str,
    other_conversations: bool,
) -> Grant:
    permissions, areas = literals(manifest.permissions), frozenset(manifest.permissions.storage)
    return Grant(
        permissions=permissions,
        apis=granted_apis(manifest, permissions, scopes, areas),
        scopes=scopes,
        resources={
            kind: {name: able & set(operations) for name, able in available[kind].items()}
            for kind, operations in permitted_operations(manifest).items()
            if kind in available
        },
        storage=areas,
        actions=granted_actions(manifest),
        conversation_id=conversation_id,
        other_conversations=other_conversations,
    )


def grant_outside_run(granted: PluginPermissions) -> Grant:
    return Grant(literals(granted), every_resource=True, storage=frozenset(plugin_storage_areas(granted)))


def all_permissions() -> Permissions:
    """Returns all permissions, for a runner that a test creates without a manifest."""
    return Permissions(**_all_literals(Permissions), platform_actions=["*"])


def all_plugin_permissions() -> PluginPermissions:
    """Returns all permissions outside a run, for a component that a test creates without a plugin."""
    programs = ProcessPermission(name="any", commands=["*"], write=["workspace"], network=True)
    return PluginPermissions(**_all_literals(PluginPermissions), events=["*"], processes=[programs])


def all_capabilities() -> Capabilities:
    return Capabilities(**dict.fromkeys(Capabilities.model_fields, True))


def _all_literals(model: type[BaseModel]) -> dict[str, Any]:
    choices = {name: get_args(get_args(each.annotation)[0]) for name, each in model.model_fields.items()}
    return {name: list(literal) for name, literal in choices.items() if literal}
