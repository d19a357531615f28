"""Aggregates model usage per day, agent and model, with names."""

from parlour.core.config.agents import AgentRepository
from parlour.core.config.models import ModelRepository
from parlour.core.models.days import Days
from parlour.core.observability.statistics import Statistics
from parlour.core.observability.usage import COUNTED_FIELDS

from .responses import UsageResponse


class UsageByDay:
    def __init__(self, statistics: Statistics, days: Days, agents: AgentRepository, models: ModelRepository) -> None:
        self._statistics = statistics
        self._days = days
        self._agents = agents
        self._models = models

    async def read_since(self, moment: int) -> list[UsageResponse]:
        """Returns the usage since this time, sorted by day, agent and model."""
        found: dict[tuple[str, str, str], dict[str, int]] = {}
        for hour, of, amount in await self._statistics.usage(moment):
            figures = found.setdefault(
                (self._days.day_of(hour), of.agent_id, of.model_id), dict.fromkeys(COUNTED_FIELDS, 0)
            )
            figures[of.figure] += amount
        return [self._to_response(*key, figures) for key, figures in sorted(found.items())]

    def _to_response(self, day: str, agent_id: str, model_id: str, figures: dict[str, int]) -> UsageResponse:
        agent, model = self._agents.get(agent_id) if agent_id else None, self._models.model(model_id)
        return {
            "day": day,
            "agent_id": agent_id or None,
            "agent_name": agent.name if agent is not None else None,
            "model_id": model_id,
            "model_name": model.name if model is not None else None,
            "calls": figures["calls"],
            "unpriced_calls": figures["unpriced_calls"],
            "prompt_tokens": figures["prompt_tokens"],
            "completion_tokens": figures["completion_tokens"],
            "cost_micros": figures["cost_micros"],
        }
