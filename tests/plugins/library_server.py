"""An MCP server over stdio with a tool, a resource, a template of resources and a prompt."""

from mcp.server import MCPServer

server = MCPServer("library")


@server.tool()
def borrow(title: str) -> str:
    """Borrows a book."""
    return f"{title} is yours"


@server.resource("library://rules", description="What one may do here")
def rules() -> str:
    return "Be quiet."


@server.resource("library://books/{title}")
def book(title: str) -> str:
    return f"{title} is on shelf seven"


@server.prompt(description="Asks for a review")
def review(title: str) -> str:
    return f"Write three sentences about {title}."


if __name__ == "__main__":
    server.run()
