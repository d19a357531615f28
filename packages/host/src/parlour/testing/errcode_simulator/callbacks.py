"""Calls the bot's address as the platform does: encrypted, within a time limit, and up to three times until the answer
has status 200.

Attempts while the address can't be reached, or answers 404 or 503, are not counted, so that tests can restart the Host.
"""

import asyncio
import itertools
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout

from .crypto import CallbackCrypto, xml_of

TIMEOUT_SECONDS = 5.0
ATTEMPTS = 3
OFFLINE_SECONDS = 0.1
"""Seconds until a call is made again to an address that can't be reached."""


@dataclass(frozen=True)
class CallbackSecrets:
    """What operator and platform share about the calls."""

    token: str = "the-callback-token"
    encoding_aes_key: str = "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C"


@dataclass
class SentCall:
    """A call of the platform, with the answers to its attempts."""

    content: str
    """The content before it was encrypted."""
    answers: list[tuple[int, str]] = field(default_factory=list)
    attempts: int = 0


class CallSender:
    """Makes the calls for one bot."""

    def __init__(self, crypto: CallbackCrypto, notify: Callable[[], Awaitable[None]]) -> None:
        self.crypto = crypto
        self.address = ""
        self.waiting: list[SentCall] = []
        """Calls that were not answered yet."""
        self.made: list[SentCall] = []
        self.timeout_seconds = TIMEOUT_SECONDS
        self.offline_attempts = 300
        self._notify = notify
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._numbers = itertools.count(1)

    def query(self, encrypted: str, **more: str) -> dict[str, str]:
        moment, nonce = str(int(time.time())), f"nonce{next(self._numbers)}"
        return {
            "msg_signature": self.crypto.signature(moment, nonce, encrypted), "timestamp": moment, "nonce": nonce,
            **more,
        }  # fmt: skip

    def body(self, encrypted: str, content: str) -> str:
        return xml_of({"ToUserName": self.crypto.receiver, "Encrypt": encrypted})

    def answered(self, sent: SentCall, answer: str) -> None:
        """Is called with the answer to a call, before it stops waiting."""

    async def verify(self, echo: str = "1616140317555161061") -> tuple[int, str]:
        """Checks the address, as the console does when it is saved."""
        encrypted = self.crypto.encrypt(echo)
        return await self.get(self.query(encrypted, echostr=encrypted))

    async def get(self, query: dict[str, str]) -> tuple[int, str]:
        async with ClientSession() as session, session.get(self.address, params=query) as response:
            return response.status, await response.text()

    async def post(self, query: dict[str, str], body: str, seconds: float = TIMEOUT_SECONDS) -> tuple[int, str]:
        timeout = ClientTimeout(total=seconds)
        headers = {"Content-Type": "text/xml"}
        async with ClientSession(timeout=timeout, headers=headers) as session:
            response = await session.post(self.address, params=query, data=body.encode())
            return response.status, await response.text()

    async def call(self, content: str) -> SentCall:
        """Makes a call, up to three times, and returns it with its answers."""
        return await self._complete(self._add(content), asyncio.Lock())

    def start(self, content: str, chat: str, begin: Callable[[Any], Any]) -> SentCall:
        """Makes a call beside the test. Those of one chat are made in order; one counts as unanswered at once."""
        sent = self._add(content)
        begin(self._complete(sent, self._locks[chat]))
        return sent

    def _add(self, content: str) -> SentCall:
        sent = SentCall(content)
        self.waiting.append(sent)
        self.made.append(sent)
        return sent

    async def _complete(self, sent: SentCall, lock: asyncio.Lock) -> SentCall:
        await self._notify()
        try:
            async with lock:
                await self._attempt(sent)
        finally:
            self.waiting.remove(sent)
            await self._notify()
        return sent

    async def _attempt(self, sent: SentCall) -> None:
        offline = 0
        while sent.attempts < ATTEMPTS and offline < self.offline_attempts:
            encrypted = self.crypto.encrypt(sent.content)
            started = time.monotonic()
            try:
                answer = await self.post(
                    self.query(encrypted), self.body(encrypted, sent.content), self.timeout_seconds
                )
            except TimeoutError:
                sent.attempts += 1
                sent.answers.append((0, ""))
            except (ClientError, OSError):
                offline += 1  # tests restart the Host in less time than the real platform's
                await asyncio.sleep(OFFLINE_SECONDS)
            else:
                sent.answers.append(answer)
                if answer[0] == 200:
                    self.answered(sent, answer[1])
                    return
                if answer[0] in (404, 503):
                    offline += 1
                    await asyncio.sleep(OFFLINE_SECONDS)
                    continue
                sent.attempts += 1
                await asyncio.sleep(max(0.0, min(OFFLINE_SECONDS, started + self.timeout_seconds - time.monotonic())))
            await self._notify()
