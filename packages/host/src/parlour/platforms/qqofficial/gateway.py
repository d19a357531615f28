"""Receives events over QQ's gateway: a session that is resumed, also after a restart of the Host."""

from collections.abc import Awaitable, Callable

from parlour.core.encoding import dumps
from parlour.core.platforms.port import AdapterStopped, HostLink, PlatformOffline
from parlour.platforms._kit.close_codes import ClosePolicy
from parlour.platforms._kit.json_frames import FrameUnreadable, read_frame
from parlour.platforms._kit.payloads import Payload, number, object_in, text
from parlour.platforms._kit.watermark import Ticket, Watermark
from parlour.platforms._kit.websocket_client import PlatformSocket, SocketAddress
from parlour_sdk.values import dataclass

from .client import WRONG_LOGIN_CODE, QQClient, QQRefused
from .entities import SERVICE

HEARTBEAT_MILLISECONDS = 41_250
INTENT_STEPS = (
    ("all events", 1 << 0 | 1 << 1 | 1 << 10 | 1 << 12 | 1 << 24 | 1 << 25 | 1 << 26 | 1 << 30),
    ("private chats, groups and buttons", 1 << 25 | 1 << 26),
    ("private chats and groups", 1 << 25),
)
"""What the bot asks for, with its name; the next step if QQ refuses one."""
REFUSED_INTENTS = (4013, 4014)
WRONG_SECRET = "secret: QQ does not accept it with this appid; copy both from the page Development Settings"
NEW_SESSION_CODES = frozenset((4001, 4002, 4004, 4006, 4007, 4013, 4014, 9001, 9005, *range(4900, 4914)))
POLICY = ClosePolicy(
    stop={
        4010: "shard: QQ does not accept the connection; report this as a problem of Parlour",
        4011: "shard: QQ wants the bot to be split into several connections, which Parlour does not support",
        4012: "version: QQ does not accept the connection; report this as a problem of Parlour",
        4914: "QQ has taken the bot offline, or allows only its sandbox; check the state of the bot on q.qq.com",
        4915: "QQ has banned the bot; see the messages on q.qq.com",
    },
    restart=NEW_SESSION_CODES,
    delays={4008: 60.0},
    reasons={
        4004: "it does not accept the access token",
        4008: "the bot sent too much",
        4009: "the session has expired",
        4013: "the events that were asked for are invalid",
        4014: "the bot has no permission for some of the events",
    },
)


@dataclass(frozen=True, slots=True)
class QQDispatch:
    """An event of a session."""

    frame: Payload
    session_id: str
    ticket: Ticket | None = None


