"""Repeats a request until the service begins to answer, with another key or after a pause where that may help.

A request is not repeated afterwards: output that a runner has received is never withdrawn.
"""

import asyncio
from collections.abc import Callable

from pydantic_core import to_json

from .dialects.base import Question
from .errors import Failure, refused
from .http_connection import Connection, Exchange
from .key_pool import LIMITED_SECONDS, REFUSED_SECONDS, KeyRing
from .timeouts import Patience

ERROR_BYTES = 64 * 1024
FIRST_PAUSE = 0.5
RESTS = (REFUSED_SECONDS, LIMITED_SECONDS)


class Tries:
    """Sends requests with retries and key rotation."""

    def __init__(
        self, connection: Connection, keys: KeyRing, headers: Callable[[str], dict[str, str]], patience: Patience
    ) -> None:
        self._connection = connection
        self._keys = keys
        self._headers = headers
        self._patience = patience

    async def asked(self, question: Question, model: str, wait: float) -> tuple[Exchange, bytes]:
        """Sends a request and returns the exchange, which the caller must close, and the first block of its response.

        The block may take `wait` seconds to arrive. Raises ModelCallFailure.
        """
        body, loop = to_json(question.body), asyncio.get_running_loop()
        tries = rotations = 0
        while True:
            key = self._keys.current(loop.time())
            try:
                return await self._try(question, body, key, model, wait)
            except Failure as failure:
                if failure.other_key and rotations < len(self._keys):
                    rotations += 1
                    if self._keys.rest(key, loop.time(), failure.other_key):
                        continue
                tries += 1
                pause = self._pause(failure, tries)
                if pause is None:
                    raise
            await asyncio.sleep(pause)

    def _pause(self, failure: Failure, tries: int) -> float | None:
        """Returns the seconds before the next attempt; None if there is none."""
        if not failure.again or tries >= self._patience.attempts:
            return None
        pause = FIRST_PAUSE * 2 ** (tries - 1) if failure.wait is None else failure.wait
        return pause if pause <= self._patience.longest_wait else None

    async def _try(self, question: Question, body: bytes, key: str, model: str, wait: float) -> tuple[Exchange, bytes]:
        headers = {**self._headers(key), **question.headers}
        exchange = await self._connection.post(question.path, headers, body, wait)
        try:
            if not 200 <= exchange.status < 300:
                said = await exchange.all(ERROR_BYTES)
                raise refused(exchange.status, exchange.headers, said, model, RESTS)
            return exchange, await _first(exchange)
        except BaseException:
            exchange.close()
            raise


async def _first(exchange: Exchange) -> bytes:
    """Reads the first block. A response that breaks off before it can be repeated."""
    try:
        first = await exchange.block()
    except Failure as failure:
        raise Failure(failure.code, failure.sentence, again=True) from failure
    if not first:
        raise Failure("answer_malformed", "gave an empty answer", again=True)
    return first
