"""Limits HTTP connections before authentication: size and time of a request's head, inactivity, and their number.

A WebSocket still counts as the connection that it was opened on; pings detect inactive ones.
"""

import asyncio
import contextlib
import json
import socket
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any, Final, Literal, cast

from uvicorn.config import Config
from uvicorn.server import ServerState

from parlour.core.texts.catalogue import DEFAULT_LANGUAGE
from parlour.core.texts.translation import translate
from parlour.http.localization import accepted_language

from .connection_limits import ConnectionLimiter, RefusalReason
from .sockets import SocketProtocol
from .write_coalescing import CoalescingHttpProtocol, CoalescingTransport

MAX_HEAD_BYTES: Final = 64 * 1024
"""Maximum size in bytes of a request's head."""
DISCARD_SECONDS: Final = 2.0
"""Seconds for which a client that is refused while it sends may continue, so that it can read the answer."""
KEEPALIVE_INTERVAL_SECONDS: Final = 10
"""Seconds between two TCP keepalive probes."""
KEEPALIVE_PROBES: Final = 3
"""Number of unanswered TCP keepalive probes after which the connection is closed."""
_REFUSALS: Final[dict[RefusalReason, tuple[int, str, str]]] = {
    "total": (503, "too_many_connections", "the Host has as many connections as it can take; try again later"),
    "address": (429, "rate_limited", "there are too many connections from this address; close some and try again"),
    "head_bytes": (431, "headers_too_large", f"the head of a request may have at most {MAX_HEAD_BYTES} bytes"),
    "head_time": (408, "request_timeout", "the head of the request did not come in time; send it again"),
    "silent": (408, "request_timeout", "the body of the request did not come in time; send it again"),
}


class HeadTooLarge(Exception):
    """Raised when the head of a request has more than MAX_HEAD_BYTES."""


class BoundedSocket(SocketProtocol):
    """WebSocket protocol that stops counting its connection when the WebSocket ends."""

    def __init__(self, leave: Callable[[], None], config: Config, server_state: ServerState, app_state: Any) -> None:
        super().__init__(config, server_state, app_state)
        self._leave = leave

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._leave()

    def keepalive_timeout(self) -> None:
        """Waits longer while reading is paused: the answer to the ping may be behind unread messages."""
        if self.read_paused and self.ping_timeout is not None:
            self.pong_timer = self.loop.call_later(self.ping_timeout, self.keepalive_timeout)
            return
        super().keepalive_timeout()


