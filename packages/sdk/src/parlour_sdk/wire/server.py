"""The server side of a connection: serves the other side's requests, whatever their action.

Each request has one task and is answered by exactly one terminal frame.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from functools import partial
from typing import Any, Final

from parlour_sdk.wire.dispatcher import RequestDispatcher
from parlour_sdk.wire.errors import (
    CANCELLED,
    INVALID_ARGUMENT,
    PAYLOAD_TOO_LARGE,
    RATE_LIMITED,
    RUNTIME_ERROR,
    WireError,
)
from parlour_sdk.wire.frames import WireRequest, encode_end, encode_error, encode_part, encode_response
from parlour_sdk.wire.limits import WireLimits
from parlour_sdk.wire.transport import Transport

logger = logging.getLogger(__name__)

# Details of a failure stay in this side's log: an exception's text may contain secrets.
_FAILED: Final = WireError(RUNTIME_ERROR, "the request failed on the side that served it; see its log")
_CANCELLED: Final = WireError(CANCELLED, "the request was cancelled")


class _ServedRequest:
    """A request that is being served."""

    __slots__ = ("action", "answer", "answering", "cancelled", "seq_id", "task")

    def __init__(self, seq_id: int, action: str) -> None:
        self.seq_id = seq_id
        self.action = action
        self.answer: Coroutine[Any, Any, Any]
        self.task: asyncio.Task[None]
        self.cancelled = False
        self.answering = False  # the outcome is final and at most waits to be written


class _ServedStream(_ServedRequest):
    """A stream that is being served, and the number of parts it may still send."""

    __slots__ = ("credit", "more_credit")

    def __init__(self, seq_id: int, action: str, credit: int) -> None:
        super().__init__(seq_id, action)
        self.credit = credit
        self.more_credit: asyncio.Future[None] | None = None

    def grant(self, parts: int) -> None:
        self.credit += parts
        if self.more_credit is not None and not self.more_credit.done():
            self.more_credit.set_result(None)


class ServerSide:
    def __init__(
        self,
        transport: Transport,
        dispatcher: RequestDispatcher,
        limits: WireLimits,
        loop: asyncio.AbstractEventLoop,
        cut_off: Callable[[str], None],
        name: str,
    ) -> None:
        self._transport = transport
        self._dispatcher = dispatcher
        self._limits = limits
        self._loop = loop
        self._close_connection = cut_off
        self._name = name
        self._unary: dict[int, _ServedRequest] = {}
        self._streams: dict[int, _ServedStream] = {}
        self._unread_bytes = 0
        self._closed = False

    def on_request(self, request: WireRequest) -> None:
        seq_id = request.seq_id
        if seq_id in self._unary or seq_id in self._streams:
            self.refuse(seq_id, WireError(INVALID_ARGUMENT, f"seq_id {seq_id} is still being served"))
            return
        try:
            answer = self._dispatcher.dispatch(request.action, request.data)
        except WireError as error:
            self.refuse(seq_id, error)
            return
        except Exception:
            logger.exception("%s: dispatching %s failed", self._name, request.action)
            self.refuse(seq_id, _FAILED)
            return
        if isinstance(answer, AsyncGenerator):
            self._serve_stream(request, answer)
        elif len(self._unary) >= self._limits.unary_calls:
            answer.close()
            self.refuse(seq_id, WireError(RATE_LIMITED, f"{self._limits.unary_calls} calls are in flight"))
        else:
            work = self._unary[seq_id] = _ServedRequest(seq_id, request.action)
            self._begin(work, answer)

    def on_cancel(self, seq_id: int) -> None:
        work = self._unary.get(seq_id) or self._streams.get(seq_id)
        if work is not None and not work.answering:
            self._cancel(work)

    def on_credit(self, seq_id: int, parts: int) -> None:
        work = self._streams.get(seq_id)
        if work is not None:
            work.grant(parts)

    def answer_now(self, seq_id: int, data: Any) -> None:
        self._send_now(encode_response(seq_id, data, self._limits))

    def refuse(self, seq_id: int, error: WireError) -> None:
        self._send_now(self._encode_error(seq_id, error))

    def close(self) -> None:
        self._closed = True
        for work in [*self._unary.values(), *self._streams.values()]:
            self._cancel(work)

    async def wait_stopped(self) -> None:
        """Waits after `close` until every handler has ended, at most `cancel_grace` seconds."""
        works = [*self._unary.values(), *self._streams.values()]
        tasks = {work.task for work in works} - {asyncio.current_task()}
        if tasks:
            await asyncio.wait(tasks, timeout=self._limits.cancel_grace)

    def _serve_stream(self, request: WireRequest, parts: AsyncGenerator[Any, None]) -> None:
        if len(self._streams) >= self._limits.streams:
            self.refuse(request.seq_id, WireError(RATE_LIMITED, f"{self._limits.streams} streams are open"))
            return
        work = _ServedStream(request.seq_id, request.action, self._limits.window)
        self._streams[request.seq_id] = work
        self._begin(work, self._send_parts(work, parts))

    def _begin(self, work: _ServedRequest, answer: Coroutine[Any, Any, Any]) -> None:
        work.answer = answer
        work.task = self._loop.create_task(self._serve(work))  # `_unary` or `_streams` references it while it runs

    async def _serve(self, work: _ServedRequest) -> None:
        """Serves a request and sends its terminal frame.

        A done callback of the task would be slower, and every call passes here.
        """
        try:
            outcome = await work.answer
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - every exception becomes an answer
            frame = self._failure_frame(work, error)
        else:
            frame = self._success_frame(work, outcome)
        work.answering = True
        while self._transport.congested and not self._closed:
            # The request keeps its slot until then, or a side that doesn't read could make us buffer its answers.
            await self._transport.drain()
        self._complete(work, frame)

    async def _send_parts(self, work: _ServedStream, parts: AsyncGenerator[Any, None]) -> None:
        try:
            async for part in parts:
                while work.credit == 0:
                    work.more_credit = self._loop.create_future()
                    await work.more_credit
                if self._transport.congested:
                    await self._transport.drain()
                frame = encode_part(work.seq_id, part, self._limits)
                work.credit -= 1
                self._transport.send(frame)
        finally:
            await parts.aclose()

    def _cancel(self, work: _ServedRequest) -> None:
        """Cancels a request once, so that a repeated cancel does not interrupt its cleanup."""
        if work.cancelled:
            return
        work.cancelled = True
        work.task.cancel()
        work.task.add_done_callback(partial(self._answer_unstarted, work))

    def _answer_unstarted(self, work: _ServedRequest, task: asyncio.Task[None]) -> None:
        """Answers a request whose task was cancelled before its first step, since such a task sends nothing."""
        if not work.answering and task.cancelled():
            work.answering = True
            work.answer.close()
            self._complete(work, self._encode_error(work.seq_id, _CANCELLED))

    def _complete(self, work: _ServedRequest, frame: bytes) -> None:
        if self._unary.pop(work.seq_id, None) is None:
            del self._streams[work.seq_id]
        if not self._closed:
            self._transport.send(frame)

    def _failure_frame(self, work: _ServedRequest, error: BaseException) -> bytes:
        if isinstance(error, asyncio.CancelledError):
            return self._encode_error(work.seq_id, _CANCELLED)
        if isinstance(error, WireError):
            return self._encode_error(work.seq_id, error)
        logger.error("%s: %s failed", self._name, work.action, exc_info=error)
        return self._encode_error(work.seq_id, _FAILED)

    def _success_frame(self, work: _ServedRequest, outcome: Any) -> bytes:
        if isinstance(work, _ServedStream):
            return encode_end(work.seq_id)
        try:
            return encode_response(work.seq_id, outcome, self._limits)
        except WireError as unsendable:
            if unsendable.code == PAYLOAD_TOO_LARGE:
                return self._encode_error(work.seq_id, unsendable)
            logger.exception("%s: the answer of %s can't be sent", self._name, work.action)
            return self._encode_error(work.seq_id, _FAILED)

    def _encode_error(self, seq_id: int, error: WireError) -> bytes:
        try:
            return encode_error(seq_id, error, self._limits)
        except WireError as unsendable:
            short = WireError(error.code, f"(details left out: {unsendable.message})"[:200])
            return encode_error(seq_id, short, self._limits)

    def _send_now(self, frame: bytes) -> None:
        """Sends an answer that the limit of concurrent requests does not bound; cuts off a side that never reads."""
        self._unread_bytes = self._unread_bytes + len(frame) if self._transport.congested else 0
        if self._unread_bytes > self._limits.unread_answer_bytes:
            self._close_connection("the other side keeps asking and doesn't read the answers")
        else:
            self._transport.send(frame)
