"""Which runners there are to make agents of."""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter

from parlour.core.agents.registry import Descriptor, Registry

from ..auth import Viewer

PluginStatus = Callable[[str], str]


def router(registry: Registry, plugin_status: PluginStatus) -> APIRouter:
    routes = APIRouter(tags=["runners"])

    def view(descriptor: Descriptor) -> dict[str, Any]:
        manifest = descriptor.manifest.model_dump(mode="json")
        plugin = {
            "id": descriptor.plugin_id,
            "version": descriptor.plugin_version,
            "status": plugin_status(descriptor.plugin_id),
        }
        fields = ("label", "description", "capabilities", "permissions", "config_schema")
        return {"id": descriptor.runner_id, **{name: manifest[name] for name in fields}, "plugin": plugin}

    @routes.get("/runners")
    async def list_runners(principal: Viewer) -> dict[str, Any]:
        """Every runner of every installed plugin."""
        return {"items": [view(descriptor) for descriptor in registry.all()], "next_cursor": None}

    return routes
