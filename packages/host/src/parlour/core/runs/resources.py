"""Describes the granted resources to a runner: the frozen grant, and the providers' description of each resource."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from parlour.core.access.grants import Grant
from parlour.core.encoding import dumps
from parlour.core.model.agent import Agent
from parlour.core.model.approval_policy import ApprovalPolicy, is_granted
from parlour.core.model.event import EventEnvelope
from parlour.core.model.providers import Providers
from parlour.core.model.resource_policy import in_platform_group
from parlour.core.platforms.actions import supported_actions
from parlour_sdk.protocol.form import FormItem

ResourceData = dict[str, Any]


def describe_resources(
    grant: Grant, providers: Providers, platform_actions: Sequence[str] = (), approvals: str = ""
) -> ResourceData:
    """Returns the fields of `AgentResources`; a kind without granted resources is left out.

    `approvals` identifies what decides whether calls of tools need an approval.
    """
    described: ResourceData = {"storage": {f"{area}_storage": True for area in grant.storage}}
    available: dict[str, tuple[str, Callable[[], Iterable[BaseModel]]]] = {
        "models": ("model_id", providers.models.resources),
        "tools": ("tool_name", providers.tools.resources),
        "knowledge_bases": ("kb_id", providers.knowledge.resources),
        "skills": ("skill_name", providers.skills.resources),
        "files": ("file_id", providers.files.resources),
    }
    for kind, operations in grant.resources.items():
        if operations:
            key, resources = available[kind]
            granted = [each for each in resources() if getattr(each, key) in operations]
            described[kind] = [_describe_resource(each, operations[getattr(each, key)]) for each in granted]
    for tool in described.get("tools", ()):
        if "version" in tool:
            tool["version"] += approvals
    if grant.actions:
        described["platform_capabilities"] = list(grant.actions)
    if platform_actions:
        described["platform_actions"] = list(platform_actions)
    return described


def approvals_version(agent: Agent, event: EventEnvelope) -> str:
    """Returns a text that is the same as long as the same calls of tools need an approval."""
    group = "-preview" if event.is_preview else "-group" if in_platform_group(event) else ""
    if not agent.tool_policy and not agent.box_policy:
        return group
    return f"{group}-{_hash([agent.tool_policy, agent.box_policy])[:16]}"


def permitted_actions(grant: Grant, event: EventEnvelope, agent: Agent, apis: Collection[str]) -> list[str]:
    """Returns the platform actions that a run may request where it answers: the runner's permission, the agent's policy
    and the platform all allow them.
    """
    if not grant.actions or not agent.approval_policy or not event.bot_id:
        return []
    policy = ApprovalPolicy.decode(agent.approval_policy)
    return [
        name
        for name in supported_actions(apis)
        if is_granted(name, grant.actions) and policy.rule(name).decision != "deny"
    ]


def _describe_resource(resource: BaseModel, operations: Iterable[str]) -> dict[str, Any]:
    fields = resource.model_dump(exclude_none=True)
    if "operations" in type(resource).model_fields:
        fields["operations"] = sorted(operations)
    return fields


def static_refs(
    config_schema: list[FormItem], config: Mapping[str, Any], resources: ResourceData
) -> dict[str, dict[str, str]]:
    """Returns hashes that stay the same while the prompt, the tools and the resources do."""
    prompts = [config.get(item.name) for item in config_schema if item.type == "prompt-editor"]
    parts = {
        "prompt": prompts,
        "tools": resources.get("tools"),
        "resources": {kind: items for kind, items in resources.items() if kind != "storage"},
    }
    return {name: {"hash": _hash(part), "version": "1"} for name, part in parts.items() if part}


def _hash(part: Any) -> str:
    return hashlib.sha256(dumps(part).encode()).hexdigest()[:32]
