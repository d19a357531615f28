"""Repeats a request until the service begins to answer, with another key or after a pause where that may help.

A request is not repeated afterwards: output that a runner has received is never withdrawn.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable

from parlour.core.backoff import exponential_delay

from .dialects.base import ModelHttpRequest
from .errors import ModelCallFailure, failure_from_response
from .http_connection import HttpExchange, ProviderConnection
from .timeouts import ModelTimeouts

MAX_ERROR_BYTES = 64 * 1024
REFUSED_KEY_PAUSE_SECONDS = 600.0
LIMITED_KEY_PAUSE_SECONDS = 30.0
KEY_PAUSES_SECONDS = (REFUSED_KEY_PAUSE_SECONDS, LIMITED_KEY_PAUSE_SECONDS)
MIN_SECRET_LENGTH = 8
"""Minimum length of a key that is hidden.

A shorter one is a placeholder, as local servers accept, and may be an ordinary word.
"""


class KeyRing:
    """Keys of a provider. It starts with the first and keeps one that works. Without keys there is one empty key."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        self._keys = keys or ("",)
        self._rest_until = dict.fromkeys(range(len(self._keys)), 0.0)
        self._asked_to_wait: dict[int, float] = {}
        """Keys for which the service named a time, with the end of it."""
        self._position = 0

    def __len__(self) -> int:
        return len(self._keys)

    def current(self, now: float) -> str:
        """Returns the key to use; if all are paused, the one whose pause ends first."""
        order = [(self._position + step) % len(self._keys) for step in range(len(self._keys))]
        awake = [index for index in order if self._rest_until[index] <= now]
        self._position = awake[0] if awake else min(order, key=self._rest_until.__getitem__)
        return self._keys[self._position]

    def pause(self, key: str, now: float, seconds: float) -> bool:
        """Pauses a key. Returns whether another key can be tried now."""
        self._rest_until[self._keys.index(key)] = now + seconds
        return any(rest_until <= now for rest_until in self._rest_until.values())

    def honor(self, key: str, now: float, seconds: float) -> None:
        """Notes the time for which the service asks not to be called with a key."""
        self._asked_to_wait[self._keys.index(key)] = now + seconds

    def requested_wait(self, now: float) -> float:
        """Returns the seconds until the service may be called again; 0 unless it named a time for every key."""
        if len(self._asked_to_wait) < len(self._keys):
            return 0.0
        return max(0.0, min(self._asked_to_wait.values()) - now)

    def mask(self, text: str) -> str:
        """Masks all keys in a text, because services repeat what they were sent."""
        for key in self._keys:
            text = text.replace(key, "********") if len(key) >= MIN_SECRET_LENGTH else text
        return text


class RetryingClient:
    """Sends requests with retries and key rotation."""

    def __init__(
        self,
        connection: ProviderConnection,
        keys: KeyRing,
        headers: Callable[[str], dict[str, str]],
        timeouts: ModelTimeouts,
        signed_path: Callable[[str, str], Awaitable[str]] | None = None,
    ) -> None:
        """`signed_path` adds a key to the path of a request, for services that do not take it in a header."""
        self._connection = connection
        self._keys = keys
        self._headers = headers
        self._timeouts = timeouts
        self._signed_path = signed_path

    async def request(self, question: ModelHttpRequest, model: str, wait: float) -> tuple[HttpExchange, bytes]:
        """Sends a request and returns the exchange, which the caller must close, and the first block of its response.

        The block may take `wait` seconds to arrive. Raises ModelCallFailure.
        """
        body, loop = question.encoded(), asyncio.get_running_loop()
        tries = rotations = 0
        while True:
            if (rest := self._keys.requested_wait(loop.time())) > self._timeouts.longest_wait:
                raise ModelCallFailure("rate_limited", f"asked not to be called for another {math.ceil(rest)} seconds")
            key = self._keys.current(loop.time())
            try:
                return await self._try(question, body, key, model, wait)
            except ModelCallFailure as failure:
                if failure.code == "rate_limited" and failure.retry_after:
                    self._keys.honor(key, loop.time(), failure.retry_after)
                if failure.key_pause_seconds and rotations < len(self._keys):
                    rotations += 1
                    if self._keys.pause(key, loop.time(), failure.key_pause_seconds):
                        continue
                tries += 1
                pause = self._pause(failure, tries)
                if pause is None:
                    raise
            await asyncio.sleep(pause)

    def _pause(self, failure: ModelCallFailure, tries: int) -> float | None:
        """Returns the seconds before the next attempt; None if there is none."""
        if not failure.retryable or tries >= self._timeouts.attempts:
            return None
        pause = failure.retry_after
        if pause is None:
            pause = exponential_delay(tries, self._timeouts.first_pause, math.inf)
        return pause if pause <= self._timeouts.longest_wait else None

    async def _try(
        self, question: ModelHttpRequest, body: bytes, key: str, model: str, wait: float
    ) -> tuple[HttpExchange, bytes]:
        headers = {**self._headers(key), **question.headers}
        path = question.path if self._signed_path is None else await self._signed_path(question.path, key)
        exchange = await self._connection.post(path, headers, body, wait)
        try:
            if not 200 <= exchange.status < 300:
                error_body = await exchange.read_all(MAX_ERROR_BYTES)
                raise failure_from_response(exchange.status, exchange.headers, error_body, model, KEY_PAUSES_SECONDS)
            return exchange, await _first_block(exchange)
        except BaseException:
            exchange.close()
            raise


async def _first_block(exchange: HttpExchange) -> bytes:
    """Reads the first block. A response that breaks off before it can be repeated; one that is too long can't.

    The first block may be all that the service has sent so far, so it can exceed the limit of the whole response.
    """
    try:
        block = await exchange.read_block()
    except ModelCallFailure as failure:
        repeatable = failure.code != "answer_too_large"
        raise ModelCallFailure(failure.code, failure.sentence, retryable=repeatable) from failure
    if not block:
        raise ModelCallFailure("answer_malformed", "gave an empty answer", retryable=True)
    return block
