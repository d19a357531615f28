"""Endpoint that lists the runners from which agents can be made."""

from collections.abc import Callable
from operator import attrgetter
from typing import Annotated, Any

from fastapi import APIRouter

from parlour.core.model.runner import RunnerDescriptor
from parlour.core.pagination import Cursors
from parlour.core.runs.runner_registry import RunnerRegistry

from ..auth import Viewer
from ..pagination import Cursor, LongLimit, paginate
from ..responses import Json, PageResponse, ResponseSchema
from .responses import Runner

PluginStatus = Callable[[str], str]


def router(registry: RunnerRegistry, plugin_status: PluginStatus, cursors: Cursors) -> APIRouter:
    routes = APIRouter(tags=["runners"])

    def view(descriptor: RunnerDescriptor) -> dict[str, Any]:
        manifest = descriptor.manifest.model_dump(mode="json")
        plugin = {
            "id": descriptor.plugin_id,
            "version": descriptor.plugin_version,
            "status": plugin_status(descriptor.plugin_id),
        }
        fields = ("label", "description", "capabilities", "permissions", "config_schema")
        return {"id": descriptor.runner_id, **{name: manifest[name] for name in fields}, "plugin": plugin}

    @routes.get("/runners")
    async def list_runners(
        principal: Viewer, limit: LongLimit = 1000, cursor: Cursor = None
    ) -> Annotated[Json, ResponseSchema(PageResponse[Runner])]:
        """Every runner of every installed plugin."""
        page, more = paginate(cursors, "runners", registry.all(), attrgetter("runner_id"), limit, cursor)
        return {"items": [view(descriptor) for descriptor in page], "next_cursor": more}

    return routes
