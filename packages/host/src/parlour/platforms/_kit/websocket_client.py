"""Keeps one WebSocket to a platform open: back-off, heartbeats, silence detection, resumption and close codes."""

import asyncio
import logging
import random
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import Protocol

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidProxy,
    InvalidStatus,
    InvalidURI,
    ProxyError,
)

from parlour.core.asyncio_utils import BackgroundTasks
from parlour.core.backoff import Backoff
from parlour.core.platforms.port import AdapterStopped, HostLink, PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.network.http_session import connection_error_reason, proxy_failure_reason
from parlour.network.proxies import InvalidProxy as InvalidProxySetting
from parlour.network.proxies import Proxy, ProxySettings
from parlour_sdk.values import dataclass

from .close_codes import ClosePolicy
from .unreachable import PlatformUnreachable, with_advice

logger = logging.getLogger(__name__)
quiet_logger = logging.getLogger(f"{__name__}.frames")
"""The library's own log of handshakes and frames would contain tokens."""
quiet_logger.setLevel(logging.CRITICAL + 1)

OPEN_TIMEOUT_SECONDS = 20.0
CLOSE_TIMEOUT_SECONDS = 2.0
MIN_STABLE_SECONDS = 30.0
"""Minimum seconds of a successful connection, after which the back-off delay is reset."""
MAX_FRAME_BYTES = 64 * 1024 * 1024
MISSED_HEARTBEAT_CODE = 4000
"""Close code for a connection without heartbeats. 1000 and 1001 would end the session on some platforms."""
REQUESTED_RECONNECT_CODE = 4001
"""Close code for a connection that the platform asked to replace; it keeps the session, as the one above."""
ABNORMAL_CLOSURE_CODE = 1006
"""Code of a connection that ended without a closing handshake."""


@dataclass(frozen=True, slots=True)
class SocketAddress:
    """Address and headers of the next connection. Both may contain a token."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


class SocketSession(Protocol):
    """The platform's side of a connection: login, events and resumption."""

    async def address(self) -> SocketAddress:
        """Returns where to connect, at each attempt. It may ask the platform, and raise the errors of the port."""
        ...

    async def opened(self, socket: "PlatformSocket") -> None:
        """Greets the platform: a new session, or the resumption of the last one.

        A protocol that answers calls and reads frames by itself serves the whole `socket.connection` here.
        """
        ...

    async def received(self, socket: "PlatformSocket", frame: str | bytes) -> None:
        """Handles a frame. The next frame is read when it returns."""
        ...

    def forget(self) -> None:
        """Forgets the session, as the platform does not continue it."""
        ...


