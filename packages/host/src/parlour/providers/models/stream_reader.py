"""Reads a response as a whole or as a stream of events, joining events that arrived together."""

from typing import Any

from pydantic_core import from_json

from .dialects.base import ResponseChunk, ResponseParser
from .errors import ModelCallFailure, not_json_failure
from .http_connection import HttpExchange
from .sse import EventTooLong, SseSplitter

DONE = b"[DONE]"


class ModelStreamReader:
    """One streamed response. A service that does not stream is supported too."""

    def __init__(self, exchange: HttpExchange, answer: ResponseParser, first: bytes) -> None:
        self._exchange = exchange
        self._answer = answer
        self._first = first
        self._splitter = SseSplitter()
        self._ended = False
        """True after the service has reported the end of its answer."""
        self._finished = False

    async def next_chunk(self) -> ResponseChunk | None:
        """Returns the content of the next block; None at the end.

        Raises ModelCallFailure if the stream ends too early.
        """
        if self._finished:
            return None
        if self._first and _is_no_stream(self._first):
            self._finished = True
            return self._answer.parse_whole(await read_json(self._exchange, self._first))
        block = self._first or await self._exchange.read_block()
        self._first = b""
        self._finished = not block
        piece = self._joined(self._split(block))
        if self._finished and not self._ended:
            raise ModelCallFailure("stream_cut", "broke its answer off in the middle")
        self._finished = self._finished or piece.done
        return piece

    def _split(self, block: bytes) -> list[bytes]:
        try:
            return self._splitter.feed(block) if block else self._splitter.end()
        except EventTooLong as error:
            raise ModelCallFailure("answer_too_large", "sent an event that has no end") from error

    def _joined(self, events: list[bytes]) -> ResponseChunk:
        joined = ResponseChunk()
        for event in events:
            if event == DONE:
                joined.done = True
            else:
                joined.add(self._answer.parse_event(_parsed(event)))
        self._ended = self._ended or joined.done or bool(joined.finish_reason)
        return joined


async def read_json(exchange: HttpExchange, first: bytes) -> Any:
    body = first + await exchange.read_all()
    try:
        return from_json(body)
    except ValueError as error:
        raise not_json_failure(exchange.headers) from error


def _is_no_stream(first: bytes) -> bool:
    return first.lstrip()[:1] in (b"{", b"[", b"<")


def _parsed(event: bytes) -> Any:
    try:
        return from_json(event)
    except ValueError as error:
        raise ModelCallFailure(
            "answer_malformed", "sent an event that is not JSON in the middle of its answer"
        ) from error
