"""Looking back: counts, latency, tokens and cost by the hour."""

from typing import Annotated, Any

from fastapi import APIRouter, Query

from parlour.core.observing.statistics import HOUR, Statistics
from parlour.core.ports import Clock

from ..auth import Viewer

Hours = Annotated[int, Query(ge=1, le=24 * 31, description="How far to look back")]


def router(statistics: Statistics, clock: Clock) -> APIRouter:
    routes = APIRouter(tags=["stats"])

    @routes.get("/stats")
    async def read_stats(principal: Viewer, hours: Hours = 24) -> dict[str, Any]:
        """An hour each, oldest first, without hours in which nothing happened; `totals` adds them up."""
        await statistics.write()
        items = await statistics.since(clock.now() - (hours - 1) * HOUR)
        totals: dict[str, int] = {}
        for item in items:
            for name, amount in item.items():
                if name != "hour":
                    totals[name] = totals.get(name, 0) + amount
        return {"items": items, "totals": totals, "next_cursor": None}

    return routes
