"""The session of Discord's gateway: identify, resume, heartbeats, and what each opcode and close code means.

A position of the stream is stored with the events before it, so that a Host that was restarted resumes its session and
misses nothing.
"""

import asyncio
import json
import random
from typing import Any, Protocol

from parlour.core.encoding import dumps
from parlour.core.platforms.port import AdapterStopped, HostLink, PlatformOffline
from parlour.platforms._kit.close_codes import ClosePolicy
from parlour.platforms._kit.json_frames import FrameUnreadable, read_frame
from parlour.platforms._kit.payloads import Payload, number, object_in, text
from parlour.platforms._kit.watermark import Ticket, Watermark
from parlour.platforms._kit.websocket_client import PlatformSocket, SocketAddress
from parlour_sdk.values import dataclass

from .client import DiscordClient, DiscordUnauthorized
from .entities import SERVICE, DiscordAccount

DISPATCH, HEARTBEAT, IDENTIFY, VOICE_STATE, RESUME, RECONNECT, INVALID_SESSION, HELLO, HEARTBEAT_ACK = (
    0, 1, 2, 4, 6, 7, 9, 10, 11,
)  # fmt: skip
INTENTS = sum(1 << bit for bit in (0, 2, 7, 9, 10, 12, 13))
"""Servers, bans, voice states, and messages and reactions in servers and direct messages."""
MEMBERS_INTENT, CONTENT_INTENT = 1 << 1, 1 << 15
"""Intents that have to be switched on in the Developer Portal."""
RECONNECT_CODE = 4000
"""Close code with which the session can be resumed; 1000 and 1001 would end it."""
IDENTIFY_DELAY_SECONDS = (1.0, 5.0)
"""Range of the delay that Discord demands after it invalidated a session."""
MAX_RESUME_ADDRESS_FAILURES = 2
WRONG_TOKEN = "token: Discord does not know it; copy it again from the Developer Portal, page Bot"
MISSING_INTENTS = (
    "message_content: Discord allows this bot no privileged intents; switch on Message Content and Server Members in "
    "the Developer Portal, page Bot, or switch them off here"
)
POLICY = ClosePolicy(
    stop={
        4004: WRONG_TOKEN,
        4010: "Discord refused the shard of this bot; this version of Parlour connects it without shards",
        4011: "the bot is in more than 2,500 servers, for which Discord requires shards; Parlour has none",
        4012: "Discord no longer offers the version of the gateway that this version of Parlour speaks; upgrade it",
        4013: "Discord refused the intents of this version of Parlour; upgrade it",
        4014: MISSING_INTENTS,
    },
    restart=frozenset((4007, 4009)),
    delays={4008: 10.0},
    reasons={4008: "it received too much at once", 4009: "the session timed out", 1001: "it restarts its server"},
)


@dataclass(frozen=True, slots=True)
class Dispatched:
    """An event of the gateway, with its place in the stream of its session."""

    frame: Payload
    session_id: str
    ticket: Ticket | None = None


class DispatchHandler(Protocol):
    """Handles the events of the gateway in their order."""

    async def dispatched(self, event: Dispatched) -> None: ...

    def identified(self, account: DiscordAccount, ready: Payload) -> None: ...


