"""The session of a Satori server's socket: identification, logins, pings, and the replay of missed events.

The number of the last event is stored with the events before it, so that a restarted Host asks for what it missed.
"""

import json
from typing import Any, Protocol

from parlour.core.encoding import dumps
from parlour.core.platforms.port import HostLink
from parlour.platforms._kit.close_codes import ClosePolicy
from parlour.platforms._kit.json_frames import FrameUnreadable, read_frame
from parlour.platforms._kit.payloads import UNREADABLE, Payload, number, object_in, objects_in, text, texts_in
from parlour.platforms._kit.watermark import Ticket, Watermark
from parlour.platforms._kit.websocket_client import PlatformSocket, SocketAddress
from parlour_sdk.values import dataclass

from . import entities
from .client import SatoriClient, socket_address
from .entities import ONLINE, SatoriLogin

EVENT, PING, PONG, IDENTIFY, READY, META = range(6)
PING_SECONDS = 10.0
NORMAL_CLOSE = 1000
WRONG_TOKEN = "token: the Satori server does not accept it; enter the one of the server's configuration"
POLICY = ClosePolicy(stop={3000: WRONG_TOKEN, 4001: WRONG_TOKEN, 4004: WRONG_TOKEN})


@dataclass(frozen=True, slots=True)
class SatoriEvent:
    """An event of the server, with its place in the stream."""

    body: Any
    stream: int
    ticket: Ticket | None = None


class SatoriEventHandler(Protocol):
    """Handles the events of the server in their order."""

    async def received_event(self, event: SatoriEvent) -> None: ...


class SatoriGateway:
    """The session of one bot's connection, for PlatformWebSocketClient."""

    def __init__(self, link: HostLink, client: SatoriClient, base: str, handler: SatoriEventHandler) -> None:
        self._link = link
        self._client = client
        self._base = base
        self._handler = handler
        self._token = str(link.config.get("token") or "")
        self._platform = str(link.config.get("platform") or "").strip()
        self._self_id = str(link.config.get("self_id") or "").strip()
        self._stream = 0
        self._last: int | None = None
        self._watermark = Watermark()
        self.logins: dict[str, SatoriLogin] = {}
        """The accounts that are online, by their names."""

    async def restore(self) -> None:
        """Continues behind the last stored event, if there is one."""
        try:
            stored = json.loads(await self._link.cursor() or "{}")
        except ValueError:
            return
        if isinstance(stored, dict) and stored.get("base") == self._base:
            self._last = number(stored.get("sn"))
            self._watermark = Watermark(self._last or 0)

    def cursor(self, event: SatoriEvent) -> str | None:
        """Returns the position that is reached when this event is stored."""
        if event.ticket is None or event.stream != self._stream:
            return None
        return dumps({"base": self._base, "sn": self._watermark.position_with(event.ticket)})

    def handled(self, event: SatoriEvent) -> None:
        if event.ticket is not None and event.stream == self._stream:
            self._watermark.finish(event.ticket)

    def accepts(self, login: SatoriLogin) -> bool:
        """Returns whether events of a login are for this bot."""
        return self._platform in ("", login.platform) and self._self_id in ("", login.self_id)

    # --- the session of the WebSocket

    async def address(self) -> SocketAddress:
        return SocketAddress(socket_address(self._base))

    async def opened(self, socket: PlatformSocket) -> None:
        body: Payload = {"token": self._token} if self._token else {}
        if self._last is not None:  # `sequence` is the older name
            body |= {"sn": self._last, "sequence": self._last}
        await socket.send(dumps({"op": IDENTIFY, "body": body}))

    async def received(self, socket: PlatformSocket, frame: str | bytes) -> None:
        try:
            payload = read_frame(frame)
        except FrameUnreadable:
            payload = {"op": EVENT, "body": {"frame": repr(frame[:1000])}}
        body = payload.get("body")
        match payload.get("op"):
            case 0:
                await self._event(body)
            case 2:
                socket.acknowledge()
            case 4:
                await self._ready(socket, body if isinstance(body, dict) else {})
            case 5:
                self._client.proxied = tuple(texts_in(body, "proxy_urls")) if isinstance(body, dict) else ()

    def forget(self) -> None:
        """Keeps the position: a server that does not know it sends no missed events."""

    async def _ready(self, socket: PlatformSocket, body: Payload) -> None:
        self.logins = {}
        for each in objects_in(body, "logins"):
            self._note_login(each)
        self._client.proxied = tuple(texts_in(body, "proxy_urls"))
        socket.start_heartbeat(PING_SECONDS, lambda: dumps({"op": PING, "body": {}}))
        self._report()

    def _report(self) -> None:
        self._link.report_status("connected", "" if self.logins else self._no_login())

    def _no_login(self) -> str:
        if self._platform or self._self_id:
            return "the Satori server has no such account online; check platform and self_id, or the server"
        return "the Satori server has no account online; log in there"

    def _note_login(self, payload: Payload) -> None:
        try:
            login = entities.login_of(payload)
        except UNREADABLE:
            return
        status = payload.get("status", ONLINE)
        self.logins.pop(login.account, None)
        if status == ONLINE and self.accepts(login):
            self.logins[login.account] = login

    async def _event(self, body: Any) -> None:
        event = body if isinstance(body, dict) else {}
        kind = text(event, "type")
        if kind.startswith("login-"):
            changed = object_in(event, "login") or event
            self._note_login({**changed, "status": 0} if kind == "login-removed" else changed)
            self._report()
        sn = number(event.get("sn", event.get("id")))
        ticket = None
        if sn is not None:
            if self._last is not None and sn < self._last:  # the server was restarted and counts again
                self._stream += 1
                self._watermark = Watermark()
            self._last = sn
            ticket = self._watermark.begin(sn)
        await self._handler.received_event(SatoriEvent(body, self._stream, ticket))
