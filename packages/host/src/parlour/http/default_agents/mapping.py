"""Builds default agents from request bodies, or raises a Problem that names an invalid field; serializes them with
names."""

import re
from typing import Any

from parlour.core.config.agents import AgentRepository
from parlour.core.config.bots import BotRepository
from parlour.core.config.default_agents import SCOPE_COLUMNS, DefaultAgent, ScopeDefaults
from parlour.core.model.default_scope import REQUIRED_FIELDS, DefaultScope
from parlour.core.model.ids import AgentId
from parlour.core.platforms.port import AdapterCatalogue

from ..errors import Problem, invalid_field
from .schemas import DefaultAgentBody, DefaultAgentResponse

CHAT_PATTERN = re.compile(r"(?:[^/:]+/)?(?:private|group):.+", re.DOTALL)
CHANNEL_PATTERN = re.compile(r"(?:private|group):.+", re.DOTALL)


class DefaultAgentMapper:
    def __init__(self, agents: AgentRepository, bots: BotRepository, catalogue: AdapterCatalogue) -> None:
        self._agents = agents
        self._bots = bots
        self._catalogue = catalogue

    def to_place(self, body: DefaultAgentBody) -> DefaultScope:
        """Builds the place that the body names. Raises a Problem that names an invalid field."""
        required = REQUIRED_FIELDS[body.scope]
        for name in SCOPE_COLUMNS:
            if bool(getattr(body, name)) != (name in required):
                expected = ", ".join(required) or "nothing else"
                raise invalid_field(name, f"the scope {body.scope} is named by {expected}")
        self._check_place(body)
        return DefaultScope(body.scope, body.platform, body.bot_id, body.chat, body.thread_id, body.actor_id)

    def check_agent(self, body: DefaultAgentBody) -> None:
        if self._agents.get(body.agent_id) is None:
            raise invalid_field("agent_id", f"there is no agent '{body.agent_id}'; GET /api/v1/agents lists them")

    def _check_place(self, body: DefaultAgentBody) -> None:
        if body.bot_id and self._bots.get(body.bot_id) is None:
            raise invalid_field("bot_id", f"there is no bot '{body.bot_id}'; GET /api/v1/bots lists them")
        adapters = self._catalogue.manifests()
        if body.platform and body.platform not in adapters:
            raise invalid_field("platform", f"there is no platform '{body.platform}'; there are {', '.join(adapters)}")
        if body.scope == "channel" and not CHANNEL_PATTERN.fullmatch(body.chat):
            raise invalid_field("chat", "write a channel as private:<id> or group:<id>, such as group:42")
        if body.chat and not CHAT_PATTERN.fullmatch(body.chat):
            raise invalid_field(
                "chat", "write it as GET /api/v1/conversations shows it, such as group:42 or 10001/group:42"
            )

    def to_response(self, default: DefaultAgent) -> DefaultAgentResponse:
        agent, bot = self._agents.get(default.agent_id), self._bots.get(default.place.bot_id)
        scope = default.place
        return {
            "default_id": default.default_id,
            "scope": scope.scope,
            "platform": scope.platform or None,
            "bot_id": scope.bot_id or None,
            "chat": scope.chat or None,
            "thread_id": scope.thread_id or None,
            "actor_id": scope.actor_id or None,
            "bot_name": bot.name if bot is not None else None,
            "agent_id": default.agent_id,
            "agent_name": self._name(default.agent_id),
            "agent_enabled": agent is not None and agent.enabled,
            "created_at": default.created_at,
            "updated_at": default.updated_at,
        }

    def conflict(self, scope: DefaultScope, existing: ScopeDefaults, requested_id: AgentId) -> Problem:
        """Builds the error for a place that already has another default agent."""
        holders = " and ".join(f"agent '{self._name(each.agent_id)}'" for each in existing) or "another agent"
        message = (
            f"agent '{self._name(requested_id)}' can't become the default agent of {scope.label}: "
            f"{holders} is that already; name it in replaces to have it replaced"
        )
        claimants = [*(each.agent_id for each in existing), requested_id]
        claimant_views = [{"agent_id": agent_id, "name": self._name(agent_id)} for agent_id in claimants]
        return Problem(409, "conflict", message, {"rivals": claimant_views})

    def _name(self, agent_id: AgentId) -> str:
        agent = self._agents.get(agent_id)
        return agent.name if agent is not None else agent_id


def audit_view(default: DefaultAgent) -> dict[str, Any]:
    placed = {name: value for name, value in default.place._asdict().items() if value}
    return {**placed, "agent_id": default.agent_id}
