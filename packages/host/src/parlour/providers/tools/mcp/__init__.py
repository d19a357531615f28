"""Tools of MCP servers. The client library is large and reads what strangers send, so it has a process of its own."""
