"""Defines how platforms reach a bot over the Host's own port: HTTP calls and WebSockets below `/hooks/{bot_id}`."""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, Protocol, runtime_checkable

from parlour.core.encoding import dumps
from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class HookCall:
    """An HTTP call of a platform: an event, or with the method GET the question whether the address is right."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers, with names in lower case."""
    query: Mapping[str, str] = field(default_factory=dict)
    """Decoded fields of the query; the first value of each."""
    method: Literal["GET", "POST"] = "POST"


@dataclass(frozen=True, slots=True)
class HookResponse:
    """The response to a call. Many platforms require their own form, such as a challenge that is returned."""

    status: int = 200
    text: str = ""
    content_type: str = "text/plain"
    content: bytes = field(default=b"", repr=False)
    """A binary body, which is sent instead of the text."""

    @classmethod
    def json(cls, value: Any, status: int = 200) -> "HookResponse":
        """Returns a response with a JSON body."""
        return cls(status, dumps(value), "application/json")


@runtime_checkable
class HookReceiver(Protocol):
    """An adapter in a mode in which the platform calls the Host. It verifies each call itself."""

    async def hook(self, call: HookCall) -> HookResponse:
        """Handles a call. Returns when the received events are stored."""
        ...


@dataclass(frozen=True, slots=True)
class Handshake:
    """The request that opens a WebSocket, before it is accepted or refused. Header names are in lower case."""

    path: str
    """The path below the bot's own address, such as `/onebot/v11/ws`."""
    query: str
    headers: Sequence[tuple[str, str]]
    peer: str
    """The address that the client connects from."""

    def header(self, name: str) -> str:
        """Returns the first value of a header, or an empty string."""
        return next((value for key, value in self.headers if key == name), "")

    def header_values(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]


class SocketClosed(Exception):
    """Raised when the WebSocket is closed. `too_large` is true if the Host closed it because a frame was too large."""

    def __init__(self, too_large: bool = False) -> None:
        super().__init__("the WebSocket is closed")
        self.too_large = too_large


class HookSocket(Protocol):
    """A WebSocket that a platform opened at the Host's own port. It is accepted or refused before anything else."""

    @property
    def handshake(self) -> Handshake: ...

    async def accept(self, max_frame_bytes: int, requires_pongs: bool) -> None: ...

    async def refuse(self, status: int, message: str) -> None: ...

    async def receive(self) -> str | bytes:
        """Receives a frame. Raises SocketClosed."""
        ...

    async def send(self, text: str) -> None:
        """Sends a text frame. Raises SocketClosed."""
        ...

    async def ping(self) -> Awaitable[None]:
        """Returns an awaitable for the pong; raises ConnectionError if the socket is closed before it arrives."""
        ...

    async def close(self, code: int, reason: str) -> None: ...

    def abort(self) -> None:
        """Drops the connection without a closing handshake."""
        ...


@runtime_checkable
class SocketReceiver(Protocol):
    """An adapter to which its platform can open a WebSocket at the Host's own port. It authenticates each one."""

    async def socket(self, socket: HookSocket) -> None:
        """Serves the socket until it is closed."""
        ...
