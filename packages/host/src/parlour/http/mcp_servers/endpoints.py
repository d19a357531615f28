"""Endpoints to create, read, change, delete and test MCP servers. A change takes effect immediately, without a
restart."""

from operator import attrgetter
from typing import Annotated, Any

from fastapi import APIRouter, Response

from parlour.core.config.mcp_servers import McpServerRepository
from parlour.core.journal import GuardFailed
from parlour.core.model.mcp_server import McpServer
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.providers import ProviderFailed
from parlour.core.pagination import Cursors
from parlour.core.tools.mcp import McpConnections, McpRequest
from parlour_sdk.protocol.content import TextElement
from parlour_sdk.protocol.tools import ToolOutcome

from ..auth import Admin, Operator, Viewer
from ..crud import ConfigResource
from ..etags import IfMatch
from ..pagination import Cursor, Limit
from ..principals import Principal
from ..responses import Json, PageResponse, ResponseSchema
from . import responses
from .mapping import ChangeRequester, McpServerMapper, name_conflict, status_response, to_response
from .schemas import McpServerBody, PromptBody, ResourceBody


def router(
    book: McpServerRepository,
    connections: McpConnections,
    form: McpServerMapper,
    cursors: Cursors,
    ids: Ids,
    clock: Clock,
) -> APIRouter:
    routes = APIRouter(tags=["mcp"])
    shelf = ConfigResource("MCP server", "/mcp-servers", book.get, attrgetter("server_id"), to_response, cursors, clock)

    def view(server: McpServer) -> dict[str, Any]:
        return {**to_response(server), "status": status_response(connections.status(server.server_id))}

    def asker(principal: Principal) -> ChangeRequester:
        return ChangeRequester(principal.owner if principal.kind == "user" else "", clock.now())

    async def asked(server: McpServer, wanted: McpRequest) -> dict[str, Any]:
        """Requests a resource or prompt from the server. A failure of the server is returned as an error result with
        its message."""
        try:
            outcome = await connections.request(server.server_id, wanted)
        except ProviderFailed as failure:
            outcome = ToolOutcome(content=[TextElement(text=failure.message)], is_error=True)
        return outcome.model_dump(mode="json", exclude_none=True, include={"content", "is_error", "truncated"})

    @routes.post("/mcp-servers", status_code=201)
    async def create_mcp_server(
        body: McpServerBody, principal: Admin, response: Response
    ) -> Annotated[Json, ResponseSchema(responses.McpServerResponse)]:
        server = form.to_server(ids.new(), body, by=asker(principal))
        try:
            await book.add(server, shelf.audit_entry(principal, None, server))
        except GuardFailed as error:  # another request used the name concurrently
            raise name_conflict(server.name) from error
        await connections.reload(server.server_id)
        return view(shelf.with_etag(server, response))

    @routes.post("/mcp-servers/test")
    async def test_mcp_server_before_saving(
        body: McpServerBody, principal: Admin
    ) -> Annotated[Json, ResponseSchema(responses.McpStatus)]:
        namesake = book.get_by_name(body.name)
        server = form.to_server(namesake.server_id if namesake else "", body, namesake, asker(principal))
        return status_response(await connections.test(server))

    @routes.get("/mcp-servers")
    async def list_mcp_servers(
        principal: Viewer, limit: Limit = 50, cursor: Cursor = None
    ) -> Annotated[Json, ResponseSchema(PageResponse[responses.McpServerResponse])]:
        return shelf.list_page(book.all(), view, limit, cursor)

    @routes.get("/mcp-servers/{server_id}")
    async def read_mcp_server(
        server_id: str, principal: Viewer, response: Response
    ) -> Annotated[Json, ResponseSchema(responses.McpServerResponse)]:
        return view(shelf.with_etag(shelf.get_or_404(server_id), response))

    @routes.put("/mcp-servers/{server_id}")
    async def replace_mcp_server(
        server_id: str, body: McpServerBody, principal: Admin, response: Response, if_match: IfMatch = None
    ) -> Annotated[Json, ResponseSchema(responses.McpServerResponse)]:
        async with shelf.edit(server_id, if_match) as before:
            server = form.to_server(server_id, body, before, asker(principal))
            try:
                await book.replace(server, shelf.audit_entry(principal, before, server))
            except GuardFailed as error:
                raise name_conflict(server.name) from error
        await connections.reload(server_id)
        return view(shelf.with_etag(server, response))

    @routes.delete("/mcp-servers/{server_id}", status_code=204)
    async def delete_mcp_server(server_id: str, principal: Admin, if_match: IfMatch = None) -> Response:
        async with shelf.edit(server_id, if_match) as before:
            await book.remove(server_id, shelf.audit_entry(principal, before, None))
        await connections.reload(server_id)
        return Response(status_code=204)

    @routes.post("/mcp-servers/{server_id}/test")
    async def test_mcp_server(
        server_id: str, principal: Admin, body: McpServerBody | None = None
    ) -> Annotated[Json, ResponseSchema(responses.McpStatus)]:
        """As it is, or as it would be with this change."""
        server = shelf.get_or_404(server_id)
        changed = server if body is None else form.to_server(server_id, body, server, asker(principal))
        return status_response(await connections.test(changed))

    @routes.post("/mcp-servers/{server_id}/read-resource")
    async def read_resource_of_mcp_server(
        server_id: str, body: ResourceBody, principal: Operator
    ) -> Annotated[Json, ResponseSchema(responses.McpContent)]:
        return await asked(shelf.get_or_404(server_id), McpRequest("resource", body.uri))

    @routes.post("/mcp-servers/{server_id}/get-prompt")
    async def get_prompt_of_mcp_server(
        server_id: str, body: PromptBody, principal: Operator
    ) -> Annotated[Json, ResponseSchema(responses.McpContent)]:
        return await asked(shelf.get_or_404(server_id), McpRequest("prompt", body.name, body.arguments))

    return routes