class PlatformSocket:
    """An open connection."""

    def __init__(self, connection: ClientConnection, service: str) -> None:
        self.connection = connection
        self._service = service
        self._tasks = BackgroundTasks("a connection is no longer watched")
        self._acknowledged = True
        self._last_frame_at = asyncio.get_running_loop().time()
        self.problem = ""
        """Why this side closed the connection; empty if the platform did."""
        self.reconnect_seconds: float | None = None
        """Seconds until the next connection, if the platform asked for a new one."""

    async def send(self, frame: str | bytes) -> None:
        """Sends a text or binary frame. Raises PlatformUncertain if the connection ends."""
        try:
            await self.connection.send(frame)
        except ConnectionClosed:
            raise PlatformUncertain(f"the connection to {self._service} ended") from None

    async def close(self, code: int, problem: str) -> None:
        """Closes the connection for a reason that is reported to the operator."""
        self.problem = self.problem or problem
        await self.connection.close(code)

    async def reconnect(self, after_seconds: float = 0.0) -> None:
        """Closes the connection because the platform asks for a new one, which is no problem to report.

        The next connection is opened after this time. Back-off applies only to a second request in quick succession.
        """
        self.reconnect_seconds = after_seconds
        await self.connection.close(REQUESTED_RECONNECT_CODE)

    def start_heartbeat(self, seconds: float, beat: Callable[[], str | bytes]) -> None:
        """Sends a frame at this interval; closes the connection if one is not acknowledged before the next.

        The first one is sent after a random part of the interval, so that many clients don't coincide.
        """
        self._tasks.start(self._beat(seconds, beat))

    def acknowledge(self) -> None:
        """Records that the platform answered the last heartbeat."""
        self._acknowledged = True

    def watch_silence(self, seconds: float) -> None:
        """Closes the connection after this time without any frame."""
        self._tasks.start(self._watch(seconds))

    async def read(self, handle: Callable[[str | bytes], Awaitable[None]]) -> None:
        """Reads until the connection ends."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                frame = await self.connection.recv()
                self._last_frame_at = loop.time()
                await handle(frame)
        except ConnectionClosed:
            return

    async def end(self) -> None:
        """Ends heartbeats and the detection of silence."""
        await self._tasks.aclose()

    @property
    def is_closed(self) -> bool:
        return self.connection.close_code is not None

    @property
    def close_code(self) -> int:
        return self.connection.close_code or ABNORMAL_CLOSURE_CODE

    async def _beat(self, seconds: float, beat: Callable[[], str | bytes]) -> None:
        await asyncio.sleep(seconds * random.random())
        while self._acknowledged:
            self._acknowledged = False
            try:
                await self.send(beat())
            except PlatformUncertain:
                return
            await asyncio.sleep(seconds)
        await self.close(MISSED_HEARTBEAT_CODE, f"{self._service} did not answer a heartbeat")

    async def _watch(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        while True:
            remaining = self._last_frame_at + seconds - loop.time()
            if remaining <= 0:
                break
            await asyncio.sleep(remaining)
        await self.close(MISSED_HEARTBEAT_CODE, f"{self._service} sent nothing for {seconds:g} s")


@dataclass(frozen=True, slots=True)
class ConnectionEnd:
    """The reason why a connection ended; empty if the platform asked for a new one."""

    problem: str
    delay: float = 0.0
    """Smallest number of seconds until the next attempt."""


class PlatformWebSocketClient:
    """Connects, serves one connection after the other, and reconnects with back-off. `service` names the platform."""

    def __init__(
        self,
        service: str,
        link: HostLink,
        session: SocketSession,
        proxies: ProxySettings,
        policy: ClosePolicy,
        backoff: Backoff,
        ping_seconds: float | None = None,
    ) -> None:
        self._service = service
        self._link = link
        self._session = session
        self._proxies = proxies
        self._policy = policy
        self._backoff = backoff
        self._ping_seconds = ping_seconds
        """Interval of the pings of WebSocket itself, for a platform that answers them and may have no heartbeat."""
        self._turn = asyncio.Lock()

    async def serve(self) -> None:
        """Runs until it is cancelled. Raises AdapterStopped if the platform's close code says that a retry is useless.

        A second call waits until the first one has ended, so there is never more than one connection.
        """
        async with self._turn:
            self._link.report_status("connecting")
            was_requested = False
            while True:
                started_at = asyncio.get_running_loop().time()
                end = await self._attempt()
                is_stable = asyncio.get_running_loop().time() - started_at > MIN_STABLE_SECONDS
                if is_stable:
                    self._backoff.reset()
                is_request, is_repeated = not end.problem, was_requested and not is_stable
                was_requested = is_request
                if is_request and not is_repeated:
                    self._link.report_status("connecting")
                    await asyncio.sleep(end.delay)
                    continue
                seconds = max(self._backoff.next_delay(), end.delay)
                problem = end.problem or f"{self._service} asked for a new connection"
                self._link.report_status("connecting", f"{problem}; trying again in {seconds:.0f} s")
                await asyncio.sleep(seconds)

    async def _attempt(self) -> ConnectionEnd:
        """Serves one connection until it ends."""
        proxy: Proxy | None = None
        try:
            address = await self._session.address()
            proxy = self._proxies.for_url(address.url)
            async with connect(
                address.url,
                additional_headers=dict(address.headers),
                open_timeout=OPEN_TIMEOUT_SECONDS,
                close_timeout=CLOSE_TIMEOUT_SECONDS,
                ping_interval=self._ping_seconds,
                max_size=MAX_FRAME_BYTES,
                compression=None,
                proxy=proxy.url if proxy is not None else None,
                logger=quiet_logger,
            ) as connection:
                return await self._serve_connection(PlatformSocket(connection, self._service))
        except (PlatformRefused, PlatformUncertain) as error:
            delay = error.retry_after if isinstance(error, PlatformRefused) else None
            return ConnectionEnd(with_advice(error), delay or 0.0)
        except InvalidProxySetting as error:
            return ConnectionEnd(str(error))
        except InvalidStatus as error:
            response = error.response
            return ConnectionEnd(self._policy.describe_status(self._service, response.status_code, response.headers))
        except (OSError, TimeoutError, InvalidURI, InvalidHandshake, ConnectionClosed, InvalidProxy) as error:
            unreachable = PlatformUnreachable(self._service, describe_connect_error(error, proxy))
            is_network = isinstance(error, OSError | TimeoutError) and not isinstance(error, ssl.SSLError)
            return ConnectionEnd(with_advice(unreachable) if is_network else str(unreachable))

    async def _serve_connection(self, socket: PlatformSocket) -> ConnectionEnd:
        async def handle(frame: str | bytes) -> None:
            try:
                await self._session.received(socket, frame)
            except (AdapterStopped, PlatformOffline):
                raise
            except Exception:  # one frame that fails must not stop the others
                logger.exception("a frame for bot %s could not be handled", self._link.bot_id)

        try:
            await self._greet(socket)
            await socket.read(handle)
        finally:
            await socket.end()
        if socket.reconnect_seconds is not None and not socket.problem:
            return ConnectionEnd("", socket.reconnect_seconds)
        code = socket.close_code
        if not socket.problem and code in self._policy.stop:
            raise AdapterStopped(self._policy.stop[code])
        if not socket.problem and self._policy.ends_session(code):
            self._session.forget()
        return ConnectionEnd(socket.problem or self._policy.describe(self._service, code), self._policy.delay(code))

    async def _greet(self, socket: PlatformSocket) -> None:
        try:
            await self._session.opened(socket)
        except PlatformUncertain:
            if not socket.is_closed:  # otherwise the close code says why
                raise


def describe_connect_error(error: BaseException, proxy: Proxy | None) -> str:
    """Describes why no WebSocket was opened, without address and token; it names the proxy if that failed."""
    if proxy is not None:
        status = getattr(getattr(error, "response", None), "status_code", None)
        if isinstance(error, ProxyError) and status is not None:
            reason = "refused the user or password" if status == 407 else f"refused the connection (HTTP {status})"
            return f"the proxy {proxy.name} {reason}"
        cause = error.__cause__ or error
        reason = proxy_failure_reason(cause) or proxy_failure_reason(error)
        if reason or isinstance(error, ProxyError | InvalidProxy):
            return f"the proxy {proxy.name} {reason or 'can not be used'}"
        if isinstance(error, ConnectionError):
            return f"the proxy {proxy.name} can't be reached: {connection_error_reason(error)}"
    if isinstance(error, InvalidURI):
        return "it is at no address of a WebSocket or redirects to none; check the url"
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    if isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLCertVerificationError):
        return "what listens there does not speak TLS; try ws:// instead of wss://"
    if isinstance(error, ConnectionError) and not error.strerror:
        return "it broke the connection off; check whether ws:// or wss:// is right"
    if isinstance(error, OSError):
        return connection_error_reason(error) if error.strerror else "no address of that name takes connections"
    return "what listens there does not speak WebSocket"
