"""Endpoint that lists the runners from which agents can be made."""

from collections.abc import Callable
from operator import attrgetter
from typing import cast

from fastapi import APIRouter
from typing_extensions import TypedDict

from parlour.core.model.ids import PluginId
from parlour.core.model.runner import RunnerDescriptor
from parlour.core.pagination import Cursors
from parlour.core.runs.runner_registry import RunnerRegistry
from parlour_sdk.protocol.form import FormItem
from parlour_sdk.protocol.manifest import Capabilities, Permissions

from .api_router import ApiRouter
from .auth import Viewer
from .pagination import Cursor, LongLimit, paginate
from .plugins.responses import PluginState
from .responses import LocalizedText, PageResponse


class RunnerPlugin(TypedDict):
    id: str
    version: str
    status: PluginState


class Runner(TypedDict):
    """What agents are made of."""

    id: str
    label: LocalizedText
    description: LocalizedText | None
    capabilities: Capabilities
    permissions: Permissions
    config_schema: list[FormItem]
    """The form of an agent's `runner_config`."""
    plugin: RunnerPlugin


PluginStatus = Callable[[PluginId], str]


def router(registry: RunnerRegistry, plugin_status: PluginStatus, cursors: Cursors) -> APIRouter:
    routes = ApiRouter(tags=["runners"])

    def view(descriptor: RunnerDescriptor) -> Runner:
        manifest = descriptor.manifest.model_dump(mode="json")
        return {
            "id": descriptor.runner_id,
            "label": manifest["label"],
            "description": manifest["description"],
            "capabilities": manifest["capabilities"],
            "permissions": manifest["permissions"],
            "config_schema": manifest["config_schema"],
            "plugin": {
                "id": descriptor.plugin_id,
                "version": descriptor.plugin_version,
                "status": cast("PluginState", plugin_status(descriptor.plugin_id)),
            },
        }

    @routes.get("/runners")
    async def list_runners(principal: Viewer, limit: LongLimit = 1000, cursor: Cursor = None) -> PageResponse[Runner]:
        """Every runner of every installed plugin."""
        page, next_cursor = paginate(cursors, "runners", registry.all(), attrgetter("runner_id"), limit, cursor)
        return {"items": [view(descriptor) for descriptor in page], "next_cursor": next_cursor}

    return routes
