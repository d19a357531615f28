"""An MCP server over streamable HTTP that speaks the current revision, which knows no sessions."""

import os
import socket
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
    listening = socket.create_server(("127.0.0.1", int(os.environ["PORT"])))
    sys.stderr.write("listening\n")
    sys.stderr.flush()
    uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="error")).run([listening])
