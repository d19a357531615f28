"""Endpoints for hourly counts, latency, tokens and cost, and for daily usage."""

from typing import Annotated, cast

from fastapi import APIRouter, Query
from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from parlour.core.config.agents import AgentRepository
from parlour.core.config.models import ModelRepository
from parlour.core.model.ids import AgentId, ModelId
from parlour.core.model.ports import Clock
from parlour.core.models.days import Days
from parlour.core.observability.statistics import HOUR_MILLISECONDS, Statistics
from parlour.core.observability.usage import COUNTED_FIELDS

from .api_router import ApiRouter
from .auth import Viewer
from .responses import Id, Micros, PageResponse, TimestampMs

HoursBack = Annotated[int, Query(ge=1, le=24 * 31, description="How far to look back")]
DaysBack = Annotated[int, Query(ge=1, le=366, description="How far to look back")]


@with_config(ConfigDict(extra="allow"))
class Figures(TypedDict, total=False):
    """Counts by a short name, such as `events.message.received`, `runs.completed`, `prompt_tokens`, `cost_micros`."""

    run_milliseconds: int
    prompt_tokens: int
    completion_tokens: int
    cost_micros: Micros
    model_calls: int
    unpriced_calls: int
    tool_calls: int


@with_config(ConfigDict(extra="allow"))
class HourlyFigures(TypedDict):
    """What happened in an hour: counts by a short name."""

    hour: TimestampMs


class Stats(TypedDict):
    items: list[HourlyFigures]
    totals: Figures
    next_cursor: None


class UsageResponse(TypedDict):
    """What an agent used of a model on a day."""

    day: str
    """In the workspace's time zone, as 2026-03-01."""
    agent_id: Id | None
    agent_name: str | None
    """Null when the agent is gone."""
    model_id: Id
    model_name: str | None
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_micros: Micros
    """Cost of the calls with a known price."""
    unpriced_calls: int
    """Calls of which nobody knows what they cost."""


class UsageByDay:
    """Aggregates model usage per day, agent and model, with names."""

    def __init__(self, statistics: Statistics, days: Days, agents: AgentRepository, models: ModelRepository) -> None:
        self._statistics = statistics
        self._days = days
        self._agents = agents
        self._models = models

    async def read_since(self, moment: int) -> list[UsageResponse]:
        """Returns the usage since this time, sorted by day, agent and model."""
        totals: dict[tuple[str, AgentId, ModelId], dict[str, int]] = {}
        for hour, usage_key, amount in await self._statistics.usage(moment):
            counters = totals.setdefault(
                (self._days.day_of(hour), usage_key.agent_id, usage_key.model_id), dict.fromkeys(COUNTED_FIELDS, 0)
            )
            counters[usage_key.figure] += amount
        return [self._to_response(*key, counters) for key, counters in sorted(totals.items())]

    def _to_response(self, day: str, agent_id: AgentId, model_id: ModelId, counters: dict[str, int]) -> UsageResponse:
        agent, model = self._agents.get(agent_id) if agent_id else None, self._models.model(model_id)
        return {
            "day": day,
            "agent_id": agent_id or None,
            "agent_name": agent.name if agent is not None else None,
            "model_id": model_id,
            "model_name": model.name if model is not None else None,
            "calls": counters["calls"],
            "unpriced_calls": counters["unpriced_calls"],
            "prompt_tokens": counters["prompt_tokens"],
            "completion_tokens": counters["completion_tokens"],
            "cost_micros": counters["cost_micros"],
        }


def router(statistics: Statistics, usage: UsageByDay, clock: Clock) -> APIRouter:
    routes = ApiRouter(tags=["stats"])

    @routes.get("/stats")
    async def read_stats(principal: Viewer, hours: HoursBack = 24) -> Stats:
        """An hour each, oldest first, without hours in which nothing happened; `totals` adds them up."""
        await statistics.write()
        items = await statistics.since(clock.now() - (hours - 1) * HOUR_MILLISECONDS)
        totals: dict[str, int] = {}
        for item in items:
            for name, amount in item.items():
                if name != "hour":
                    totals[name] = totals.get(name, 0) + amount
        return {
            "items": cast("list[HourlyFigures]", items),
            "totals": cast("Figures", totals),
            "next_cursor": None,
        }

    @routes.get("/stats/usage")
    async def read_usage(principal: Viewer, days: DaysBack = 31) -> PageResponse[UsageResponse]:
        """What each agent used of each model, a day each, the oldest day first; days of the workspace's time zone."""
        await statistics.write()
        return {"items": await usage.read_since(clock.now() - (days - 1) * 24 * HOUR_MILLISECONDS), "next_cursor": None}

    return routes
