"""Receives reports over Lark's long connection: a WebSocket with binary frames, each acknowledged when it is stored.

Lark repeats a report that is not acknowledged after 15 seconds, 5 minutes, one hour and 6 hours. It sends each report
to one of the connections of an app.
"""

import base64
import logging
import time
from collections.abc import Mapping
from urllib.parse import parse_qs, urlsplit

from parlour.core.encoding import dumps
from parlour.core.platforms.port import AdapterStopped, HostLink, PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.close_codes import ClosePolicy
from parlour.platforms._kit.intake import EventQueue
from parlour.platforms._kit.json_frames import FrameUnreadable, read_frame
from parlour.platforms._kit.payloads import Payload, number, object_in, text
from parlour.platforms._kit.websocket_client import PlatformSocket, SocketAddress
from parlour_sdk.values import dataclass

from .client import APP_CODES, LarkClient, LarkRefused
from .decode import chat_key
from .entities import SERVICE
from .event_processor import LarkEventProcessor
from .frames import CONTROL, DATA, FrameInvalid, LarkFrame, decode_frame

logger = logging.getLogger(__name__)

PING_SECONDS = 120.0
SOCKET_PING_SECONDS = 20.0
TOO_MANY_CONNECTIONS = 1000040350
TOO_MANY_SECONDS = 60.0
MAX_PARTS = 1000
MAX_PARTIAL_REPORTS = 100
OK_STATUS = 200
WRONG_SECRET = "app_secret: Lark does not accept it with this app id; copy both from the page Credentials & Basic Info"
TOO_MANY = "Lark accepts 50 connections of an app, and all are in use; stop the other programs that use this app"


class LarkClosePolicy(ClosePolicy):
    """Reads why Lark refused a connection."""

    def describe_status(self, service: str, status: int, headers: Mapping[str, str] | None = None) -> str:
        message = (headers or {}).get("handshake-msg", "")[:200]
        code = (headers or {}).get("handshake-autherrcode", "")
        if code == str(TOO_MANY_CONNECTIONS):
            return TOO_MANY
        return (
            f"{service} refused the connection: {message}"
            if message
            else f"{service} answered with HTTP status {status}"
        )


POLICY = LarkClosePolicy()


@dataclass(frozen=True, slots=True)
class ReceivedFrame:
    """A report with the frame that acknowledges it."""

    socket: PlatformSocket
    frame: LarkFrame
    report: Payload


class LarkLongConnection:
    """The session of one bot's connection, for PlatformWebSocketClient."""

    def __init__(self, link: HostLink, client: LarkClient, processor: LarkEventProcessor) -> None:
        self._link = link
        self._client = client
        self._processor = processor
        self._queue: EventQueue[ReceivedFrame] = EventQueue(self._handle)
        self._partial: BoundedMap[str, list[bytes]] = BoundedMap(MAX_PARTIAL_REPORTS)
        self._service = 0
        self._ping_seconds = PING_SECONDS

    async def close(self) -> None:
        await self._queue.close()

    async def address(self) -> SocketAddress:
        try:
            endpoint = await self._client.endpoint()
        except LarkRefused as refused:
            if refused.code == TOO_MANY_CONNECTIONS:
                raise PlatformRefused(TOO_MANY, retry_after=TOO_MANY_SECONDS) from None
            if refused.code in APP_CODES:
                raise AdapterStopped(WRONG_SECRET) from None
            raise
        url = text(endpoint, "URL")
        if not url.startswith(("ws://", "wss://")):
            raise PlatformOffline("what answers at api_base_url is not the Lark API", retry_after=1.0)
        service = parse_qs(urlsplit(url).query).get("service_id", ["0"])[0]
        self._service = int(service) if service.isdecimal() else 0
        self._ping_seconds = number(object_in(endpoint, "ClientConfig").get("PingInterval")) or PING_SECONDS
        return SocketAddress(url)

    async def opened(self, socket: PlatformSocket) -> None:
        socket.start_heartbeat(self._ping_seconds, self._ping)
        self._link.report_status("connected")

    def _ping(self) -> bytes:
        return LarkFrame(CONTROL, self._service, {"type": "ping"}).encode()

    async def received(self, socket: PlatformSocket, data: str | bytes) -> None:
        try:
            frame = decode_frame(data if isinstance(data, bytes) else data.encode())
        except FrameInvalid as error:
            logger.debug("bot %s received something that is no frame: %s", self._link.bot_id, error)
            return
        if frame.method == CONTROL:
            socket.acknowledge()
            return
        payload = self._joined(frame) if frame.method == DATA else None
        if payload is None:
            return
        try:
            report = read_frame(payload)
        except FrameUnreadable:
            report = {"event": {"frame": repr(payload[:1000])}}
        await self._queue.submit(chat_key(report), ReceivedFrame(socket, frame, report), len(payload))

    def _joined(self, frame: LarkFrame) -> bytes | None:
        """Returns the payload of a report, whose last missing part this frame may be."""
        count, place = (_count(frame.headers.get(name, "")) for name in ("sum", "seq"))
        if count <= 1:
            return frame.payload
        message_id = frame.headers.get("message_id", "")
        if count > MAX_PARTS or place >= count:
            return None
        parts = self._partial.get(message_id) or [b""] * count
        if len(parts) != count:
            return None
        parts[place] = frame.payload
        self._partial.set(message_id, parts)
        if not all(parts):
            return None
        self._partial.pop(message_id)
        return b"".join(parts)

    def forget(self) -> None:
        """Does nothing: Lark has no sessions to resume."""

    async def _handle(self, item: ReceivedFrame) -> None:
        """Stores a report, and acknowledges it on the connection over which it came."""
        began = time.monotonic()
        response = await self._processor.store(item.report)
        answer: Payload = {"code": OK_STATUS}
        if response:
            answer["data"] = base64.b64encode(dumps(response).encode()).decode()
        frame = item.frame
        frame.headers["biz_rt"] = str(round((time.monotonic() - began) * 1000))
        frame.payload = dumps(answer).encode()
        try:
            await item.socket.send(frame.encode())
        except PlatformUncertain:
            logger.debug("bot %s: the connection to %s ended before an acknowledgement", self._link.bot_id, SERVICE)


def _count(value: str) -> int:
    return int(value) if value.isdecimal() and len(value) < 6 else 0
