"""MCP servers that this Host knows."""
