"""Which remote runtimes there are."""

from typing import Any

from fastapi import APIRouter

from parlour.core.runs.workers import Workers

from ..auth import Viewer


def router(workers: Workers) -> APIRouter:
    routes = APIRouter(tags=["runtimes"])

    @routes.get("/runtimes")
    async def list_runtimes(principal: Viewer) -> dict[str, Any]:
        """Those that are there and those that are gone."""
        items = [{**runtime.told(), "plugin_id": runtime.plugin_id} for runtime in await workers.all()]
        return {"items": items, "next_cursor": None}

    return routes
