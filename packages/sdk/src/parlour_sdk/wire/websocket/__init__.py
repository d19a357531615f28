"""Transports over WebSockets. `parlour_sdk.wire` doesn't import it, to spare plugin processes the library."""

from parlour_sdk.wire.websocket.client import CannotConnect, connect
from parlour_sdk.wire.websocket.server import serve, serve_admitted
from parlour_sdk.wire.websocket.transport import WebSocketTransport

__all__ = ["CannotConnect", "WebSocketTransport", "connect", "serve", "serve_admitted"]
