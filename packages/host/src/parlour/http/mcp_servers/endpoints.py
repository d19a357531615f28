"""Endpoints to create, read, change, delete and test MCP servers. A change takes effect immediately, without a
restart."""

from operator import attrgetter
from typing import Annotated, Any

from fastapi import APIRouter, Response

from parlour.core.config.mcp_servers import McpBook
from parlour.core.journal import GuardFailed
from parlour.core.model.mcp_server import McpServer
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.providers import ProviderFailed
from parlour.core.pagination import Cursors
from parlour.core.tools.mcp import McpConnections, Wanted
from parlour_sdk.protocol.content import TextElement
from parlour_sdk.protocol.tools import ToolOutcome

from ..auth import Admin, Operator, Viewer
from ..crud import Shelf
from ..etags import IfMatch
from ..pagination import Cursor, Limit
from ..principals import Principal
from ..responses import Answer, Json, Page
from . import responses
from .mapping import Asker, McpServerForm, shown, shown_status, taken
from .schemas import McpServerBody, PromptBody, ResourceBody


def router(
    book: McpBook, connections: McpConnections, form: McpServerForm, cursors: Cursors, ids: Ids, clock: Clock
) -> APIRouter:
    routes = APIRouter(tags=["mcp"])
    shelf = Shelf("MCP server", "/mcp-servers", book.get, attrgetter("server_id"), shown, cursors, clock)

    def view(server: McpServer) -> dict[str, Any]:
        return {**shown(server), "status": shown_status(connections.status(server.server_id))}

    def asker(principal: Principal) -> Asker:
        return Asker(principal.owner if principal.kind == "user" else "", clock.now())

    async def asked(server: McpServer, wanted: Wanted) -> dict[str, Any]:
        """Requests a resource or prompt from the server. A failure of the server is returned as an error result with
        its message."""
        try:
            outcome = await connections.ask(server.server_id, wanted)
        except ProviderFailed as failure:
            outcome = ToolOutcome(content=[TextElement(text=failure.message)], is_error=True)
        return outcome.model_dump(mode="json", exclude_none=True, include={"content", "is_error", "truncated"})

    @routes.post("/mcp-servers", status_code=201)
    async def create_mcp_server(
        body: McpServerBody, principal: Admin, response: Response
    ) -> Annotated[Json, Answer(responses.McpServer)]:
        server = form.server(ids.new(), body, by=asker(principal))
        try:
            await book.add(server, shelf.change(principal, None, server))
        except GuardFailed as error:  # another request used the name concurrently
            raise taken(server.name) from error
        await connections.follow(server.server_id)
        return view(shelf.told(server, response))

    @routes.post("/mcp-servers/test")
    async def test_mcp_server_before_saving(
        body: McpServerBody, principal: Admin
    ) -> Annotated[Json, Answer(responses.McpStatus)]:
        namesake = book.named(body.name)
        server = form.server(namesake.server_id if namesake else "", body, namesake, asker(principal))
        return shown_status(await connections.test(server))

    @routes.get("/mcp-servers")
    async def list_mcp_servers(
        principal: Viewer, limit: Limit = 50, cursor: Cursor = None
    ) -> Annotated[Json, Answer(Page[responses.McpServer])]:
        return shelf.page(book.all(), view, limit, cursor)

    @routes.get("/mcp-servers/{server_id}")
    async def read_mcp_server(
        server_id: str, principal: Viewer, response: Response
    ) -> Annotated[Json, Answer(responses.McpServer)]:
        return view(shelf.told(shelf.existing(server_id), response))

    @routes.put("/mcp-servers/{server_id}")
    async def replace_mcp_server(
        server_id: str, body: McpServerBody, principal: Admin, response: Response, if_match: IfMatch = None
    ) -> Annotated[Json, Answer(responses.McpServer)]:
        async with shelf.changing(server_id, if_match) as before:
            server = form.server(server_id, body, before, asker(principal))
            try:
                await book.replace(server, shelf.change(principal, before, server))
            except GuardFailed as error:
                raise taken(server.name) from error
        await connections.follow(server_id)
        return view(shelf.told(server, response))

    @routes.delete("/mcp-servers/{server_id}", status_code=204)
    async def delete_mcp_server(server_id: str, principal: Admin, if_match: IfMatch = None) -> Response:
        async with shelf.changing(server_id, if_match) as before:
            await book.remove(server_id, shelf.change(principal, before, None))
        await connections.follow(server_id)
        return Response(status_code=204)

    @routes.post("/mcp-servers/{server_id}/test")
    async def test_mcp_server(
        server_id: str, principal: Admin, body: McpServerBody | None = None
    ) -> Annotated[Json, Answer(responses.McpStatus)]:
        """As it is, or as it would be with this change."""
        server = shelf.existing(server_id)
        changed = server if body is None else form.server(server_id, body, server, asker(principal))
        return shown_status(await connections.test(changed))

    @routes.post("/mcp-servers/{server_id}/read-resource")
    async def read_resource_of_mcp_server(
        server_id: str, body: ResourceBody, principal: Operator
    ) -> Annotated[Json, Answer(responses.McpContent)]:
        return await asked(shelf.existing(server_id), Wanted("resource", body.uri))

    @routes.post("/mcp-servers/{server_id}/get-prompt")
    async def get_prompt_of_mcp_server(
        server_id: str, body: PromptBody, principal: Operator
    ) -> Annotated[Json, Answer(responses.McpContent)]:
        return await asked(shelf.existing(server_id), Wanted("prompt", body.name, body.arguments))

    return routes
