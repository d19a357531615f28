"""Computes the authorization snapshot of a run. Grants are made only here, before the run starts, and never change.

effective access = manifest permissions ∩ policy ∩ (resources that the configuration selects ∪ that the policy grants)
∩ scope
"""

from collections.abc import Iterable, Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from typing import Any

from parlour.core.box.policy import NAMESPACE as BOX_NAMESPACE
from parlour.core.box.policy import SKILL_NAMESPACE, SKILL_TOOLS, BoxPolicy
from parlour.core.config.form_validation import selected_resources, with_defaults
from parlour.core.encoding import dumps, loads
from parlour.core.model.agent import Binding
from parlour.core.model.chats import PLATFORM_SURFACE
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ids import NO_BINDING, NO_CONVERSATION, NO_RUNNER, ConversationId, PluginId, RunnerId
from parlour.core.model.memory import NAMESPACE as MEMORY_NAMESPACE
from parlour.core.model.memory import MemoryPolicy
from parlour.core.model.pipeline import Pipeline
from parlour.core.model.preview import as_judged
from parlour.core.model.providers import Providers
from parlour.core.model.resource_policy import ResourcePolicy, Selection
from parlour.core.model.runner import RunnerDescriptor
from parlour.core.model.storage_owners import storage_owners
from parlour.core.store.state import StateScopes, scope_key
from parlour_sdk.protocol.host_actions import Permission
from parlour_sdk.protocol.manifest import AgentRunnerManifest, PluginPermissions
from parlour_sdk.protocol.rules.permissions import (
    MODEL_OPERATIONS,
    RESOURCE_OPERATIONS,
    ResourceKind,
    granted_actions,
    granted_apis,
    literals,
    permitted_operations,
    plugin_storage_areas,
)
from parlour_sdk.values import dataclass

Operations = Mapping[str, frozenset[str]]
"""Ids of granted resources, each with the operations that are allowed on it."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Lists what a caller may do. Outside a run that is what the operator granted the plugin."""

    plugin_id: PluginId
    permissions: frozenset[Permission]
    runner_id: RunnerId = NO_RUNNER
    apis: frozenset[str] = frozenset()
    scopes: StateScopes = field(default_factory=lambda: StateScopes({}, NO_CONVERSATION))
    resources: Mapping[str, Operations] = field(default_factory=dict)
    """Granted resources by kind: models, tools, knowledge_bases, skills, files."""
    every_resource: bool = False
    """True outside a run, where a permission applies to all resources of its kind."""
    storage: Mapping[str, str] = field(default_factory=dict)
    """Storage areas that may be used, each with its owner."""
    actions: tuple[str, ...] = ()
    """Patterns of platform actions that are allowed."""
    conversation_id: ConversationId = NO_CONVERSATION
    thread_id: str = ""
    other_conversations: bool = False

    def has(self, permission: Permission) -> bool:
        return permission in self.permissions

    def allows(self, kind: str, name: str, operation: str) -> bool:
        return self.every_resource or operation in self.resources.get(kind, {}).get(name, frozenset())

    def allows_action(self, action: str) -> bool:
        return any(fnmatchcase(action, pattern) for pattern in self.actions)

    def encode(self) -> str:
        """Serializes the grant for the ledger."""
        return dumps(
            {
                "apis": sorted(self.apis),
                "permissions": sorted(f"{key}:{literal}" for key, literal in self.permissions),
                "state_scopes": sorted(self.scopes),
                "resources": {
                    kind: {name: sorted(operations) for name, operations in sorted(names.items())}
                    for kind, names in self.resources.items()
                    if names
                },
                "storage": sorted(self.storage),
                "actions": list(self.actions),
                "other_conversations": self.other_conversations,
            }
        )


