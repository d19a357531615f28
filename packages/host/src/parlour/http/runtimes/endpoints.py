"""Endpoint that lists the remote runtimes."""

from operator import attrgetter
from typing import Annotated

from fastapi import APIRouter

from parlour.core.pagination import Cursors
from parlour.core.remote.workers import RemoteWorkers

from ..auth import Viewer
from ..pagination import Cursor, LongLimit, paginate
from ..responses import Json, PageResponse, ResponseSchema
from .responses import RuntimeResponse


def router(workers: RemoteWorkers, cursors: Cursors) -> APIRouter:
    routes = APIRouter(tags=["runtimes"])

    @routes.get("/runtimes")
    async def list_runtimes(
        principal: Viewer, limit: LongLimit = 1000, cursor: Cursor = None
    ) -> Annotated[Json, ResponseSchema(PageResponse[RuntimeResponse])]:
        """Those that are there and those that are gone."""
        page, more = paginate(cursors, "runtimes", await workers.all(), attrgetter("runtime_id"), limit, cursor)
        return {
            "items": [{**runtime.to_dict(), "plugin_id": runtime.plugin_id} for runtime in page],
            "next_cursor": more,
        }

    return routes
