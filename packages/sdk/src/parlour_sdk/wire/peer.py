"""One end of a connection, with concurrent calls and streams in both directions.

It knows neither entities nor action names, except `ping`, which it answers itself. The dispatcher decides which other
requests are served and in which order; the transport carries the bytes.
"""

import asyncio
from collections.abc import Callable, Coroutine
from math import inf
from typing import Any, Final, assert_never

from parlour_sdk.wire.client import PING, ClientSide
from parlour_sdk.wire.dispatcher import RequestDispatcher
from parlour_sdk.wire.errors import MalformedFrame
from parlour_sdk.wire.frames import WireCancel, WireCredit, WirePart, WireRequest, WireResponse, decode
from parlour_sdk.wire.limits import DEFAULT_LIMITS, WireLimits
from parlour_sdk.wire.read_limiter import SMALL_FRAME_BYTES, ReadLimiter, count_as_frames, exempt_limiter
from parlour_sdk.wire.server import ServerSide
from parlour_sdk.wire.stream import WireStream
from parlour_sdk.wire.transport import Transport

HUNG_UP: Final = "the other side closed the connection"


class Peer:
    """Makes and serves calls. It must be created inside a running event loop; `start` begins reading and serving."""

    def __init__(
        self,
        transport: Transport,
        dispatcher: RequestDispatcher,
        limits: WireLimits = DEFAULT_LIMITS,
        name: str = "",
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport = transport
        self._limits = limits
        self.name = name
        self._client_side = ClientSide(transport, self._limits, self._loop)
        self._server_side = ServerSide(transport, dispatcher, self._limits, self._loop, self.close, name)
        self._read_limiter = ReadLimiter(self._limits, clock or self._loop.time)
        self._exempt_limiter = exempt_limiter(self._limits, clock or self._loop.time)
        self._resume: asyncio.TimerHandle | None = None
        self.paused_until = -inf
        """Event loop time at which reading resumed, or will resume, after the latest pause by the read limiter."""
        self._reason: str | None = None
        self._closed = asyncio.Event()

    def start(self) -> None:
        self._transport.start(self._receive, self._on_connection_lost)

    def call(self, action: str, data: Any = None, timeout: float | None = None) -> Coroutine[Any, Any, Any]:
        """Makes a call with a single answer. It waits for a free slot first; `timeout` (seconds) includes that wait."""
        return self._client_side.call(action, data, timeout)

    def stream(self, action: str, data: Any = None, ended: Callable[[], None] | None = None) -> WireStream:
        """Requests a stream. It starts immediately and must be read to its end, aborted or closed.

        `ended` is called once when the other side has ended the stream, which can be long after it was aborted here.
        """
        return self._client_side.stream(action, data, ended)

    @property
    def closed(self) -> bool:
        return self._reason is not None

    @property
    def ignored_frames(self) -> int:
        """Number of received answers to requests that this side does not wait for."""
        return self._client_side.ignored_frames

    def close(self, reason: str = "closed by this side", *, refused: bool = False) -> None:
        """Closes the connection: pending calls fail immediately and requests being served are cancelled. Idempotent.

        With `refused` the reason is sent to the other side.
        """
        if self._reason is not None:
            return
        self._reason = reason
        if self._resume is not None:
            self._resume.cancel()
        self._transport.close(reason if refused else "")
        self._client_side.close(reason)
        self._server_side.close()
        self._closed.set()

    async def aclose(self, reason: str = "closed by this side") -> None:
        """Closes the connection and waits until the served requests have stopped, at most `cancel_grace` seconds."""
        self.close(reason)
        await self._server_side.wait_stopped()

    async def wait_closed(self) -> str:
        """Waits until either side closes the connection and returns the reason."""
        await self._closed.wait()
        assert self._reason is not None
        return self._reason

    def _on_connection_lost(self, error: BaseException | None) -> None:
        self.close(HUNG_UP if error is None else str(error) or type(error).__name__)

    def _receive(self, frame: bytes) -> None:
        try:
            incoming = decode(frame, self._limits)
        except MalformedFrame as error:
            self._charge(frame)
            self._refuse(error)
            return
        match incoming:
            case WireResponse():
                self._charge(frame)
                self._client_side.on_response(incoming)
            case WirePart():
                self._charge(frame)
                self._client_side.on_part(incoming)
            case WireRequest():
                if incoming.action == PING:
                    self._charge_exempt(frame)
                    self._server_side.answer_now(incoming.seq_id, None)
                else:
                    self._charge(frame)
                    self._server_side.on_request(incoming)
            case WireCredit():
                self._charge_exempt(frame)
                self._server_side.on_credit(incoming.seq_id, incoming.n)
            case WireCancel():
                self._charge_exempt(frame)
                self._server_side.on_cancel(incoming.seq_id)
            case _:
                assert_never(incoming)

    def _charge(self, frame: bytes) -> None:
        self._pause_for(self._read_limiter.charge(len(frame), count_as_frames(frame)))

    def _charge_exempt(self, frame: bytes) -> None:
        """Charges pings, cancels and credit to a separate limit, so that they neither use up the main one nor flood."""
        if len(frame) > SMALL_FRAME_BYTES:  # larger than any legitimate frame of these kinds
            self._charge(frame)
        else:
            self._pause_for(self._exempt_limiter.charge(len(frame)))

    def _pause_for(self, pause: float) -> None:
        if pause > 0:
            self._transport.pause()
            self.paused_until = self._loop.time() + pause
            self._resume = self._loop.call_at(self.paused_until, self._transport.resume)

    def _refuse(self, error: MalformedFrame) -> None:
        if error.seq_id is None:
            self.close(f"malformed frame: {error.message}", refused=True)
        elif error.is_request:
            self._server_side.refuse(error.seq_id, error)
        else:
            self._client_side.on_broken_answer(error.seq_id, error)
