"""Builds agents from request bodies, or raises a Problem that names an invalid field; serializes agents without their
secrets."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import cast

from parlour.core.box import session_template
from parlour.core.box.policy import BoxPolicy
from parlour.core.config import form_validation, secret_fields
from parlour.core.message_policy.references import PolicyReferences
from parlour.core.model import resource_policy
from parlour.core.model.agent import Agent, StatePolicy
from parlour.core.model.ids import AgentId
from parlour.core.model.memory import MemoryPolicy
from parlour.core.model.resource_policy import ResourcePolicy
from parlour.core.runs.runner_registry import RunnerRegistry
from parlour.core.secrets import SecretBox

from ..crud import check_same_id
from ..errors import Problem
from ..message_policies.endpoints import check_policy
from .schemas import (
    AgentBody,
    AgentChange,
    AgentResponse,
    BoxPolicyResponse,
    MemoryPolicyResponse,
    Names,
    ResourceKind,
    ResourcePolicyResponse,
    ResourceRule,
    ToolRuleResponse,
)


class AgentMapper:
    def __init__(self, registry: RunnerRegistry, references: PolicyReferences, secrets: SecretBox) -> None:
        self._registry = registry
        self._references = references
        self._secrets = secrets

    def to_agent(self, agent_id: AgentId, body: AgentBody, before: Agent | None = None) -> Agent:
        """Builds an agent after checking that its runner exists and accepts its configuration, prefilled from the
        form's defaults.

        Secrets of the configuration are sealed; a secret that is sent as its mask keeps its stored value.
        """
        if isinstance(body, AgentChange):
            check_same_id("agent_id", agent_id, body.agent_id)
        descriptor = self._registry.get(body.runner_id)
        if descriptor is None:
            message = f"no runner '{body.runner_id}' is installed; GET /api/v1/runners lists them"
            fields = [{"field": "runner_id", "message": message}]
            raise Problem(422, "unknown_runner", f"runner_id: {message}", {"fields": fields})
        form = descriptor.manifest.config_schema
        config = secret_fields.merge_masked(
            form, body.runner_config, before.runner_config if before is not None else {}
        )
        unchanged = {name for name, value in config.items() if value is not body.runner_config[name]}
        submitted = {name: "" if name in unchanged else value for name, value in config.items()}
        problems = form_validation.validate(form, submitted)
        if problems:
            fields = [{"field": f"runner_config.{name}", "message": message} for name, message in problems]
            first_problem = fields[0]
            raise Problem(
                422, "invalid_argument", f"{first_problem['field']}: {first_problem['message']}", {"fields": fields}
            )
        check_box_policy(BoxPolicy.decode(body.box_policy.model_dump()))
        check_policy(body.message_policy, self._references)
        fields_of_body = body.model_dump(
            exclude={"resource_policy", "state_policy", "event_types", "runner_config", "message_policy", "published"}
            | {"worker_labels"}
        )
        fields_of_body["memory_policy"] = body.memory_policy.model_dump(exclude_defaults=True)
        fields_of_body["tool_policy"] = tuple(fields_of_body["tool_policy"])
        fields_of_body["delivery_policy"] = body.delivery_policy.non_default_fields()
        return Agent(
            agent_id=agent_id,
            **fields_of_body,
            runner_config=secret_fields.seal_secrets(form, form_validation.with_defaults(form, config), self._secrets),
            resource_policy=ResourcePolicy.decode(body.resource_policy.model_dump()),
            state_policy=StatePolicy(body.state_policy.enabled, tuple(body.state_policy.scopes)),
            event_types=tuple(body.event_types),
            published=tuple(dict.fromkeys(body.published)),
            worker_labels=tuple(dict.fromkeys(body.worker_labels)),
            message_policy=body.message_policy.given_fields() if body.message_policy is not None else {},
        )

    def to_response(self, agent: Agent) -> AgentResponse:
        """Returns the agent without its secrets, for responses and the audit."""
        descriptor = self._registry.get(agent.runner_id)
        form = descriptor.manifest.config_schema if descriptor is not None else None
        return {
            "agent_id": agent.agent_id,
            "name": agent.name,
            "runner_id": agent.runner_id,
            "description": agent.description,
            "runner_config": secret_fields.mask_secrets(form, agent.runner_config),
            "resource_policy": _resource_policy(agent.resource_policy),
            "state_policy": {"enabled": agent.state_policy.enabled, "scopes": list(agent.state_policy.scopes)},
            "delivery_policy": agent.delivery_policy,
            "approval_policy": agent.approval_policy,
            "tool_policy": [cast("ToolRuleResponse", entry) for entry in agent.tool_policy],
            "box_policy": _box_policy(BoxPolicy.decode(agent.box_policy)),
            "memory_policy": _memory_policy(MemoryPolicy.decode(agent.memory_policy)),
            "restart_policy": agent.restart_policy,
            "timeout_seconds": agent.timeout_seconds,
            "stale_after": agent.stale_after,
            "conversation_ttl": agent.conversation_ttl,
            "journal_calls": agent.journal_calls,
            "event_types": list(agent.event_types),
            "message_policy": agent.message_policy,
            "published": list(agent.published),
            "on_workers": agent.on_workers,
            "worker_labels": list(agent.worker_labels),
            "enabled": agent.enabled,
        }


def check_box_policy(policy: BoxPolicy) -> None:
    """Raises Problem if the policy contradicts its profile, or its template can't be filled in."""
    problems = policy.problems()
    if template_problem := session_template.find_problem(policy.session_template):
        problems.append(("session_template", template_problem))
    if problems:
        fields = [{"field": f"box_policy.{name}", "message": message} for name, message in problems]
        first = fields[0]
        raise Problem(422, "invalid_argument", f"{first['field']}: {first['message']}", {"fields": fields})


def _box_policy(policy: BoxPolicy) -> BoxPolicyResponse:
    return {
        "tools": list(policy.tools),
        "read_only": policy.read_only,
        "network": policy.network,
        "profile": policy.profile,
        "session_template": policy.session_template,
        "ask": list(policy.ask),
        "author_skills": policy.author_skills,
        "host_path": policy.host_path,
    }


def _memory_policy(policy: MemoryPolicy) -> MemoryPolicyResponse:
    return cast("MemoryPolicyResponse", asdict(policy))


def _resource_policy(policy: ResourcePolicy) -> ResourcePolicyResponse:
    return {
        "models": _names(policy.models),
        "tools": _names(policy.tools),
        "knowledge_bases": _names(policy.knowledge_bases),
        "skills": _names(policy.skills),
        "files": _names(policy.files),
        "plugins": _names(policy.plugins),
        "mcp_servers": _names(policy.mcp_servers),
        "storage": list(policy.storage),
        "cross_conversation_history": policy.cross_conversation_history,
        "rules": [_rule(rule) for rule in policy.rules],
    }


def _rule(rule: resource_policy.Rule) -> ResourceRule:
    sender = rule.when
    return {
        "when": {
            "users": list(sender.users),
            "groups": list(sender.groups),
            "roles": list(sender.roles),
            "chat_type": sender.chat_type,
        },
        "allow": _names_by_kind(rule.allow),
        "deny": _names_by_kind(rule.deny),
    }


def _names(names: resource_policy.Names) -> Names:
    return names if names == "*" else list(names)


def _names_by_kind(selections: Mapping[str, resource_policy.Names]) -> dict[ResourceKind, Names]:
    return {cast("ResourceKind", kind): _names(names) for kind, names in selections.items()}