class BoundedProtocol(CoalescingHttpProtocol):
    """HTTP protocol that enforces the limits of a connection."""

    def __init__(self, limits: ConnectionLimiter, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._limits = limits
        self._quota = limits.quota
        self._address = ""
        self._entered = False
        self._ended = False
        """True if the connection was refused or ended: data that still arrives is discarded."""
        self._upgraded = False
        self._in_head = self._in_message = False
        self._head_bytes = 0
        self._unparsed = 0
        """Bytes received of a head or a trailer that is not complete, short by at most one read."""
        self._too_large = False
        self._last_received = 0.0
        self._awaited: Literal["head", "body"] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    # --- the connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._address = self.client[0] if self.client else ""
        refusal = self._limits.enter(self._address)
        if refusal is not None:
            self._refuse(refusal)
            self.transport.close()
            return
        self._entered = True
        _probe_when_idle(transport.get_extra_info("socket"), self._quota.silent_seconds)
        self.ws_protocol_class = cast(Any, partial(BoundedSocket, self._leave))
        self._set_timer("head")

    def connection_lost(self, exc: Exception | None) -> None:
        self._set_timer(None)
        self.resume_writing()
        super().connection_lost(exc)
        self._leave()

    def handle_websocket_upgrade(self) -> None:
        self._set_timer(None)
        self._upgraded = True
        super().handle_websocket_upgrade()

    def _leave(self) -> None:
        if self._entered:
            self._entered = False
            self._limits.leave(self._address)

    # --- reading

    def data_received(self, data: bytes) -> None:
        if self._ended:
            return
        self._last_received = self.loop.time()
        self._unparsed += len(data)
        super().data_received(data)
        if self._ended or self._upgraded:
            return
        if self._unparsed > MAX_HEAD_BYTES:
            self._refuse_sender("head_bytes")
            return
        self._set_timer(self._awaited_part())

    def on_message_begin(self) -> None:
        self._in_head = self._in_message = True
        self._head_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._head_bytes += len(url)
        self._check_head()
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_bytes += len(name) + len(value) + 4
        if self._head_bytes > MAX_HEAD_BYTES:
            self._check_head()
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._unparsed = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unparsed = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_message = False
        self._unparsed = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        if self._too_large:
            self._refuse_sender("head_bytes")
        else:
            super().send_400_response(msg)

    def _check_head(self) -> None:
        if self._head_bytes > MAX_HEAD_BYTES:
            self._too_large = True
            raise HeadTooLarge  # the parser stops, and the server calls send_400_response

    # --- time

    def _awaited_part(self) -> Literal["head", "body"] | None:
        """Returns the part of a request that the client has still to send, if any."""
        if self._in_head or self.cycle is None:
            return "head"
        if self._in_message:
            return "body"
        # After an answer the server's own keep-alive timer runs, unless bytes arrived that belong to no request.
        return "head" if self.cycle.response_complete and self.timeout_keep_alive_task is None else None

    def _set_timer(self, missing: Literal["head", "body"] | None) -> None:
        if missing == self._awaited:
            return
        self._awaited = missing
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if missing is not None:
            seconds = self._quota.head_seconds if missing == "head" else self._quota.silent_seconds
            self._timer = self.loop.call_later(seconds, self._on_read_timeout)

    def _on_read_timeout(self) -> None:
        self._timer = None
        if self._awaited == "head":
            self._disconnect("head_time")
            return
        # While reading is paused it is not known whether more was sent.
        last_activity = self.loop.time() if self.flow.read_paused else self._last_received
        remaining = last_activity + self._quota.silent_seconds - self.loop.time()
        if remaining > 0:
            self._timer = self.loop.call_later(remaining, self._on_read_timeout)
        else:
            self._disconnect("silent")

    # --- writing

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(self._quota.silent_seconds, self._on_write_timeout)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _on_write_timeout(self) -> None:
        self._write_timer = None
        self._ended = True
        self._limits.on_refused("silent")
        self.transport.abort()

    # --- ending

    def _disconnect(self, reason: RefusalReason) -> None:
        """Ends a connection whose client has stopped sending, with an answer unless another one has started."""
        if self.cycle is None or self.cycle.response_complete or self._in_head:
            self._refuse(reason)
            self.transport.close()
            return
        self._ended = True
        self._limits.on_refused(reason)
        if not self.cycle.response_started:
            self.transport.write(_answer(reason, self._language()))
        self.transport.close()

    def _refuse_sender(self, reason: RefusalReason) -> None:
        """Ends a connection whose client is still sending. Closing it immediately would discard the answer."""
        self._refuse(reason)
        self._set_timer(None)
        cast(CoalescingTransport, self.transport).write_eof()
        self._timer = self.loop.call_later(DISCARD_SECONDS, self.transport.abort)

    def _refuse(self, reason: RefusalReason) -> None:
        self._ended = True
        self._limits.on_refused(reason)
        self.transport.write(_answer(reason, self._language()))

    def _language(self) -> str:
        """Returns the language of the incoming request by the headers received so far; English if there are none.

        A connection over the limit is refused before anything is read: waiting for its head would grant it the
        connection that it is refused.
        """
        return accepted_language(self.headers) if self._in_head or self._in_message else DEFAULT_LANGUAGE


def _answer(reason: RefusalReason, language: str) -> bytes:
    status, code, english = _REFUSALS[reason]
    message = translate(english, language)
    error = {"error": {"code": code, "message": message, "details": None}}
    body = json.dumps(error, ensure_ascii=False).encode()
    translated = "" if message == english else f"content-language: {language}\r\nvary: Accept-Language\r\n"
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: application/json\r\n{translated}"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body


def _probe_when_idle(connection: Any, seconds: float) -> None:
    """Enables TCP keepalive, so that the kernel detects peers that vanished without closing the connection."""
    options = {"TCP_KEEPIDLE": max(1, int(seconds)), "TCP_KEEPINTVL": KEEPALIVE_INTERVAL_SECONDS}
    with contextlib.suppress(OSError):  # the connection is closed already
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in {**options, "TCP_KEEPCNT": KEEPALIVE_PROBES}.items():
            if hasattr(socket, name):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
