"""Builds grants for tests: everything that the manifest asks for and that the fake Host has."""

from collections.abc import Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from typing import Any, get_args

from pydantic import BaseModel

from parlour_sdk.protocol.access import Permission, literals
from parlour_sdk.protocol.manifest import AgentRunnerManifest, Capabilities, Permissions, PluginPermissions

from ..values import dataclass

Operations = Mapping[str, frozenset[str]]
StateKey = tuple[str, ...]
"""A scope, and the ids that tie it to a run."""
MODEL_OPERATIONS = {
    "llm": frozenset(("invoke", "stream")),
    "embedding": frozenset(("embed",)),
    "rerank": frozenset(("rerank",)),
}
_APIS: dict[str, Permission] = {
    "history_page": ("history", "page"),
    "history_search": ("history", "search"),
    "event_get": ("events", "get"),
    "event_page": ("events", "page"),
    "artifact_metadata": ("artifacts", "metadata"),
    "artifact_read": ("artifacts", "read"),
    "artifact_create": ("artifacts", "create"),
}


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
    there_are: Mapping[str, Operations],
    scopes: Mapping[str, StateKey],
    conversation_id: str,
    other_conversations: bool,
) -> Grant:
    asked, able = manifest.permissions, manifest.capabilities
    permissions = literals(asked)
    actions = tuple(asked.platform_actions) if able.platform_actions else ()
    apis = {api for api, permission in _APIS.items() if permission in permissions}
    apis |= {"state"} if scopes else set()
    apis |= {"storage"} if asked.storage else set()
    apis |= {"steering_pull"} if able.steering else set()
    apis |= {"platform_action"} if actions else set()
    return Grant(
        permissions=permissions,
        apis=frozenset(apis),
        scopes=scopes,
        resources={
            kind: {name: operations & set(getattr(asked, kind)) for name, operations in names.items()}
            for kind, names in there_are.items()
            if getattr(asked, kind) and _is_usable(kind, able)
        },
        storage=frozenset(asked.storage),
        actions=actions,
        conversation_id=conversation_id,
        other_conversations=other_conversations,
    )


def grant_outside_run(granted: PluginPermissions) -> Grant:
    areas = frozenset(area for area in granted.storage if area != "binding")
    return Grant(literals(granted), every_resource=True, storage=areas)


def all_permissions() -> Permissions:
    """Returns all permissions, for a runner that a test creates without a manifest."""
    return Permissions(**_all_literals(Permissions), platform_actions=["*"])


def all_plugin_permissions() -> PluginPermissions:
    """Returns all permissions outside a run, for a component that a test creates without a plugin."""
    return PluginPermissions(**_all_literals(PluginPermissions), events=["*"])


def all_capabilities() -> Capabilities:
    return Capabilities(**dict.fromkeys(Capabilities.model_fields, True))


def _is_usable(kind: str, able: Capabilities) -> bool:
    """Returns whether a runner gets this kind of resource: tools, knowledge and skills need the capability."""
    needs = {"tools": able.tool_calling, "knowledge_bases": able.knowledge_retrieval, "skills": able.skills}
    return needs.get(kind, True)


def _all_literals(model: type[BaseModel]) -> dict[str, Any]:
    choices = {name: get_args(get_args(each.annotation)[0]) for name, each in model.model_fields.items()}
    return {name: list(literal) for name, literal in choices.items() if literal}
