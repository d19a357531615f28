"""Endpoints for hourly counts, latency, tokens and cost, and for daily usage."""

from typing import Annotated, cast

from fastapi import APIRouter, Query

from parlour.core.model.ports import Clock
from parlour.core.observability.statistics import HOUR_MILLISECONDS, Statistics

from ..api_router import ApiRouter
from ..auth import Viewer
from ..responses import PageResponse
from .responses import Figures, HourlyFigures, Stats, UsageResponse
from .usage import UsageByDay

Hours = Annotated[int, Query(ge=1, le=24 * 31, description="How far to look back")]

Days = Annotated[int, Query(ge=1, le=366, description="How far to look back")]


def router(statistics: Statistics, usage: UsageByDay, clock: Clock) -> APIRouter:
    routes = ApiRouter(tags=["stats"])

    @routes.get("/stats")
    async def read_stats(principal: Viewer, hours: Hours = 24) -> Stats:
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
    async def read_usage(principal: Viewer, days: Days = 31) -> PageResponse[UsageResponse]:
        """What each agent used of each model, a day each, the oldest day first; days of the workspace's time zone."""
        await statistics.write()
        return {"items": await usage.read_since(clock.now() - (days - 1) * 24 * HOUR_MILLISECONDS), "next_cursor": None}

    return routes
