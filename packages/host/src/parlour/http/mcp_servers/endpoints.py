"""MCP servers: made, read, changed, deleted and tried out. A change is followed at once, without a restart."""

from typing import Any

from fastapi import APIRouter, Response

from parlour.core.access import audit
from parlour.core.cursors import Cursors
from parlour.core.journal import GuardFailed, Insert
from parlour.core.mcp.book import McpBook
from parlour.core.mcp.port import McpConnections
from parlour.core.mcp.server import McpServer
from parlour.core.ports import Clock, Ids

from ..auth import Admin, Principal, Viewer
from ..errors import not_found
from ..paging import Cursor, Limit
from .checking import McpServerForm, shown, shown_status, taken
from .schemas import McpServerBody


def router(
    book: McpBook, connections: McpConnections, form: McpServerForm, cursors: Cursors, ids: Ids, clock: Clock
) -> APIRouter:
    routes = APIRouter(tags=["mcp"])

    def existing(server_id: str) -> McpServer:
        server = book.get(server_id)
        if server is None:
            raise not_found(f"MCP server '{server_id}'", "GET /api/v1/mcp-servers lists them")
        return server

    def view(server: McpServer) -> dict[str, Any]:
        return {**shown(server), "status": shown_status(connections.status(server.server_id))}

    def change(principal: Principal, action: str, before: McpServer | None, after: McpServer | None) -> Insert:
        server = after or before
        assert server is not None
        was, becomes = (shown(each) if each is not None else None for each in (before, after))
        return audit.admin(principal.owner, action, server.server_id, was, becomes, clock.now())

    @routes.post("/mcp-servers", status_code=201)
    async def create_mcp_server(body: McpServerBody, principal: Admin) -> dict[str, Any]:
        server = form.server(ids.new(), body)
        try:
            await book.add(server, change(principal, "mcp_server.create", None, server))
        except GuardFailed as error:  # somebody else took the name meanwhile
            raise taken(server.name) from error
        await connections.follow(server.server_id)
        return view(server)

    @routes.post("/mcp-servers/test")
    async def test_mcp_server_before_saving(body: McpServerBody, principal: Admin) -> dict[str, Any]:
        namesake = book.named(body.name)
        server = form.server(namesake.server_id if namesake else "", body, namesake)
        return shown_status(await connections.test(server))

    @routes.get("/mcp-servers")
    async def list_mcp_servers(principal: Viewer, limit: Limit = 50, cursor: Cursor = None) -> dict[str, Any]:
        after = "" if cursor is None else str(cursors.decode("mcp_servers", cursor))
        rest = [server for server in book.all() if server.server_id > after]
        page = rest[:limit]
        more = cursors.encode("mcp_servers", page[-1].server_id) if len(rest) > limit else None
        return {"items": [view(server) for server in page], "next_cursor": more}

    @routes.get("/mcp-servers/{server_id}")
    async def read_mcp_server(server_id: str, principal: Viewer) -> dict[str, Any]:
        return view(existing(server_id))

    @routes.put("/mcp-servers/{server_id}")
    async def replace_mcp_server(server_id: str, body: McpServerBody, principal: Admin) -> dict[str, Any]:
        before = existing(server_id)
        server = form.server(server_id, body, before)
        try:
            await book.replace(server, change(principal, "mcp_server.replace", before, server))
        except GuardFailed as error:
            raise taken(server.name) from error
        await connections.follow(server_id)
        return view(server)

    @routes.delete("/mcp-servers/{server_id}", status_code=204)
    async def delete_mcp_server(server_id: str, principal: Admin) -> Response:
        before = existing(server_id)
        await book.remove(server_id, change(principal, "mcp_server.delete", before, None))
        await connections.follow(server_id)
        return Response(status_code=204)

    @routes.post("/mcp-servers/{server_id}/test")
    async def test_mcp_server(server_id: str, principal: Admin) -> dict[str, Any]:
        return shown_status(await connections.test(existing(server_id)))

    return routes
