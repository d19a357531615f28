"""Finds the agents that use a model: they select it or are granted it by name. A model in use can't be removed."""

from collections.abc import Iterator
from typing import Any, Protocol

from parlour.core.model.agent import Agent
from parlour.core.model.ids import ModelId, RunnerId
from parlour.core.model.runner import RunnerDescriptor

from .agents import AgentRepository
from .form_validation import selected_resources, with_defaults


class RunnerLookup(Protocol):
    """Looks up runners by id."""

    def get(self, runner_id: RunnerId) -> RunnerDescriptor | None: ...


class ModelReferences:
    """Looks up which agents refer to a model."""

    def __init__(self, agents: AgentRepository, registry: RunnerLookup) -> None:
        self._agents = agents
        self._registry = registry

    def agents_using(self, model_id: ModelId) -> list[str]:
        """Returns the names of the agents that use the model."""
        return [
            agent.name for agent in self._agents.all() if self._selects(agent, model_id) or _is_granted(agent, model_id)
        ]

    def _selects(self, agent: Agent, model_id: ModelId) -> bool:
        descriptor = self._registry.get(agent.runner_id)
        if descriptor is None:  # without its plugin there is no form that says which values are models
            return model_id in _texts(agent.runner_config)
        form = descriptor.manifest.config_schema
        return model_id in selected_resources(form, with_defaults(form, agent.runner_config)).get("models", frozenset())


def _is_granted(agent: Agent, model_id: ModelId) -> bool:
    policy = agent.resource_policy
    return any(model_id in names for names in (policy.models, *(rule.allow.get("models", ()) for rule in policy.rules)))


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
