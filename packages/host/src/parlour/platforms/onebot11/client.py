"""One WebSocket to a OneBot implementation, whoever opened it: calls with their answers, and events as they come."""

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode

from parlour.core.encoding import dumps
from parlour.core.platforms.port import PlatformAway, PlatformUncertain
from parlour.platforms._kit.json_frames import Unreadable, read_frame

from .clock_skew import PeerClock
from .errors import raise_for

logger = logging.getLogger(__name__)

ANSWER_SECONDS = 30.0
SILENT_HEARTBEATS = 3
"""After so many intervals without a frame the implementation counts as gone."""
LATE_HEARTBEAT = 1.5
"""Intervals within which the next one has come from whoever is alive."""
AWAY_SECONDS = 1.0
CLOSE_SECONDS = 2.0
TURNED_AWAY = (1401, 1403)
SAYING = {"status", "retcode", "data"}
"""Every known implementation answers with all of them; an answer with none of them says nothing."""
LARGEST_FRAME = 64 * 1024 * 1024
_numbers = itertools.count(1)

Payload = dict[str, Any]


class Abortable(Protocol):
    def abort(self) -> None: ...


class Socket(Protocol):
    @property
    def remote_address(self) -> Any: ...

    @property
    def transport(self) -> Abortable: ...

    async def recv(self, decode: bool | None = None) -> str | bytes: ...

    async def send(self, message: str) -> None: ...

    async def close(self, code: int = 1000, reason: str = "") -> None: ...

    async def ping(self) -> Awaitable[Any]: ...


class Cut(PlatformUncertain):
    """The connection ended before the answer came."""


class Connection:
    """`role` is universal, api or event, as the implementation said."""

    def __init__(self, socket: Socket, role: str = "universal") -> None:
        self._socket = socket
        self.role = role
        self.account = ""
        self.clock = PeerClock()
        self.unreadable = 0
        self._answers: dict[str, asyncio.Future[Payload | None]] = {}
        self._heard = 0.0
        self._interval = 0.0
        self._watch: asyncio.Task[None] | None = None
        self.silent = False
        self.too_large = False
        """Whether it was closed over a frame that is larger than any should be."""
        self.turned_away = False
        """Whether it said, once connected, that the access token is not the right one."""
        self._closed = False

    @property
    def peer(self) -> str:
        address = self._socket.remote_address
        return str(address[0]) if address else "an unknown address"

    async def call(self, action: str, params: Payload, seconds: float = ANSWER_SECONDS) -> Any:
        """The answer's data. Raises PlatformRefused, PlatformAway or PlatformUncertain."""
        if self._closed:
            raise PlatformAway("the OneBot implementation is not connected", retry_after=AWAY_SECONDS)
        echo = f"parlour-{next(_numbers)}"
        answered: asyncio.Future[Payload | None] = asyncio.get_running_loop().create_future()
        self._answers[echo] = answered
        try:
            async with asyncio.timeout(seconds):
                await self._socket.send(dumps({"action": action, "params": params, "echo": echo}))
                answer = await answered
        except TimeoutError:
            raise PlatformUncertain(f"OneBot did not answer {action} within {seconds:g} seconds") from None
        except ConnectionClosed:
            answer = None
        finally:
            del self._answers[echo]
        if answer is None:
            raise Cut(f"the connection was cut before OneBot answered {action}")
        if not answer.keys() & SAYING:
            raise PlatformUncertain(f"OneBot answered {action} without saying whether it was done")
        raise_for(action, answer)
        return answer.get("data")

    async def read(self, take: Callable[[Payload, int], Awaitable[None]]) -> None:
        """Until the connection ends. `take` gets an event and its bytes; while it waits no answer is read."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                frame = await self._socket.recv(decode=False)
                self._heard = loop.time()
                try:
                    payload = read_frame(frame)
                except Unreadable as problem:
                    self._note_unreadable(str(problem))
                    continue
                if "post_type" not in payload:
                    self._answer(payload)
                    continue
                try:
                    await take(payload, len(frame))
                except Exception:  # one event that can't be taken harms no other
                    logger.exception("an event from %s was not taken", self.peer)
        except ConnectionClosed as closed:
            self.too_large = closed.sent is not None and closed.sent.code == CloseCode.MESSAGE_TOO_BIG
        finally:
            self._end()

    def beats_every(self, seconds: float) -> None:
        """The implementation promised a heartbeat; without any frame for a few of them it is gone."""
        if self._watch is None and seconds > 0:
            self._interval = seconds
            self._watch = asyncio.create_task(self._watching(max(seconds, 0.05) * SILENT_HEARTBEATS))

    async def alive(self, seconds: float) -> bool:
        """Whether the other end still answers, or at least tells its heartbeat.

        Who only reports events by it may never read from it, and so answers nothing: go-cqhttp and Lagrange don't.
        """
        if self.role == "event" and self._heard + self._interval * LATE_HEARTBEAT > asyncio.get_running_loop().time():
            return True
        try:
            async with asyncio.timeout(seconds):
                await (await self._socket.ping())
        except (TimeoutError, ConnectionClosed):
            return False
        return True

    def abandon(self) -> None:
        """Nobody is at the other end to be told."""
        self._socket.transport.abort()

    async def _watching(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        while True:
            left = self._heard + seconds - loop.time()
            if left <= 0:
                break
            await asyncio.sleep(left)
        self.silent = True
        await self._socket.close(1001, "no heartbeat")

    def _answer(self, payload: Payload) -> None:
        answered = self._answers.get(str(payload.get("echo")))
        if answered is None:
            self.turned_away = self.turned_away or payload.get("retcode") in TURNED_AWAY
        elif not answered.done():
            answered.set_result(payload)

    def _note_unreadable(self, problem: str) -> None:
        self.unreadable += 1
        if self.unreadable & (self.unreadable - 1) == 0:  # the 1st, 2nd, 4th, 8th: a flood is told without being one
            logger.warning("frame %d from %s can't be read: %s", self.unreadable, self.peer, problem)

    def _end(self) -> None:
        self._closed = True
        if self._watch is not None:
            self._watch.cancel()
        for answered in self._answers.values():
            if not answered.done():
                answered.set_result(None)