class QQGateway:
    """The session of one bot's connection, for PlatformWebSocketClient."""

    def __init__(self, link: HostLink, client: QQClient, dispatched: Callable[[QQDispatch], Awaitable[None]]) -> None:
        self._link = link
        self._client = client
        self._dispatched = dispatched
        self._session_id = ""
        self._sequence: int | None = None
        self._watermark = Watermark()
        self._step = 0
        self._token = ""
        self._socket: PlatformSocket | None = None
        self._is_ready = False
        self.bot_id = ""

    def restore(self, stored: Payload) -> None:
        """Continues the session of the last start, if there is one."""
        sequence = number(stored.get("sequence"))
        if sequence is not None and text(stored, "session_id"):
            self._session_id, self._sequence = text(stored, "session_id"), sequence
            self.bot_id, self._watermark = text(stored, "bot_id"), Watermark(sequence)

    def position(self) -> Payload:
        """Returns the session with the position up to which every event is stored."""
        return self._session(self._watermark.position) if self._session_id else {}

    def position_with(self, event: QQDispatch) -> Payload | None:
        """Returns the session with the position that is reached when this event is stored."""
        if event.ticket is None or event.session_id != self._session_id:
            return None
        return self._session(self._watermark.position_with(event.ticket))

    def _session(self, position: int) -> Payload:
        return {"session_id": self._session_id, "sequence": position, "bot_id": self.bot_id}

    def handled(self, event: QQDispatch) -> None:
        if event.ticket is not None and event.session_id == self._session_id:
            self._watermark.finish(event.ticket)

    # --- the session of the WebSocket

    async def address(self) -> SocketAddress:
        self._narrow_intents()
        try:
            gateway = await self._client.call("GET", "/gateway/bot")
            self._token = await self._client.tokens.get()
        except QQRefused as refused:
            if refused.code == WRONG_LOGIN_CODE:
                raise AdapterStopped(WRONG_SECRET) from None
            raise
        limit = object_in(gateway, "session_start_limit")
        if limit.get("remaining") == 0 and not self._session_id:
            seconds = (number(limit.get("reset_after")) or 0) / 1000
            raise PlatformOffline("QQ allows no further session today", retry_after=max(seconds, 1.0))
        url = text(gateway, "url")
        if not url.startswith(("ws://", "wss://")):
            raise PlatformOffline("what answers at api_base_url is not the QQ API", retry_after=1.0)
        return SocketAddress(url)

    def _narrow_intents(self) -> None:
        """Asks for fewer events after QQ refused a new session because of them."""
        refused = self._socket is not None and not self._is_ready and self._socket.close_code in REFUSED_INTENTS
        self._socket, self._is_ready = None, False
        if refused:
            self._ask_for_less()

    def _ask_for_less(self) -> None:
        self._step = min(self._step + 1, len(INTENT_STEPS) - 1)

    async def opened(self, socket: PlatformSocket) -> None:
        """Waits: QQ greets first."""
        self._socket = socket

    async def received(self, socket: PlatformSocket, data: str | bytes) -> None:
        try:
            frame = read_frame(data)
        except FrameUnreadable:
            frame = {"op": 0, "t": "unreadable", "d": {"frame": repr(data[:1000])}}
        match frame.get("op"):
            case 0:
                await self._dispatch(frame)
            case 7:
                await socket.reconnect()
            case 9:
                await self._session_refused(socket)
            case 10:
                interval = number(object_in(frame, "d").get("heartbeat_interval")) or HEARTBEAT_MILLISECONDS
                socket.start_heartbeat(interval / 1000, lambda: dumps({"op": 1, "d": self._sequence}))
                await self._greet(socket)
            case 11:
                socket.acknowledge()

    def forget(self) -> None:
        self._session_id, self._sequence = "", None
        self._client.tokens.reject(self._token)

    async def _session_refused(self, socket: PlatformSocket) -> None:
        """Begins a new session. If that was refused, some of the events are not allowed."""
        if not self._session_id:
            if self._step == len(INTENT_STEPS) - 1:
                raise PlatformOffline(f"{SERVICE} refused the session; check the permissions of the bot")
            self._ask_for_less()
        self._session_id, self._sequence = "", None
        await self._greet(socket)

    async def _greet(self, socket: PlatformSocket) -> None:
        token = f"QQBot {self._token}"
        if self._session_id:
            resume = {"token": token, "session_id": self._session_id, "seq": self._sequence}
            await socket.send(dumps({"op": 6, "d": resume}))
            return
        identify = {"token": token, "intents": INTENT_STEPS[self._step][1], "shard": [0, 1], "properties": {}}
        await socket.send(dumps({"op": 2, "d": identify}))

    async def _dispatch(self, frame: Payload) -> None:
        sequence, data = number(frame.get("s")), object_in(frame, "d")
        if frame.get("t") == "READY":
            self._session_id, self._sequence = text(data, "session_id"), None
            self._watermark = Watermark(max(0, (sequence or 1) - 1))
            self.bot_id = text(object_in(data, "user"), "id")
        if frame.get("t") in ("READY", "RESUMED"):
            self._is_ready = True
            self._link.report_status("connected", self._missing())
        ticket = None
        if sequence is not None and sequence > (self._sequence or 0):
            self._sequence = sequence
            ticket = self._watermark.begin(sequence)
        await self._dispatched(QQDispatch(frame, self._session_id, ticket))

    def _missing(self) -> str:
        """Returns what the bot does not receive, in a sentence."""
        if not self._step:
            return ""
        return f"QQ allows the bot only these events: {INTENT_STEPS[self._step][0]}; the others need permissions"
