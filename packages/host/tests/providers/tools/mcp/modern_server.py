"""An MCP server over streamable HTTP that speaks the current revision, which knows no sessions."""

import os
import sys

import uvicorn
from mcp.server import MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("modern")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def leave() -> str:
    """Ends the server while it is being called."""
    os._exit(1)


if __name__ == "__main__":
    print("listening", file=sys.stderr, flush=True)
    uvicorn.run(server.streamable_http_app(), port=int(os.environ["PORT"]), log_level="error")
