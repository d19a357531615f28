"""Derives what a run or a plugin is granted from the permissions and capabilities of its manifest."""

from collections.abc import Collection, Mapping
from typing import Literal

from pydantic import BaseModel

from ..host_actions import HOST_ACTIONS, Permission
from ..manifest import AgentRunnerManifest, PluginPermissions
from ..processes import ProcessPermission

ResourceKind = Literal["models", "tools", "knowledge_bases", "skills", "files"]
MODEL_OPERATIONS: dict[str, frozenset[str]] = {
    "llm": frozenset(("invoke", "stream")),
    "embedding": frozenset(("embed",)),
    "rerank": frozenset(("rerank",)),
}
"""Operations that a model of each type supports."""
RESOURCE_OPERATIONS: dict[ResourceKind, frozenset[str]] = {
    "tools": frozenset(("detail", "call")),
    "knowledge_bases": frozenset(("list", "retrieve")),
    "skills": frozenset(("list", "activate", "author")),
    "files": frozenset(("config", "knowledge")),
}
"""Operations that every resource of a kind supports."""
API_PERMISSIONS: dict[str, Permission] = {
    action.api: action.permission for action in HOST_ACTIONS.values() if action.api and action.permission is not None
}
"""APIs of a run that need exactly one permission, with that permission."""


def literals(permissions: BaseModel) -> frozenset[Permission]:
    """Returns the single permissions that a runner's or plugin's manifest asks for.

    Which program a plugin may start is checked by the action itself.
    """
    return frozenset(
        (key, "start" if isinstance(literal, ProcessPermission) else literal)
        for key, values in permissions
        if isinstance(values, list)
        for literal in values
    )


def granted_apis(
    manifest: AgentRunnerManifest,
    permissions: Collection[Permission],
    scopes: Collection[str],
    areas: Collection[str],
) -> frozenset[str]:
    """Returns the APIs of a run that has these permissions, state scopes and storage areas."""
    apis = {api for api, permission in API_PERMISSIONS.items() if permission in permissions}
    apis |= {"state"} if scopes else set()
    apis |= {"storage"} if areas else set()
    apis |= {"steering_pull"} if manifest.capabilities.steering else set()
    apis |= {"platform_action"} if granted_actions(manifest) else set()
    return frozenset(apis)


def granted_actions(manifest: AgentRunnerManifest) -> tuple[str, ...]:
    """Returns the patterns of platform actions that a run may request."""
    return tuple(manifest.permissions.platform_actions) if manifest.capabilities.platform_actions else ()


def permitted_operations(manifest: AgentRunnerManifest) -> Mapping[ResourceKind, tuple[str, ...]]:
    """Returns the operations that a runner may use on each kind of resource.

    A kind that the runner asks for nothing of is left out. Tools, knowledge bases and skills need the capability.
    """
    requested, capabilities = manifest.permissions, manifest.capabilities
    permitted: dict[ResourceKind, tuple[str, ...]] = {
        "models": tuple(requested.models),
        "tools": tuple(requested.tools) if capabilities.tool_calling else (),
        "knowledge_bases": tuple(requested.knowledge_bases) if capabilities.knowledge_retrieval else (),
        "skills": tuple(requested.skills) if capabilities.skills or capabilities.skill_authoring else (),
        "files": tuple(requested.files),
    }
    return {kind: operations for kind, operations in permitted.items() if operations}


def plugin_storage_areas(granted: PluginPermissions) -> tuple[str, ...]:
    """Returns the storage areas that a plugin may use outside a run, where there is no binding."""
    return tuple(area for area in granted.storage if area != "binding")
