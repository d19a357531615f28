"""Tools as an operator sees them: what there is, what each takes, and whether it changes anything."""

from typing import Any

from fastapi import APIRouter

from parlour.core.cursors import Cursors
from parlour.core.providers import Tools

from ..auth import Viewer
from ..paging import Cursor, Limit


def router(tools: Tools, cursors: Cursors) -> APIRouter:
    routes = APIRouter(tags=["tools"])

    @routes.get("/tools")
    async def list_tools(principal: Viewer, limit: Limit = 50, cursor: Cursor = None) -> dict[str, Any]:
        after = "" if cursor is None else str(cursors.decode("tools", cursor))
        rest = sorted(each.tool_name for each in tools.resources() if each.tool_name > after)
        page = rest[:limit]
        more = cursors.encode("tools", page[-1]) if len(rest) > limit else None
        items = [(await tools.detail(name)).model_dump(mode="json") for name in page]
        return {"items": items, "next_cursor": more}

    return routes
