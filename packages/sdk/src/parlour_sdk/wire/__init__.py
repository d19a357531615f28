"""The wire between Host and plugin: many concurrent calls and streams in both directions over one connection."""

from parlour_sdk.wire.dispatcher import Dispatcher
from parlour_sdk.wire.errors import ConnectionClosed, FrameTooLarge, MalformedFrame, WireError
from parlour_sdk.wire.limits import Limits
from parlour_sdk.wire.memory import memory_pair
from parlour_sdk.wire.peer import HUNG_UP, Peer
from parlour_sdk.wire.stdio import StdioTransport
from parlour_sdk.wire.stream import Stream
from parlour_sdk.wire.transport import Transport

__all__ = [
    "HUNG_UP",
    "ConnectionClosed",
    "Dispatcher",
    "FrameTooLarge",
    "Limits",
    "MalformedFrame",
    "Peer",
    "StdioTransport",
    "Stream",
    "Transport",
    "WireError",
    "memory_pair",
]
