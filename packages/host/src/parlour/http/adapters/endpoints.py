"""Which platforms bots can be connected to, and what each supports: its manifest."""

from typing import Any

from fastapi import APIRouter

from parlour.core.platforms.port import Catalogue

from ..auth import Viewer
from ..errors import not_found


def router(catalogue: Catalogue) -> APIRouter:
    routes = APIRouter(tags=["bots"])

    @routes.get("/adapters")
    async def list_adapters(principal: Viewer) -> dict[str, Any]:
        manifests = catalogue.manifests().values()
        return {"items": [manifest.model_dump(mode="json") for manifest in manifests], "next_cursor": None}

    @routes.get("/adapters/{name}")
    async def read_adapter(name: str, principal: Viewer) -> dict[str, Any]:
        manifest = catalogue.manifests().get(name)
        if manifest is None:
            raise not_found(f"adapter '{name}'", "GET /api/v1/adapters lists them")
        return manifest.model_dump(mode="json")

    return routes
