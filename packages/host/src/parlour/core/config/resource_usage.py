"""Finds the agents that use a model or knowledge base: they select it or are granted it by name.

What is in use can't be removed.
"""

from collections.abc import Iterator
from typing import Any, Protocol

from parlour.core.model.agent import Agent
from parlour.core.model.ids import RunnerId
from parlour.core.model.runner import RunnerDescriptor
from parlour_sdk.protocol.rules.permissions import ResourceKind

from .agents import AgentRepository
from .form_validation import selected_resources, with_defaults


class RunnerLookup(Protocol):
    """Looks up runners by id."""

    def get(self, runner_id: RunnerId) -> RunnerDescriptor | None: ...


class ResourceReferences:
    """Looks up which agents refer to a resource of one kind."""

    def __init__(self, agents: AgentRepository, registry: RunnerLookup, kind: ResourceKind) -> None:
        self._agents = agents
        self._registry = registry
        self._kind = kind

    def agents_using(self, name: str) -> list[str]:
        """Returns the names of the agents that use the resource with this id."""
        return [
            agent.name for agent in self._agents.all() if self._selects(agent, name) or self._is_granted(agent, name)
        ]

    def _selects(self, agent: Agent, name: str) -> bool:
        descriptor = self._registry.get(agent.runner_id)
        if descriptor is None:  # without its plugin there is no form that says which values are ids
            return name in _texts(agent.runner_config)
        form = descriptor.manifest.config_schema
        selected = selected_resources(form, with_defaults(form, agent.runner_config))
        return name in selected.get(self._kind, frozenset())

    def _is_granted(self, agent: Agent, name: str) -> bool:
        policy, kind = agent.resource_policy, self._kind
        granted = [getattr(policy, kind), *(rule.allow.get(kind, ()) for rule in policy.rules)]
        return any(name in names for names in granted)


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for each in value:
                yield from _texts(each)
        case dict():
            for each in value.values():
                yield from _texts(each)