class DiscordGateway:
    """The session of one bot's connection, for PlatformWebSocketClient."""

    def __init__(
        self,
        link: HostLink,
        client: DiscordClient,
        token: str,
        base_url: str,
        intents: int,
        handler: DispatchHandler,
    ) -> None:
        self._link = link
        self._client = client
        self._token = token
        self._base_url = base_url
        self._intents = intents
        self._handler = handler
        self._session_id = ""
        self._resume_url = ""
        self._sequence: int | None = None
        self._account = DiscordAccount("")
        self._watermark = Watermark()
        self._failed_addresses = 0
        """Connections to the address for resumption that led to no greeting."""
        self._socket: PlatformSocket | None = None

    @property
    def account(self) -> DiscordAccount:
        return self._account

    async def restore(self) -> None:
        """Continues the session of the last start, if there is one. Discord keeps it for some minutes."""
        stored = _read(await self._link.cursor())
        if stored.get("base_url") != self._base_url:
            return
        self._session_id, self._resume_url = text(stored, "session_id"), text(stored, "resume_url")
        self._sequence = number(stored.get("sequence"))
        self._account = DiscordAccount(text(stored, "user_id"), text(stored, "application_id"))
        self._watermark = Watermark(self._sequence or 0)
        if not (self._session_id and self._account.id and self._sequence is not None):
            self.forget()

    def cursor(self, event: Dispatched) -> str | None:
        """Returns the session with the position that is reached when this event is stored."""
        if event.ticket is None or event.session_id != self._session_id:
            return None
        return dumps(
            {
                "base_url": self._base_url,
                "session_id": self._session_id,
                "resume_url": self._resume_url,
                "sequence": self._watermark.position_with(event.ticket),
                "user_id": self._account.id,
                "application_id": self._account.application_id,
            }
        )

    def handled(self, event: Dispatched) -> None:
        """Notes that an event is stored, or needs nothing to be stored."""
        if event.ticket is not None and event.session_id == self._session_id:
            self._watermark.finish(event.ticket)

    async def set_voice_channel(self, guild_id: str, channel_id: str | None) -> None:
        """Joins a voice channel, or leaves the one of this server. Raises PlatformOffline."""
        if self._socket is None:
            raise PlatformOffline(f"the bot is not connected to {SERVICE}", retry_after=1.0)
        state = {"guild_id": guild_id, "channel_id": channel_id, "self_mute": False, "self_deaf": False}
        await self._socket.send(_frame(VOICE_STATE, state))

    # --- the session of the WebSocket

    async def address(self) -> SocketAddress:
        if self._session_id and self._resume_url and self._failed_addresses < MAX_RESUME_ADDRESS_FAILURES:
            self._failed_addresses += 1
            return SocketAddress(_gateway_url(self._resume_url))
        try:
            gateway = await self._client.call_object("GET", "/gateway/bot")
        except DiscordUnauthorized:
            raise AdapterStopped(WRONG_TOKEN) from None
        limit = object_in(gateway, "session_start_limit")
        if limit.get("remaining") == 0 and not self._session_id:
            seconds = (number(limit.get("reset_after")) or 0) / 1000
            raise PlatformOffline("Discord allows no further session today", retry_after=max(seconds, 1.0))
        url = text(gateway, "url")
        if not url.startswith(("ws://", "wss://")):
            raise PlatformOffline("what answers at api_base_url is not the Discord API", retry_after=1.0)
        return SocketAddress(_gateway_url(url))

    async def opened(self, socket: PlatformSocket) -> None:
        """Waits: Discord greets first."""
        self._socket = socket

    async def received(self, socket: PlatformSocket, frame: str | bytes) -> None:
        try:
            payload = read_frame(frame)
        except FrameUnreadable:
            payload = {"op": DISPATCH, "t": "unreadable", "d": {"frame": repr(frame[:1000])}}
        data = payload.get("d")
        match payload.get("op"):
            case 0:
                await self._dispatch(payload)
            case 1:
                await socket.send(self._beat())
            case 7:
                await socket.close(RECONNECT_CODE, "Discord asked the bot to connect again")
            case 9 if data is True:
                await socket.close(RECONNECT_CODE, "Discord asked the bot to resume its session")
            case 9:
                self.forget()
                await asyncio.sleep(random.uniform(*IDENTIFY_DELAY_SECONDS))
                await self._greet(socket)
            case 10:
                self._failed_addresses = 0
                interval = number(data.get("heartbeat_interval")) if isinstance(data, dict) else None
                socket.start_heartbeat((interval or 41_250) / 1000, self._beat)
                await self._greet(socket)
            case 11:
                socket.acknowledge()

    def forget(self) -> None:
        self._session_id, self._resume_url, self._sequence = "", "", None

    async def _greet(self, socket: PlatformSocket) -> None:
        if self._session_id:
            resume = {"token": self._token, "session_id": self._session_id, "seq": self._sequence}
            await socket.send(_frame(RESUME, resume))
            return
        properties = {"os": "linux", "browser": "parlour", "device": "parlour"}
        identify = {"token": self._token, "intents": self._intents, "properties": properties, "large_threshold": 50}
        await socket.send(_frame(IDENTIFY, identify))

    def _beat(self) -> str:
        return _frame(HEARTBEAT, self._sequence)

    async def _dispatch(self, frame: Payload) -> None:
        sequence, data = number(frame.get("s")), frame.get("d")
        if frame.get("t") == "READY" and isinstance(data, dict):
            self._begin_session(data, sequence or 0)
        elif frame.get("t") == "RESUMED":
            self._link.report_status("connected")
        ticket = None
        if sequence is not None and sequence > (self._sequence or 0):
            self._sequence = sequence
            ticket = self._watermark.begin(sequence)
        await self._handler.dispatched(Dispatched(frame, self._session_id, ticket))

    def _begin_session(self, ready: Payload, sequence: int) -> None:
        application = text(object_in(ready, "application"), "id")
        self._account = DiscordAccount(text(object_in(ready, "user"), "id"), application)
        self._session_id, self._resume_url = text(ready, "session_id"), text(ready, "resume_gateway_url")
        self._sequence = None
        self._watermark = Watermark(max(0, sequence - 1))
        self._handler.identified(self._account, ready)
        self._link.report_status("connected")


def _gateway_url(url: str) -> str:
    return f"{url.rstrip('/')}/?v=10&encoding=json"


def _frame(opcode: int, data: Any) -> str:
    return dumps({"op": opcode, "d": data})


def _read(cursor: str | None) -> Payload:
    try:
        state = json.loads(cursor) if cursor else {}
    except ValueError:
        return {}
    return state if isinstance(state, dict) else {}
