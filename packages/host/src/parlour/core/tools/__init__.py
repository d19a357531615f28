"""Ports for tools and MCP servers."""
