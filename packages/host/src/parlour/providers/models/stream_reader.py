"""Reads a response as a whole or as a stream of events, joining events that arrived together."""

from typing import Any

from pydantic_core import from_json

from .dialects.base import Answer, Piece
from .errors import Failure, not_json
from .http_connection import Exchange
from .sse import EventTooLong, Splitter

DONE = b"[DONE]"


class Reading:
    """One streamed response. A service that does not stream is supported too."""

    def __init__(self, exchange: Exchange, answer: Answer, first: bytes) -> None:
        self._exchange = exchange
        self._answer = answer
        self._first = first
        self._splitter = Splitter()
        self._ended = False
        """True after the service has reported the end of its answer."""
        self._over = False

    async def piece(self) -> Piece | None:
        """Returns the content of the next block; None at the end.

        Raises ModelCallFailure if the stream ends too early.
        """
        if self._over:
            return None
        if self._first and _is_no_stream(self._first):
            self._over = True
            return self._answer.whole(await whole_answer(self._exchange, self._first))
        block = self._first or await self._exchange.block()
        self._first = b""
        self._over = not block
        piece = self._joined(self._split(block))
        if self._over and not self._ended:
            raise Failure("stream_cut", "broke its answer off in the middle")
        self._over = self._over or piece.done
        return piece

    def _split(self, block: bytes) -> list[bytes]:
        try:
            return self._splitter.feed(block) if block else self._splitter.end()
        except EventTooLong as error:
            raise Failure("answer_too_large", "sent an event that has no end") from error

    def _joined(self, events: list[bytes]) -> Piece:
        joined = Piece()
        for event in events:
            if event == DONE:
                joined.done = True
            else:
                joined.add(self._answer.read(_parsed(event)))
        self._ended = self._ended or joined.done or bool(joined.finish_reason)
        return joined


async def whole_answer(exchange: Exchange, first: bytes) -> Any:
    body = first + await exchange.all()
    try:
        return from_json(body)
    except ValueError as error:
        raise not_json(exchange.headers) from error


def _is_no_stream(first: bytes) -> bool:
    return first.lstrip()[:1] in (b"{", b"[", b"<")


def _parsed(event: bytes) -> Any:
    try:
        return from_json(event)
    except ValueError as error:
        raise Failure("answer_malformed", "sent an event that is not JSON in the middle of its answer") from error
