"""Endpoint that lists the tools for operators: description, parameters, and whether each is read-only."""

from typing import Annotated

from fastapi import APIRouter

from parlour.core.model.providers import Tools
from parlour.core.pagination import Cursors
from parlour_sdk.protocol.tools import ToolDetail

from .api_router import ApiRouter
from .auth import Viewer
from .pagination import Cursor, Limit, paginate
from .responses import Json, PageResponse, ResponseSchema


def router(tools: Tools, cursors: Cursors) -> APIRouter:
    routes = ApiRouter(tags=["tools"])

    @routes.get("/tools")
    async def list_tools(
        principal: Viewer, limit: Limit = 50, cursor: Cursor = None
    ) -> Annotated[Json, ResponseSchema(PageResponse[ToolDetail])]:
        page, next_cursor = paginate(
            cursors, "tools", [each.tool_name for each in tools.resources()], str, limit, cursor
        )
        items = [(await tools.detail(name)).model_dump(mode="json") for name in page]
        return {"items": items, "next_cursor": next_cursor}

    return routes
