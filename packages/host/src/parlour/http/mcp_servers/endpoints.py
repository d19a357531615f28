"""Endpoints to create, read, change, delete and test MCP servers. A change takes effect immediately, without a
restart."""

from operator import attrgetter

from fastapi import APIRouter

from parlour.core.config.mcp_servers import McpServerRepository
from parlour.core.journal import GuardFailed, Insert
from parlour.core.model.ids import McpServerId
from parlour.core.model.mcp_server import McpServer
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.providers import ProviderFailed
from parlour.core.pagination import Cursors
from parlour.core.tools.mcp import McpConnections, McpRequest
from parlour_sdk.protocol.content import TextElement
from parlour_sdk.protocol.tools import ToolOutcome

from ..api_router import ApiRouter
from ..auth import Admin, Operator
from ..crud import ConfigResource, CrudOperations, CrudSchemas, Verbs, add_crud_routes, without_wait
from ..principals import Principal
from .mapping import ChangeRequester, McpServerMapper, audit_view, name_conflict, status_response, to_response
from .schemas import McpContent, McpServerBody, McpServerResponse, McpStatus, PromptBody, ResourceBody

COLLECTION_VERBS: Verbs = ("create", "list")
ITEM_VERBS: Verbs = ("read", "replace", "delete")


def router(
    repository: McpServerRepository,
    connections: McpConnections,
    form: McpServerMapper,
    cursors: Cursors,
    ids: Ids,
    clock: Clock,
) -> APIRouter:
    routes = ApiRouter(tags=["mcp"])
    resource = ConfigResource(
        "MCP server", "/mcp-servers", repository.get, attrgetter("server_id"), audit_view, cursors, clock
    )

    def view(server: McpServer) -> McpServerResponse:
        return to_response(server, connections.status(server.server_id))

    def requester(principal: Principal) -> ChangeRequester:
        return ChangeRequester(principal.owner if principal.kind == "user" else "", clock.now())

    def build(server_id: McpServerId, body: McpServerBody, before: McpServer | None, principal: Principal) -> McpServer:
        return form.to_server(server_id, body, before, requester(principal))

    async def add(server: McpServer, entry: Insert) -> None:
        try:
            await repository.add(server, entry)
        except GuardFailed as error:  # another request used the name concurrently
            raise name_conflict(server.name) from error

    async def replace(server: McpServer, entry: Insert) -> None:
        try:
            await repository.replace(server, entry)
        except GuardFailed as error:
            raise name_conflict(server.name) from error

    async def reconnect(principal: Principal, before: McpServer | None, after: McpServer | None) -> None:
        changed = after or before
        assert changed is not None
        await connections.reload(changed.server_id)

    async def request(server: McpServer, mcp_request: McpRequest) -> McpContent:
        """Requests a resource or prompt from the server. A failure of the server is returned as an error result with
        its message."""
        try:
            outcome = await connections.request(server.server_id, mcp_request)
        except ProviderFailed as failure:
            outcome = ToolOutcome(content=[TextElement(text=failure.message)], is_error=True)
        content = outcome.model_dump(mode="json", exclude_none=True, include={"content", "is_error", "truncated"})
        return {"content": content["content"], "is_error": content["is_error"], "truncated": content["truncated"]}

    schemas = CrudSchemas("mcp_server", "server_id", McpServerBody, McpServerResponse)
    operations = CrudOperations(repository.all, build, add, replace, repository.remove, without_wait(view), reconnect)
    add_crud_routes(routes, resource, schemas, operations, lambda: McpServerId(ids.new()), COLLECTION_VERBS)

    @routes.post("/mcp-servers/test")
    async def test_mcp_server_before_saving(body: McpServerBody, principal: Admin) -> McpStatus:
        namesake = repository.get_by_name(body.name)
        server = form.to_server(
            namesake.server_id if namesake else McpServerId(""), body, namesake, requester(principal)
        )
        return status_response(await connections.test(server))

    add_crud_routes(routes, resource, schemas, operations, lambda: McpServerId(ids.new()), ITEM_VERBS)

    @routes.post("/mcp-servers/{server_id}/test")
    async def test_mcp_server(server_id: McpServerId, principal: Admin, body: McpServerBody | None = None) -> McpStatus:
        """As it is, or as it would be with this change."""
        server = resource.get_or_404(server_id)
        changed = server if body is None else form.to_server(server_id, body, server, requester(principal))
        return status_response(await connections.test(changed))

    @routes.post("/mcp-servers/{server_id}/read-resource")
    async def read_resource_of_mcp_server(
        server_id: McpServerId, body: ResourceBody, principal: Operator
    ) -> McpContent:
        return await request(resource.get_or_404(server_id), McpRequest("resource", body.uri))

    @routes.post("/mcp-servers/{server_id}/get-prompt")
    async def get_prompt_of_mcp_server(server_id: McpServerId, body: PromptBody, principal: Operator) -> McpContent:
        return await request(resource.get_or_404(server_id), McpRequest("prompt", body.name, body.arguments))

    return routes