def compute(
    event: RecordedEvent,
    binding: Binding,
    descriptor: RunnerDescriptor,
    providers: Providers,
    authority: EventEnvelope | None = None,
) -> Grant:
    """Computes the grant of a new run.

    `authority` is the event of the sender on whose behalf the run acts, if that is not the run's own event.
    """
    manifest, permissions, policy = descriptor.manifest, descriptor.permissions, binding.agent.resource_policy
    scopes = _state_scopes(event, binding, descriptor)
    storage = storage_owners(event.envelope.workspace_id, descriptor.plugin_id, binding.binding_id)
    areas: dict[str, str] = {area: storage[area] for area in manifest.permissions.storage if area in policy.storage}
    return Grant(
        plugin_id=descriptor.plugin_id,
        permissions=permissions,
        runner_id=descriptor.runner_id,
        apis=granted_apis(manifest, permissions, scopes, areas),
        scopes=scopes,
        resources=_resources(as_judged(authority or event.envelope), binding, descriptor, providers),
        storage=areas,
        actions=granted_actions(manifest),
        conversation_id=event.conversation_id,
        thread_id=event.envelope.thread_id,
        other_conversations=policy.cross_conversation_history and not event.envelope.is_preview,
    )


def from_snapshot(snapshot: str, event: RecordedEvent, binding: Binding, descriptor: RunnerDescriptor) -> Grant:
    """Rebuilds a grant from its snapshot in the ledger, for a run that starts or continues after it was granted."""
    stored = loads(snapshot)
    scopes = _state_scopes(event, binding, descriptor)
    storage = storage_owners(event.envelope.workspace_id, descriptor.plugin_id, binding.binding_id)
    return Grant(
        plugin_id=descriptor.plugin_id,
        permissions=frozenset(
            (key, literal) for key, _, literal in (each.partition(":") for each in stored["permissions"])
        ),
        runner_id=descriptor.runner_id,
        apis=frozenset(stored["apis"]),
        scopes=StateScopes(
            {name: scopes[name] for name in stored["state_scopes"] if name in scopes}, event.conversation_id
        ),
        resources={
            kind: {name: frozenset(operations) for name, operations in names.items()}
            for kind, names in stored["resources"].items()
        },
        storage={area: storage[area] for area in stored["storage"]},
        actions=tuple(stored["actions"]),
        conversation_id=event.conversation_id,
        thread_id=event.envelope.thread_id,
        other_conversations=stored["other_conversations"],
    )


def plugin_grant(plugin_id: PluginId, granted: PluginPermissions, workspace_id: str = "default") -> Grant:
    """Returns what a plugin's components may use outside a run: what the operator granted at installation."""
    storage = storage_owners(workspace_id, plugin_id, NO_BINDING)
    areas: dict[str, str] = {area: storage[area] for area in plugin_storage_areas(granted)}
    return Grant(plugin_id, literals(granted), every_resource=True, storage=areas, other_conversations=False)


def available_apis(grant: Grant) -> dict[str, bool]:
    return dict.fromkeys(sorted(grant.apis), True)


def _resources(
    sender: EventEnvelope, binding: Binding, descriptor: RunnerDescriptor, providers: Providers
) -> dict[str, Operations]:
    manifest, agent = descriptor.manifest, binding.agent
    selected = selected_resources(manifest.config_schema, with_defaults(manifest.config_schema, agent.runner_config))
    granted: dict[str, Operations] = {}
    for kind, operations in permitted_operations(manifest).items():
        policy = agent.resource_policy.granted_names(kind, sender)
        selected_names = selected.get(kind, frozenset())
        if kind == "tools":
            selected_names |= _server_tools(agent.resource_policy, providers)
        denied = agent.resource_policy.denied_names(kind, sender)
        granted[kind] = {
            name: available & set(operations)
            for name, available in _available_resources(kind, providers)
            if (name in policy or name in selected_names) and name not in denied
        }
        if kind == "tools":
            box, memories = BoxPolicy.decode(agent.box_policy), MemoryPolicy.decode(agent.memory_policy)
            authoring = SKILL_TOOLS if box.author_skills and _is_author(manifest) else ()
            uses_own = box.tools or memories.is_on or authoring
            offered = _offered_tools(providers) if uses_own else frozenset()
            granted[kind] = _with_own_tools(granted[kind], BOX_NAMESPACE, box.tool_names & offered, operations)
            granted[kind] = _with_own_tools(granted[kind], MEMORY_NAMESPACE, memories.tool_names & offered, operations)
            granted[kind] = _with_own_tools(granted[kind], SKILL_NAMESPACE, offered.intersection(authoring), operations)
    return granted if binding.pipeline is None else _within_pipeline(granted, binding.pipeline, providers)


