"""Endpoint that lists the remote runtimes."""

from operator import attrgetter
from typing import Annotated

from fastapi import APIRouter

from parlour.core.pagination import Cursors
from parlour.core.remote.workers import Workers

from ..auth import Viewer
from ..pagination import Cursor, LongLimit, part
from ..responses import Answer, Json, Page
from .responses import RuntimeShown


def router(workers: Workers, cursors: Cursors) -> APIRouter:
    routes = APIRouter(tags=["runtimes"])

    @routes.get("/runtimes")
    async def list_runtimes(
        principal: Viewer, limit: LongLimit = 1000, cursor: Cursor = None
    ) -> Annotated[Json, Answer(Page[RuntimeShown])]:
        """Those that are there and those that are gone."""
        page, more = part(cursors, "runtimes", await workers.all(), attrgetter("runtime_id"), limit, cursor)
        return {"items": [{**runtime.told(), "plugin_id": runtime.plugin_id} for runtime in page], "next_cursor": more}

    return routes
