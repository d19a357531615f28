"""The MCP door: published agents are tools, and the conversations and files of a key are resources."""

from typing import Any

import mcp_types as types
from mcp.server import Server
from starlette.requests import HTTPConnection
from starlette.types import Receive, Scope, Send

from parlour.core.journal import Journal
from parlour.core.store.artifact_service import ArtifactService
from parlour.version import VERSION

from ..context import DoorContext
from .agent_tools import AgentTools
from .resources import OwnResources
from .transport import McpContext, refusal, serve_mcp

INSTRUCTIONS = (
    "Each tool named ask_... is an agent. Name a session to continue a conversation. If an agent is still working, "
    "call get_answer with its turn_id."
)


class McpDoor:
    def __init__(self, context: DoorContext, journal: Journal, artifacts: ArtifactService, body_bytes: int) -> None:
        self._context = context
        self._body_bytes = body_bytes
        self._tools = AgentTools(context, artifacts)
        resources = OwnResources(journal, artifacts)
        self._server: Server[dict[str, Any]] = Server(
            "parlour",
            version=VERSION,
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._tools.call,
            on_list_resources=resources.list,
            on_list_resource_templates=resources.templates,
            on_read_resource=resources.read,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            principal = await self._context.access.admit(HTTPConnection(scope), "mcp")
        except Exception as error:  # noqa: BLE001 - the boundary of the door: every error has this standard's form
            await refusal(self._context.refuse("mcp", error))(scope, receive, send)
            return
        scope.setdefault("state", {})["principal"] = principal
        await serve_mcp(self._server, self._body_bytes, scope, receive, send)

    async def _list_tools(
        self, context: McpContext, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self._tools.list())
