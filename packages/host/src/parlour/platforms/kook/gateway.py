"""The session of KOOK's gateway: its address, greeting, pings, resumption, and the codes that end a session.

A position of the stream is stored with the events before it, so that a restarted Host resumes its session.
"""

import json
from typing import Any, Protocol
from urllib.parse import urlencode

from parlour.core.encoding import dumps
from parlour.core.platforms.port import AdapterStopped, HostLink, PlatformOffline
from parlour.platforms._kit.close_codes import ClosePolicy
from parlour.platforms._kit.json_frames import FrameUnreadable, read_frame
from parlour.platforms._kit.payloads import Payload, number, text
from parlour.platforms._kit.watermark import Ticket, Watermark
from parlour.platforms._kit.websocket_client import PlatformSocket, SocketAddress
from parlour_sdk.values import dataclass

from .client import TOKEN_CODES, KookClient, KookRefused

EVENT, HELLO, PING, PONG, RECONNECT, RESUMED = 0, 1, 2, 3, 5, 6
PING_SECONDS = 30.0
SEQUENCES = 65536
"""The number of events after which their numbers begin again."""
NORMAL_CLOSE = 1000
POLICY = ClosePolicy()
WRONG_TOKEN = "token: KOOK does not know it; copy it again from developer.kookapp.cn, page Bot"


@dataclass(frozen=True, slots=True)
class KookEvent:
    """An event of the gateway, with its place in the stream of its session."""

    data: Any
    session_id: str
    ticket: Ticket | None = None


class KookEventHandler(Protocol):
    """Handles the events of the gateway in their order."""

    async def received_event(self, event: KookEvent) -> None: ...


class KookGateway:
    """The session of one bot's connection, for PlatformWebSocketClient."""

    def __init__(self, link: HostLink, client: KookClient, base_url: str, handler: KookEventHandler) -> None:
        self._link = link
        self._client = client
        self._base_url = base_url
        self._handler = handler
        self._session_id = ""
        self._sequence = 0
        self._watermark = Watermark()

    async def restore(self) -> None:
        """Continues the session of the last start, if there is one."""
        try:
            stored = json.loads(await self._link.cursor() or "{}")
        except ValueError:
            return
        if isinstance(stored, dict) and stored.get("base_url") == self._base_url:
            self._session_id = text(stored, "session_id")
            self._sequence = number(stored.get("sequence")) or 0
            self._watermark = Watermark(self._sequence)

    def cursor(self, event: KookEvent) -> str | None:
        """Returns the session with the position that is reached when this event is stored."""
        if event.ticket is None or event.session_id != self._session_id:
            return None
        position = self._watermark.position_with(event.ticket)
        return dumps({"base_url": self._base_url, "session_id": self._session_id, "sequence": position})

    def handled(self, event: KookEvent) -> None:
        if event.ticket is not None and event.session_id == self._session_id:
            self._watermark.finish(event.ticket)

    # --- the session of the WebSocket

    async def address(self) -> SocketAddress:
        try:
            answer = await self._client.get("gateway/index", compress=0)
        except KookRefused as refused:
            if refused.code in TOKEN_CODES:
                raise AdapterStopped(WRONG_TOKEN) from None
            raise
        url = text(answer, "url")
        if not url.startswith(("ws://", "wss://")):
            raise PlatformOffline("what answers at api_base_url is not the KOOK API", retry_after=1.0)
        if self._session_id:
            resume = {"resume": 1, "sn": self._sequence, "session_id": self._session_id}
            url += ("&" if "?" in url else "?") + urlencode(resume)
        return SocketAddress(url)

    async def opened(self, socket: PlatformSocket) -> None:
        """Waits: KOOK greets first."""

    async def received(self, socket: PlatformSocket, frame: str | bytes) -> None:
        try:
            payload = read_frame(frame)
        except FrameUnreadable:
            payload = {"s": EVENT, "d": {"frame": repr(frame[:1000])}}
        data = payload.get("d")
        match payload.get("s"):
            case 0:
                await self._event(number(payload.get("sn")), data)
            case 1:
                await self._hello(socket, data if isinstance(data, dict) else {})
            case 3:
                socket.acknowledge()
            case 5:
                self.forget()
                await socket.close(NORMAL_CLOSE, "KOOK ended the session")
            case 6:
                self._link.report_status("connected")

    def forget(self) -> None:
        self._session_id, self._sequence, self._watermark = "", 0, Watermark()

    async def _hello(self, socket: PlatformSocket, greeting: Payload) -> None:
        code = number(greeting.get("code")) or 0
        if code in TOKEN_CODES:
            raise AdapterStopped(WRONG_TOKEN)
        if code:
            self.forget()
            await socket.close(NORMAL_CLOSE, f"KOOK refused the session ({code})")
            return
        session_id = text(greeting, "session_id")
        if session_id != self._session_id:
            self.forget()
            self._session_id = session_id
            await self._link.receive(cursor=self._start())
        socket.start_heartbeat(PING_SECONDS, lambda: dumps({"s": PING, "sn": self._sequence}))
        self._link.report_status("connected")

    def _start(self) -> str:
        """Returns the cursor of a session before its first event."""
        return dumps({"base_url": self._base_url, "session_id": self._session_id, "sequence": 0})

    async def _event(self, sequence: int | None, data: Any) -> None:
        ticket = None
        if sequence is not None and self._is_next(sequence):
            self._sequence = sequence
            ticket = self._watermark.begin(sequence)
        await self._handler.received_event(KookEvent(data, self._session_id, ticket))

    def _is_next(self, sequence: int) -> bool:
        """Returns whether a number is ahead of the last one; numbers begin again after the largest."""
        return 0 < (sequence - self._sequence) % SEQUENCES < SEQUENCES // 2
