"""Handles one WebSocket to a OneBot implementation, opened by either side: calls with their responses, events, and the
offset of its clock.
"""

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode

from parlour.core.encoding import dumps
from parlour.core.platforms.port import PlatformOffline, PlatformUncertain
from parlour.platforms._kit.json_frames import FrameUnreadable, read_frame

from .payloads import raise_for

logger = logging.getLogger(__name__)
RESPONSE_TIMEOUT_SECONDS = 30.0
MAX_MISSED_HEARTBEATS = 3
"""Number of heartbeat intervals without a frame after which the implementation counts as gone."""
HEARTBEAT_GRACE_INTERVALS = 1.5
"""Number of intervals within which the next heartbeat of a live implementation arrives."""
OFFLINE_RETRY_SECONDS = 1.0
CLOSE_TIMEOUT_SECONDS = 2.0
TOKEN_REJECTED_RETCODES = (1401, 1403)
RESPONSE_FIELDS = {"status", "retcode", "data"}
"""Fields that every known implementation puts into a response; a response with none of them is meaningless."""
MAX_FRAME_BYTES = 64 * 1024 * 1024
_numbers = itertools.count(1)
"""Numbers of calls, unique in the process: a late answer to a lost connection matches no call on the next one."""
Payload = dict[str, Any]
MIN_REPORTED_SKEW_MILLISECONDS = 120_000
"""Minimum difference in milliseconds that is reported to the operator."""


class Abortable(Protocol):
    def abort(self) -> None: ...


class Socket(Protocol):
    """The methods of a `websockets` connection that are used here."""

    @property
    def remote_address(self) -> Any: ...

    @property
    def transport(self) -> Abortable: ...

    async def recv(self, decode: bool | None = None) -> str | bytes: ...

    async def send(self, message: str) -> None: ...

    async def close(self, code: int = 1000, reason: str = "") -> None: ...

    async def ping(self) -> Awaitable[Any]: ...


class OneBotConnectionLost(PlatformUncertain):
    """Raised when the connection ends before the response arrives."""


