"""Endpoints that list the adapters: each manifest says which platform it connects and what it supports."""

from operator import attrgetter
from typing import Annotated

from fastapi import APIRouter

from parlour.core.pagination import Cursors
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.platforms.port import AdapterCatalogue

from .api_router import ApiRouter
from .auth import Viewer
from .errors import not_found
from .pagination import Cursor, LongLimit, paginate
from .responses import Json, PageResponse, ResponseSchema


def router(catalogue: AdapterCatalogue, cursors: Cursors) -> APIRouter:
    routes = ApiRouter(tags=["bots"])

    @routes.get("/adapters")
    async def list_adapters(
        principal: Viewer, limit: LongLimit = 1000, cursor: Cursor = None
    ) -> Annotated[Json, ResponseSchema(PageResponse[AdapterManifest])]:
        page, next_cursor = paginate(
            cursors, "adapters", catalogue.manifests().values(), attrgetter("name"), limit, cursor
        )
        return {"items": [manifest.model_dump(mode="json") for manifest in page], "next_cursor": next_cursor}

    @routes.get("/adapters/{name}")
    async def read_adapter(name: str, principal: Viewer) -> Annotated[Json, ResponseSchema(AdapterManifest)]:
        manifest = catalogue.manifests().get(name)
        if manifest is None:
            raise not_found(f"adapter '{name}'", "GET /api/v1/adapters lists them")
        return manifest.model_dump(mode="json")

    return routes
