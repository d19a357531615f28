"""The client side of a connection: tracks the requests that this side made. `server` serves the other side's."""

import asyncio
import itertools
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from parlour_sdk.wire.call_slots import CallSlots
from parlour_sdk.wire.errors import DEADLINE_EXCEEDED, NOT_SUPPORTED, ConnectionClosed, WireError
from parlour_sdk.wire.frames import WirePart, WireResponse, encode_cancel, encode_credit, encode_request
from parlour_sdk.wire.limits import WireLimits
from parlour_sdk.wire.stream import WireStream
from parlour_sdk.wire.transport import Transport

from ..values import dataclass

PING: Final = "ping"
_PINGS_IN_FLIGHT: Final = 8


@dataclass(slots=True)
class _Call:
    answer: asyncio.Future[Any]
    slots: CallSlots


@dataclass(slots=True)
class _Abandoned:
    """A cancelled request whose terminal frame has not arrived; a call keeps its slot until then."""

    timer: asyncio.TimerHandle
    slots: CallSlots | None


class ClientSide:
    def __init__(self, transport: Transport, limits: WireLimits, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._limits = limits
        self._loop = loop
        self._seq_ids = itertools.count(1)
        self._calls: dict[int, _Call] = {}
        self._streams: dict[int, WireStream] = {}
        self._abandoned: dict[int, _Abandoned] = {}
        self._on_stream_ended: dict[
            int, Callable[[], None]
        ] = {}  # callbacks for when the other side has ended a stream
        self._slots = CallSlots(limits.unary_calls)
        self._ping_slots = CallSlots(_PINGS_IN_FLIGHT)  # pings must get through on a busy connection
        self._closed_because: str | None = None
        self.ignored_frames = 0

    async def call(self, action: str, data: Any, timeout: float | None) -> Any:
        self._require_open()
        seq_id = next(self._seq_ids)
        frame = encode_request(seq_id, action, data, self._limits)
        slots = self._ping_slots if action == PING else self._slots
        expires = None if timeout is None else self._loop.time() + timeout
        if (self._transport.congested and action != PING) or not slots.try_acquire():
            await self._wait_for_turn(slots, expires)
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._calls[seq_id] = _Call(answer, slots)
        self._transport.send(frame)
        timer = None if expires is None else self._loop.call_at(expires, self._expire, seq_id)
        try:
            return await answer
        except asyncio.CancelledError:
            self._abandon_call(seq_id)
            raise
        finally:
            if timer is not None:
                timer.cancel()

    def stream(self, action: str, data: Any, ended: Callable[[], None] | None) -> WireStream:
        self._require_open()
        seq_id = next(self._seq_ids)
        frame = encode_request(seq_id, action, data, self._limits)
        stream = WireStream(self._limits.window, partial(self._grant, seq_id), partial(self._abandon_stream, seq_id))
        self._streams[seq_id] = stream
        if ended is not None:
            self._on_stream_ended[seq_id] = ended
        self._transport.send(frame)
        return stream

    def on_response(self, response: WireResponse) -> None:
        error = WireError(response.code, response.message, response.data) if isinstance(response.code, str) else None
        call = self._calls.pop(response.seq_id, None)
        if call is None:
            if error is None and response.seq_id in self._streams:
                error = WireError(NOT_SUPPORTED, "the action gives a single answer; use call instead of stream")
            self._end(response.seq_id, error)
            return
        call.slots.release()
        if call.answer.done():  # cancelled in this iteration of the event loop
            return
        if error is None:
            call.answer.set_result(response.data)
        else:
            call.answer.set_exception(error)

    def on_part(self, part: WirePart) -> None:
        stream = self._streams.get(part.seq_id)
        if stream is not None and not part.end:
            stream.feed(part.data)
        elif part.seq_id in self._calls:
            error = WireError(NOT_SUPPORTED, "the action answers with a stream; use stream instead of call")
            self._fail_call(part.seq_id, error, finished=part.end)
        elif part.end:
            self._end(part.seq_id, None)
        elif part.seq_id not in self._abandoned:
            self.ignored_frames += 1

    def on_broken_answer(self, seq_id: int, error: WireError) -> None:
        """Fails the request whose answer can't be decoded, and cancels it on the other side."""
        if seq_id in self._calls:
            self._fail_call(seq_id, error, finished=False)
        elif seq_id in self._streams:
            self._streams[seq_id].abort(error)
        elif seq_id not in self._abandoned:
            self.ignored_frames += 1

    def close(self, reason: str) -> None:
        self._closed_because = reason
        calls, self._calls = self._calls, {}
        for call in calls.values():
            if not call.answer.done():
                call.answer.set_exception(ConnectionClosed(reason))
            call.slots.release()
        streams, self._streams = self._streams, {}
        for stream in streams.values():
            stream.finish(ConnectionClosed(reason))
        ends, self._on_stream_ended = self._on_stream_ended, {}
        for callback in ends.values():
            callback()
        for seq_id in list(self._abandoned):
            self._forget(seq_id)

    def _require_open(self) -> None:
        if self._closed_because is not None:
            raise ConnectionClosed(self._closed_because)

    async def _wait_for_turn(self, slots: CallSlots, expires: float | None) -> None:
        """Acquires a slot, first come first served, and waits until the transport is not congested."""
        try:
            async with asyncio.timeout_at(expires):
                await slots.acquire()
                try:
                    await self._transport.drain()
                    self._require_open()
                except BaseException:
                    slots.release()
                    raise
        except TimeoutError:
            raise _expired() from None

    def _expire(self, seq_id: int) -> None:
        if seq_id in self._calls:
            self._fail_call(seq_id, _expired(), finished=False)

    def _end(self, seq_id: int, error: WireError | None) -> None:
        stream = self._streams.pop(seq_id, None)
        callback = self._on_stream_ended.pop(seq_id, None)
        if stream is not None:
            stream.finish(error)
        elif seq_id in self._abandoned:
            self._forget(seq_id)
        elif callback is None:
            self.ignored_frames += 1
        if callback is not None:
            callback()

    def _fail_call(self, seq_id: int, error: WireError, *, finished: bool) -> None:
        call = self._calls[seq_id]
        if not call.answer.done():
            call.answer.set_exception(error)
        if finished:
            del self._calls[seq_id]
            call.slots.release()
        else:
            self._abandon_call(seq_id)

    def _abandon_call(self, seq_id: int) -> None:
        call = self._calls.pop(seq_id, None)
        if call is not None:
            self._abandon(seq_id, call.slots)

    def _abandon_stream(self, seq_id: int) -> None:
        if self._streams.pop(seq_id, None) is not None:
            self._abandon(seq_id, None)

    def _abandon(self, seq_id: int, slots: CallSlots | None) -> None:
        timer = self._loop.call_later(self._limits.cancel_grace, self._forget, seq_id)
        self._abandoned[seq_id] = _Abandoned(timer, slots)
        self._transport.send(encode_cancel(seq_id))

    def _forget(self, seq_id: int) -> None:
        abandoned = self._abandoned.pop(seq_id)
        abandoned.timer.cancel()
        if abandoned.slots is not None:
            abandoned.slots.release()

    def _grant(self, seq_id: int, parts: int) -> None:
        self._transport.send(encode_credit(seq_id, parts))


def _expired() -> WireError:
    return WireError(DEADLINE_EXCEEDED, "no answer came within the time the caller allows")
