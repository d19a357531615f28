"""Tools of MCP servers. The client library is large and parses untrusted input, so it runs in a process of its own."""
