"""How the installed plugins are doing."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter

from ..auth import Viewer


@dataclass(frozen=True, slots=True)
class PluginView:
    id: str
    version: str
    status: str
    reason: str


def router(plugins: Callable[[], list[PluginView]]) -> APIRouter:
    routes = APIRouter(tags=["plugins"])

    @routes.get("/plugins")
    async def list_plugins(principal: Viewer) -> dict[str, Any]:
        """Every installed plugin; one that does not run says why."""
        items = [
            {"id": each.id, "version": each.version, "status": each.status, "reason": each.reason or None}
            for each in plugins()
        ]
        return {"items": items, "next_cursor": None}

    return routes
