"""Tools: one registry over the Host's own, those of plugins and those of MCP servers."""
