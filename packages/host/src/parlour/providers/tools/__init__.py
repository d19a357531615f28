"""Provides one registry of all tools: the Host's own, those of plugins and those of MCP servers."""
