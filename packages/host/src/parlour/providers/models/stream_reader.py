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

    def __init__(self, exchange: HttpExchange, answer: ResponseParser, first_block: bytes) -> None:
        self._exchange = exchange
        self._answer = answer
        self._first_block = first_block
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
        if self._first_block and _is_no_stream(self._first_block):
            self._finished = True
            return self._answer.parse_whole(await read_json(self._exchange, self._first_block))
        block = self._first_block or await self._exchange.read_block()
        self._first_block = b""
        self._finished = not block
        piece = self._combine(self._split(block))
        if self._finished and not self._ended:
            raise ModelCallFailure("stream_cut", "broke its answer off in the middle")
        self._finished = self._finished or piece.done
        return piece

    def _split(self, block: bytes) -> list[bytes]:
        try:
            return self._splitter.feed(block) if block else self._splitter.end()
        except EventTooLong as error:
            raise ModelCallFailure("answer_too_large", "sent an event that has no end") from error

    def _combine(self, events: list[bytes]) -> ResponseChunk:
        combined = ResponseChunk()
        for event in events:
            if event == DONE:
                combined.done = True
            else:
                combined.add(self._answer.parse_event(_parsed(event)))
        self._ended = self._ended or combined.done or bool(combined.finish_reason)
        return combined


async def read_json(exchange: HttpExchange, first_block: bytes) -> Any:
    body = first_block + await exchange.read_all()
    try:
        return from_json(body)
    except ValueError as error:
        raise not_json_failure(exchange.headers) from error


def _is_no_stream(first_block: bytes) -> bool:
    return first_block.lstrip()[:1] in (b"{", b"[", b"<")


def _parsed(event: bytes) -> Any:
    try:
        return from_json(event)
    except ValueError as error:
        raise ModelCallFailure(
            "answer_malformed", "sent an event that is not JSON in the middle of its answer"
        ) from error