def _within_pipeline(granted: dict[str, Operations], pipeline: Pipeline, providers: Providers) -> dict[str, Operations]:
    """Returns what is granted without the extensions that the pipeline leaves out."""
    lists = {"plugin": Selection.parse(pipeline.plugins), "mcp": Selection.parse(pipeline.mcp_servers)}
    skills = Selection.parse(pipeline.skills)
    left_out = {
        tool.tool_name
        for tool in providers.tools.resources()
        if tool.source in lists and tool.tool_name.partition(".")[0] not in lists[tool.source]
    }
    return {
        kind: {
            name: operations
            for name, operations in names.items()
            if not (kind == "tools" and name in left_out) and not (kind == "skills" and name not in skills)
        }
        for kind, names in granted.items()
    }


def _is_author(manifest: AgentRunnerManifest) -> bool:
    return manifest.capabilities.skill_authoring and "author" in manifest.permissions.skills


def _offered_tools(providers: Providers) -> frozenset[str]:
    return frozenset(each.tool_name for each in providers.tools.resources())


def _with_own_tools(
    granted: Operations, namespace: str, tool_names: Iterable[str], operations: Iterable[str]
) -> Operations:
    """Returns the tools with those that a policy of the agent names. Only this policy grants tools of the namespace."""
    others = {name: each for name, each in granted.items() if not name.startswith(f"{namespace}.")}
    return {**others, **{name: frozenset(operations) for name in tool_names}}


def _server_tools(policy: ResourcePolicy, providers: Providers) -> frozenset[str]:
    """Returns the names of all tools of the MCP servers that the policy names."""
    if not policy.mcp_servers:
        return frozenset()
    servers = Selection.parse(policy.mcp_servers)
    tool_names = (each.tool_name for each in providers.tools.resources() if each.source == "mcp")
    return frozenset(name for name in tool_names if name.partition(".")[0] in servers)


def _available_resources(kind: ResourceKind, providers: Providers) -> Iterable[tuple[str, frozenset[str]]]:
    match kind:
        case "models":
            return ((each.model_id, MODEL_OPERATIONS[each.type]) for each in providers.models.resources())
        case "tools":
            names = [each.tool_name for each in providers.tools.resources()]
        case "knowledge_bases":
            names = [each.kb_id for each in providers.knowledge.resources()]
        case "skills":
            names = [each.skill_name for each in providers.skills.resources()]
        case "files":
            names = [each.file_id for each in providers.files.resources()]
    return ((name, RESOURCE_OPERATIONS[kind]) for name in names)


def _state_scopes(event: RecordedEvent, binding: Binding, descriptor: RunnerDescriptor) -> StateScopes:
    """Returns the state scopes of a run. A scope whose ids the event does not have is left out."""
    policy = binding.agent.state_policy
    envelope = event.envelope
    identity = (descriptor.runner_id, binding.binding_id, envelope.bot_id, envelope.workspace_id)
    ids_by_scope: dict[str, tuple[Any, ...] | None] = {
        "conversation": (event.conversation_id, envelope.thread_id),
        "actor": (envelope.actor.type, envelope.actor.id) if envelope.actor.id else None,
        "subject": _subject_ids(envelope),
        "binding": (),
        "runner": (),
    }
    keys: dict[str, str] = {}
    for scope in policy.scopes if policy.enabled else ():
        ids = ids_by_scope.get(scope)
        if ids is None:
            continue
        owner = (descriptor.runner_id, "", "", envelope.workspace_id) if scope == "runner" else identity
        keys[scope] = scope_key(scope, *owner, *ids)
    return StateScopes(keys, event.conversation_id)


def _subject_ids(event: EventEnvelope) -> tuple[str, ...] | None:
    """Returns the ids of the subject. An API caller names it freely, so each caller has subjects of its own."""
    if not event.subject.id:
        return None
    is_api_subject = event.source == "api" and event.surface != PLATFORM_SURFACE and event.run_request is None
    return (event.subject.type, event.subject.id, *((event.principal,) if is_api_subject else ()))
