"""The wire between Host and plugin: many concurrent calls and streams in both directions over one connection."""

from parlour_sdk.wire.dispatcher import RequestDispatcher
from parlour_sdk.wire.errors import ConnectionClosed, FrameTooLarge, MalformedFrame, WireError
from parlour_sdk.wire.limits import WireLimits
from parlour_sdk.wire.memory import memory_pair
from parlour_sdk.wire.peer import HUNG_UP, Peer
from parlour_sdk.wire.stdio import StdioTransport
from parlour_sdk.wire.stream import WireStream
from parlour_sdk.wire.transport import Transport

__all__ = [
    "HUNG_UP",
    "ConnectionClosed",
    "FrameTooLarge",
    "MalformedFrame",
    "Peer",
    "RequestDispatcher",
    "StdioTransport",
    "Transport",
    "WireError",
    "WireLimits",
    "WireStream",
    "memory_pair",
]
