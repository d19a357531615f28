"""A small chat platform that shows how an adapter is built on the kit: events by WebSocket, messages by HTTP."""
