"""The MCP server of runs for services elsewhere, on a listener of its own.

Such services have one fixed list of tools and can set no header for a run, so each tool takes the token of the run as
an argument. It counts as long as the run is active. Tools that change something need an agent that allows them.
"""

from typing import Any

import mcp_types as types
from mcp.server import Server
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from parlour.core.access.rate_limit import TokenBucket
from parlour.core.actions.gate import Gate
from parlour.core.actions.gateway import GatewayTokens
from parlour.version import VERSION

from ..doors.mcp.transport import McpContext, serve_mcp
from .app import BODY_BYTES, INSTRUCTIONS, REFUSALS_BURST, REFUSALS_PER_SECOND
from .tools import TOOLS, GatewayTools, definition, failure

RUN_TOKEN = "run_token"
"""Argument with the token of the run."""
_TOKEN_SCHEMA = {"type": "string", "description": "The token of this run, exactly as it was given with the message."}


class ServiceGateway:
    """Answers calls that name the token of an active run, with the rights of this run and no others."""

    def __init__(self, tokens: GatewayTokens, gate: Gate) -> None:
        self._tokens = tokens
        self._tools = GatewayTools(gate)
        self._refusals: TokenBucket | None = None  # made with the first refusal, since it needs the event loop
        self._server: Server[dict[str, Any]] = Server(
            "parlour", version=VERSION, instructions=INSTRUCTIONS, on_list_tools=self._list, on_call_tool=self._call
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].rstrip("/") != "/mcp":
            # Not found, also for discovery of OAuth: a client must not start a login.
            await JSONResponse({"error": "not found"}, 404)(scope, receive, send)
            return
        await serve_mcp(self._server, BODY_BYTES, scope, receive, send)

    async def _list(self, context: McpContext, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_with_token(definition(name, tool)) for name, tool in TOOLS.items()])

    async def _call(self, context: McpContext, params: types.CallToolRequestParams) -> types.CallToolResult:
        arguments = dict(params.arguments or {})
        token = arguments.pop(RUN_TOKEN, None)
        found = self._tokens.active_use(token.strip()) if isinstance(token, str) else None
        if found is None:
            self._refusals = self._refusals or TokenBucket(REFUSALS_PER_SECOND, REFUSALS_BURST)
            if self._refusals.try_acquire():
                return failure(f"unauthorized: {RUN_TOKEN}: no active run has this token")
            return failure(f"rate_limited: {RUN_TOKEN}: too many wrong tokens; wait a minute")
        use, session = found
        tool = TOOLS.get(params.name)
        if tool is not None and not tool.reads_only and not use.writes:
            return failure(f"unauthorized: {params.name}: this agent allows services to read only")
        return await self._tools.call(session, params.name, arguments)


def _with_token(tool: types.Tool) -> types.Tool:
    schema = tool.input_schema
    properties = {**schema["properties"], RUN_TOKEN: _TOKEN_SCHEMA}
    required = [*schema["required"], RUN_TOKEN]
    return tool.model_copy(update={"input_schema": {**schema, "properties": properties, "required": required}})
