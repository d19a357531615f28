"""A valid request for every action of the table, and a world in which everything is granted."""

import functools
from typing import Any

from parlour.core.model.agent import StatePolicy
from parlour.core.model.providers import EmptyProvider, EmptyTools, Providers
from parlour.core.model.resource_policy import ResourcePolicy
from parlour_sdk.protocol.host_actions import HOST_ACTIONS as ACTIONS
from parlour_sdk.protocol.host_actions import HostAction as Action
from parlour_sdk.protocol.manifest import Permissions, PluginPermissions
from parlour_sdk.protocol.resources import (
    FileResource,
    KnowledgeBaseResource,
    ModelResource,
    SkillResource,
    ToolResource,
)
from parlour_sdk.protocol.usage import Usage

from ..support import DISCOVERY, PuppetRun, World, make_agent

SAMPLES: dict[str, Any] = {
    "scope": "conversation",
    "key": "k",
    "value": "v",
    "area": "plugin",
    "content_base64": "aGk=",
    "model_id": "model",
    "messages": [{"role": "user", "content": "hi"}],
    "query": "hello",
    "documents": ["one"],
    "texts": ["one"],
    "tool_name": "tool",
    "kb_id": "base",
    "skill_name": "skill",
    "file_key": "file",
    "event_id": "event",
    "artifact_id": "artifact",
    "artifact_type": "file",
    "action": "message.send",
    "event": {},
    "target_run_id": "another-run",
    "result": {"run_id": "another-run", "type": "message.delta", "data": {}},
    "status": "completed",
    "runtime_id": "runtime",
    "lease": "lease",
    "bot_id": "bot",
    "target_type": "private",
    "target_id": "ann",
    "chain": [{"type": "Plain", "text": "hi"}],
    "chat_type": "private",
    "chat_id": "chat",
    "message_id": "1",
    "from_chat_type": "private",
    "from_chat_id": "chat",
    "to_chat_type": "private",
    "to_chat_id": "chat",
    "reaction": "+1",
    "group_id": "group",
    "user_id": "ann",
    "name": "new name",
    "request_id": "request",
    "approve": True,
    "filename": "a.txt",
    "file_id": "file",
    "conversation_id": "conversation",
    "title": "Write a.txt",
    "process": "goose",
    "command": "goose",
    "process_id": "process",
    "collection": "vectors",
    "vector": [1.0],
    "vectors": [{"vector_id": "v", "vector": [1.0]}],
}
PROGRAM = {"name": "goose", "commands": ["goose"], "write": ["workspace"], "network": True}
MODEL_TYPES = {"invoke_rerank": "rerank-model", "invoke_embedding": "embedding-model"}


def request(action: Action, run_id: str | None, **more: Any) -> dict[str, Any]:
    """Builds the smallest valid request of an action."""
    fields = action.request.model_fields
    needed = {name: SAMPLES[name] for name, field in fields.items() if field.is_required() and name in SAMPLES}
    if action.name in MODEL_TYPES:
        needed["model_id"] = MODEL_TYPES[action.name]
    if action.name == "run_create":
        needed["agent_id"] = "agent"
    head: dict[str, Any] = {"call_id": "call:1"} if run_id is None else {"call_id": f"{run_id}:1", "run_id": run_id}
    return {**head, **needed, **more}


class Models(EmptyProvider):
    def resources(self) -> list[ModelResource]:
        kinds = {"model": "llm", "rerank-model": "rerank", "embedding-model": "embedding", "secret-model": "llm"}
        return [ModelResource.model_validate({"model_id": name, "name": name, "type": kinds[name]}) for name in kinds]

    def parameters(self, model_id: str) -> dict[str, Any]:
        return {}

    def max_usage(self, request: Any) -> Usage:
        return Usage(prompt_tokens=100, completion_tokens=100)


class Tools(EmptyTools):
    def resources(self) -> list[ToolResource]:
        return [ToolResource(tool_name=name, source="native") for name in ("tool", "secret-tool")]


class Knowledge(EmptyProvider):
    def resources(self) -> list[KnowledgeBaseResource]:
        return [KnowledgeBaseResource(kb_id=name, name=name) for name in ("base", "secret-base")]


class Skills(EmptyProvider):
    def resources(self) -> list[SkillResource]:
        return [SkillResource(skill_name=name) for name in ("skill", "secret-skill")]


class Files(EmptyProvider):
    def resources(self) -> list[FileResource]:
        return [FileResource(file_id=name, name=name) for name in ("file", "secret-file")]


PROVIDERS = Providers(models=Models(), tools=Tools(), knowledge=Knowledge(), skills=Skills(), files=Files())
GRANTED = ResourcePolicy(
    models=("model", "rerank-model", "embedding-model"),
    tools=("tool",),
    knowledge_bases=("base",),
    skills=("skill",),
    files=("file",),
    storage=("plugin", "binding", "workspace"),
)
CAPABLE = dict.fromkeys(
    (
        "streaming",
        "tool_calling",
        "knowledge_retrieval",
        "skills",
        "platform_actions",
        "steering",
    ),
    True,
)


@functools.cache
def every_literal(entity: type[Permissions] | type[PluginPermissions]) -> dict[str, list[str]]:
    """Returns every permission that a manifest can request, by key."""
    schema = entity.model_json_schema()["properties"]
    free = {"platform_actions": ["*"], "events": ["*"], "network": [], "processes": [PROGRAM]}
    return {key: schema[key]["items"].get("enum") or free.get(key, []) for key in entity.model_fields}


def discovery(**permissions: list[str]) -> dict[str, Any]:
    """Discovery of a runner that requests all permissions, except those overridden here."""
    arguments = {**every_literal(Permissions), **permissions}
    manifest = {**DISCOVERY["manifest"], "capabilities": CAPABLE, "permissions": arguments}
    return {**DISCOVERY, "manifest": manifest}


def plugin_permissions(**permissions: list[str]) -> PluginPermissions:
    return PluginPermissions.model_validate({**every_literal(PluginPermissions), **permissions})


async def world(
    discovered: dict[str, Any] | None = None,
    granted: PluginPermissions | None = None,
    policy: ResourcePolicy = GRANTED,
    scopes: tuple[str, ...] = ("conversation", "actor", "subject", "binding", "runner"),
) -> World:
    permissions = granted if granted is not None else plugin_permissions()
    return await World.open(
        make_agent(resource_policy=policy, state_policy=StatePolicy(scopes=scopes)),
        discovery=discovered or discovery(),
        providers=PROVIDERS,
        plugin_grants=lambda plugin_id: permissions,
    )


async def start_run(made: World) -> PuppetRun:
    await made.say("hi")
    return await made.plugins.next_run()


IN_RUN = [action for action in ACTIONS.values() if action.where != "plugin"]
OUTSIDE = [action for action in ACTIONS.values() if action.where != "run"]