class OneBotConnection:
    """Connection to one OneBot implementation. `role` is universal, api or event, as the implementation announced."""

    def __init__(self, socket: Socket, role: str = "universal") -> None:
        self._socket = socket
        self.role = role
        self.account = ""
        self.clock = PeerClock()
        self.unreadable = 0
        self._answers: dict[str, asyncio.Future[Payload | None]] = {}
        self._last_frame_at = 0.0
        self._interval = 0.0
        self._watch: asyncio.Task[None] | None = None
        self.silent = False
        self.too_large = False
        """True if it was closed because of a frame over the size limit."""
        self.token_rejected = False
        """True if the implementation rejected the access token after the connection was open."""
        self._closed = False

    @property
    def peer(self) -> str:
        address = self._socket.remote_address
        return str(address[0]) if address else "an unknown address"

    async def call(self, action: str, params: Payload, seconds: float = RESPONSE_TIMEOUT_SECONDS) -> Any:
        """Calls an action and returns the data of its response.

        Raises PlatformRefused, PlatformOffline or PlatformUncertain.
        """
        if self._closed:
            raise PlatformOffline("the OneBot implementation is not connected", retry_after=OFFLINE_RETRY_SECONDS)
        echo = f"parlour-{next(_numbers)}"
        response: asyncio.Future[Payload | None] = asyncio.get_running_loop().create_future()
        self._answers[echo] = response
        try:
            async with asyncio.timeout(seconds):
                await self._socket.send(dumps({"action": action, "params": params, "echo": echo}))
                answer = await response
        except TimeoutError:
            raise PlatformUncertain(f"OneBot did not answer {action} within {seconds:g} seconds") from None
        except ConnectionClosed:
            answer = None
        finally:
            del self._answers[echo]
        if answer is None:
            raise OneBotConnectionLost(f"the connection was cut before OneBot answered {action}")
        if not answer.keys() & RESPONSE_FIELDS:
            raise PlatformUncertain(f"OneBot answered {action} without saying whether it was done")
        raise_for(action, answer)
        return answer.get("data")

    async def read(self, take: Callable[[Payload, int], Awaitable[None]]) -> None:
        """Reads frames until the connection ends.

        `take` receives each event and its size; no response is read while it waits.
        """
        loop = asyncio.get_running_loop()
        try:
            while True:
                frame = await self._socket.recv(decode=False)
                self._last_frame_at = loop.time()
                try:
                    payload = read_frame(frame)
                except FrameUnreadable as problem:
                    self._note_unreadable(str(problem))
                    continue
                if "post_type" not in payload:
                    self._answer(payload)
                    continue
                try:
                    await take(payload, len(frame))
                except Exception:  # one event that fails must not stop the others
                    logger.exception("an event from %s could not be handled", self.peer)
        except ConnectionClosed as closed:
            self.too_large = closed.sent is not None and closed.sent.code == CloseCode.MESSAGE_TOO_BIG
        finally:
            self._end()

    def watch_heartbeat(self, seconds: float) -> None:
        """Starts to monitor heartbeats at the announced interval; after a few intervals without any frame the
        connection is closed.
        """
        if self._watch is None and seconds > 0:
            self._interval = seconds
            self._watch = asyncio.create_task(self._watching(max(seconds, 0.05) * MAX_MISSED_HEARTBEATS))

    async def is_alive(self, seconds: float) -> bool:
        """Returns whether the other end still answers a ping, or at least sends its heartbeat.

        An implementation that uses the connection only for events may never read from it and so never answers:
        go-cqhttp and Lagrange don't.
        """
        if (
            self.role == "event"
            and self._last_frame_at + self._interval * HEARTBEAT_GRACE_INTERVALS > asyncio.get_running_loop().time()
        ):
            return True
        try:
            async with asyncio.timeout(seconds):
                await (await self._socket.ping())
        except (TimeoutError, ConnectionClosed):
            return False
        return True

    def abort(self) -> None:
        """Drops the connection without a closing handshake."""
        self._socket.transport.abort()

    async def _watching(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        while True:
            remaining = self._last_frame_at + seconds - loop.time()
            if remaining <= 0:
                break
            await asyncio.sleep(remaining)
        self.silent = True
        await self._socket.close(1001, "no heartbeat")

    def _answer(self, payload: Payload) -> None:
        response = self._answers.get(str(payload.get("echo")))
        if response is None:
            self.token_rejected = self.token_rejected or payload.get("retcode") in TOKEN_REJECTED_RETCODES
        elif not response.done():
            response.set_result(payload)

    def _note_unreadable(self, problem: str) -> None:
        self.unreadable += 1
        # only the 1st, 2nd, 4th, 8th ... is logged, so that a flood of frames does not flood the log
        if self.unreadable & (self.unreadable - 1) == 0:
            logger.warning("frame %d from %s can't be read: %s", self.unreadable, self.peer, problem)

    def _end(self) -> None:
        self._closed = True
        if self._watch is not None:
            self._watch.cancel()
        for response in self._answers.values():
            if not response.done():
                response.set_result(None)


class PeerClock:
    """Offset of one implementation's clock from the Host's clock."""

    def __init__(self) -> None:
        self._offset: int | None = None

    def compare(self, peer_time: int, now: int, certainly: bool = True) -> None:
        """Records the time of the implementation's clock at the time `now` of the Host's clock. The last comparison
        counts.

        A timestamp that may be old (`certainly` is false) is used only if it agrees with the Host's clock.
        """
        if certainly or abs(peer_time - now) < MIN_REPORTED_SKEW_MILLISECONDS:
            self._offset = peer_time - now

    def to_host_time(self, peer_time: int, arrived_at: int) -> int:
        """Converts a timestamp to the Host's clock; 0 if the offset is not known.

        The result is never later than the arrival, whatever the timestamp says.
        """
        if self._offset is None or not peer_time:
            return 0
        return max(0, min(peer_time - self._offset, arrived_at))

    def timestamp_problem(self, peer_time: int, arrived_at: int) -> str:
        """Returns a description if a message's timestamp is far from its arrival, else an empty string."""
        delay = arrived_at - (peer_time - (self._offset or 0))
        if not peer_time or abs(delay) < MIN_REPORTED_SKEW_MILLISECONDS:
            return ""
        minutes = round(abs(delay) / 60_000)
        written_at = f"{minutes} minutes before it came" if delay > 0 else f"{minutes} minutes from now"
        return (
            f"a message says that it was written {written_at}; if that is not so, "
            "set the OneBot implementation's clock right"
        )

    @property
    def skew_problem(self) -> str:
        """Description of the clock difference; empty while the clocks are about equal."""
        if self._offset is None or abs(self._offset) < MIN_REPORTED_SKEW_MILLISECONDS:
            return ""
        minutes, direction = round(abs(self._offset) / 60_000), "ahead of" if self._offset > 0 else "behind"
        return f"the OneBot implementation's clock is {minutes} minutes {direction} the Host's; set one of them right"
