"""Serves MCP over streamable HTTP, without sessions: each request stands alone, in all revisions of the standard."""

import logging
from typing import Any

from mcp.server import Server, ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from ...errors import Problem
from ...principals import Principal

McpContext = ServerRequestContext[dict[str, Any], Any]

logging.getLogger("mcp.server.streamable_http_manager").setLevel(logging.WARNING)


def principal_of(context: McpContext) -> Principal:
    """Returns the principal whom the door admitted."""
    assert context.request is not None
    principal: Principal = context.request.state.principal
    return principal


async def serve_mcp(server: Server[Any], body_bytes: int, scope: Scope, receive: Receive, send: Send) -> None:
    """Answers one request. There is no stream of the server's own and no session to end, so only POST is taken."""
    if scope["method"] != "POST":
        headers = {"allow": "POST"}
        await JSONResponse(_error("this server takes POST only"), 405, headers)(scope, receive, send)
        return
    manager = StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=body_bytes)
    async with manager.run():
        await manager.handle_request(scope, receive, send)


def refusal(problem: Problem) -> JSONResponse:
    """Returns the response to a request that is not served. It does not invite clients to log in with OAuth."""
    details = problem.details if isinstance(problem.details, dict) else {}
    headers = {"retry-after": str(max(1, round(details["retry_after"])))} if "retry_after" in details else {}
    return JSONResponse(_error(problem.message, problem.code), problem.status, headers)


def _error(message: str, code: str = "invalid_request") -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": message, "data": {"code": code}}}
