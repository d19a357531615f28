"""The gateway of the simulated Discord: sessions, heartbeats, replays, intents, and the close codes for mistakes."""

import asyncio
import json
import time
import zlib
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from parlour.testing.simulator import SimulatorSocket

from .world import APPLICATION_ID, BOT_ID, DIRECT, DiscordWorld, Json

MAX_FRAME_BYTES = 4096
MAX_FRAMES, FRAME_WINDOW_SECONDS = 120, 60.0
PRIVILEGED = 1 << 1 | 1 << 8 | 1 << 15
ALL_INTENTS = (1 << 26) - 1
CONTENT_INTENT = 1 << 15
INTENTS = {
    "GUILD_MEMBER_": 1 << 1, "GUILD_BAN_": 1 << 2, "GUILD_": 1 << 0, "CHANNEL_": 1 << 0, "THREAD_": 1 << 0,
    "VOICE_": 1 << 7,
}  # fmt: skip
"""Intents by the beginning of an event's name; the first that matches counts."""
IN_CHATS = {"MESSAGE_REACTION": (1 << 10, 1 << 13), "MESSAGE_": (1 << 9, 1 << 12), "TYPING_": (1 << 11, 1 << 14)}
"""Intents of events in servers and in direct messages."""


@dataclass
class GatewaySession:
    id: str
    intents: int
    sequence: int = 0
    sent: list[Json] = field(default_factory=list)
    """Frames of the session, which a resumption repeats."""
    socket: "GatewaySocket | None" = None


class GatewaySocket:
    """One connection of the bot."""

    def __init__(self, socket: SimulatorSocket) -> None:
        self._socket = socket
        compressed = socket.request.query.get("compress") == "zlib-stream"
        self._deflate = zlib.compressobj() if compressed else None
        self.session: GatewaySession | None = None
        self.frames: deque[float] = deque()
        self.heard_at = time.monotonic()

    async def send(self, frame: Json) -> None:
        text = json.dumps(frame)
        with suppress(ConnectionResetError):  # a resumption repeats it
            if self._deflate is None:
                await self._socket.send(text)
            else:
                await self._socket.send(self._deflate.compress(text.encode()) + self._deflate.flush(zlib.Z_SYNC_FLUSH))

    async def close(self, code: int) -> None:
        await self._socket.close(code)

    def abort(self) -> None:
        self._socket.abort()


class GatewayServer:
    def __init__(self, world: DiscordWorld, token: str, notify: Callable[[], Awaitable[None]]) -> None:
        self._world = world
        self._token = token
        self._notify = notify
        self.url = ""
        self.heartbeat_seconds = 41.25
        self.answers_heartbeats = True
        self.disallowed_intents = 0
        """Privileged intents that are not switched on for the bot."""
        self.identifies_left = 1000
        self.identify_interval_seconds = 0.0
        self.sessions: dict[str, GatewaySession] = {}
        self.connections = 0
        self.identified = 0
        self.resumed = 0
        self.heartbeats = 0
        self.close_codes: list[int] = []
        """Codes with which the simulator closed connections for a mistake of the bot."""
        self._identified_at = -10.0

    @property
    def active(self) -> GatewaySession | None:
        """The session that is connected now."""
        return next((each for each in reversed(self.sessions.values()) if each.socket is not None), None)

    @property
    def session(self) -> GatewaySession | None:
        """The last session, connected or not."""
        return next(reversed(self.sessions.values()), None)

    async def serve(self, socket: SimulatorSocket) -> None:
        connection = GatewaySocket(socket)
        self.connections += 1
        query = socket.request.query
        if query.get("v") != "10" or query.get("encoding") != "json":
            await self._reject(connection, 4012)
            return
        await connection.send(
            {"op": 10, "d": {"heartbeat_interval": round(self.heartbeat_seconds * 1000)}, "s": None, "t": None}
        )
        watch = asyncio.create_task(self._watch(connection))
        try:
            async for frame in socket.frames():
                if code := await self._receive(connection, frame):
                    await self._reject(connection, code)
                    return
        finally:
            watch.cancel()
            if connection.session is not None and connection.session.socket is connection:
                connection.session.socket = None
            await self._notify()

    async def _reject(self, connection: GatewaySocket, code: int) -> None:
        self.close_codes.append(code)
        if connection.session is not None and connection.session.socket is connection:
            connection.session.socket = None
            if code in (4007, 4009):
                self.sessions.pop(connection.session.id, None)
        await connection.close(code)

    async def _watch(self, connection: GatewaySocket) -> None:
        """Closes a connection without heartbeats, as Discord does after a while."""
        while True:
            await asyncio.sleep(self.heartbeat_seconds / 2)
            if time.monotonic() - connection.heard_at > 2 * self.heartbeat_seconds:
                await self._reject(connection, 4009)
                return

    async def _receive(self, connection: GatewaySocket, frame: str | bytes) -> int:
        """Handles a frame of the bot. Returns the close code for a mistake, or 0."""
        if len(frame) > MAX_FRAME_BYTES:
            return 4002
        now = time.monotonic()
        while connection.frames and connection.frames[0] < now - FRAME_WINDOW_SECONDS:
            connection.frames.popleft()
        connection.frames.append(now)
        if len(connection.frames) > MAX_FRAMES:
            return 4008
        try:
            payload = json.loads(frame)
            opcode, data = payload["op"], payload.get("d")
        except (ValueError, KeyError, TypeError):
            return 4002
        match opcode:
            case 1:
                return await self._heartbeat(connection, data)
            case 2:
                return await self._identify(connection, data)
            case 6:
                return await self._resume(connection, data)
            case 3 | 4 | 8 if connection.session is None:
                return 4003
            case 4:
                await self._voice(data)
                return 0
            case 3 | 8:
                return 0
        return 4001

    async def _heartbeat(self, connection: GatewaySocket, sequence: object) -> int:
        connection.heard_at = time.monotonic()
        self.heartbeats += 1
        session = connection.session
        if session is not None and isinstance(sequence, int) and sequence > session.sequence:
            return 4007
        if self.answers_heartbeats:
            await connection.send({"op": 11, "d": None, "s": None, "t": None})
        await self._notify()
        return 0

    async def _identify(self, connection: GatewaySocket, data: Json) -> int:
        if connection.session is not None:
            return 4005
        if not isinstance(data, dict) or not {"token", "intents", "properties"} <= set(data):
            return 4002
        if str(data["token"]).removeprefix("Bot ") != self._token:
            return 4004
        intents = data["intents"]
        if not isinstance(intents, int) or intents & ~ALL_INTENTS:
            return 4013
        if intents & self.disallowed_intents:
            return 4014
        if data.get("shard") not in (None, [0, 1], (0, 1)):
            return 4010
        now = time.monotonic()
        if self.identifies_left <= 0 or now - self._identified_at < self.identify_interval_seconds:
            await connection.send({"op": 9, "d": False, "s": None, "t": None})
            return 0
        self._identified_at = now
        self.identifies_left -= 1
        self.identified += 1
        session = GatewaySession(f"session-{self.identified}", intents, socket=connection)
        connection.session = self.sessions[session.id] = session
        guilds = list(self._world.guilds)
        ready = {
            "v": 10, "user": self._world.bot, "guilds": [{"id": each, "unavailable": True} for each in guilds],
            "session_id": session.id, "resume_gateway_url": self.url, "session_type": "normal",
            "application": {"id": APPLICATION_ID, "flags": 0}, "private_channels": [], "user_settings": {},
        }  # fmt: skip
        await self._dispatch(session, "READY", ready)
        for guild_id in guilds:
            await self._dispatch(session, "GUILD_CREATE", self._world.guild_create(guild_id))
        await self._notify()
        return 0

    async def _resume(self, connection: GatewaySocket, data: Json) -> int:
        if str(data.get("token", "")).removeprefix("Bot ") != self._token:
            return 4004
        session = self.sessions.get(str(data.get("session_id")))
        if session is None:
            await connection.send({"op": 9, "d": False, "s": None, "t": None})
            return 0
        sequence = data.get("seq")
        if not isinstance(sequence, int) or sequence > session.sequence:
            connection.session = session
            return 4007
        if session.socket is not None:
            session.socket.abort()
        session.socket, connection.session = connection, session
        self.resumed += 1
        for frame in [each for each in session.sent if each["s"] > sequence]:
            await connection.send(frame)
        await self._dispatch(session, "RESUMED", {})
        await self._notify()
        return 0

    async def _voice(self, data: Json) -> None:
        guild = self._world.guilds.get(str(data.get("guild_id")))
        channel_id = data.get("channel_id")
        if guild is None or (channel_id is not None and channel_id not in self._world.channels):
            return  # Discord answers such a frame with nothing
        if channel_id is None:
            guild.voice.pop(BOT_ID, None)
        else:
            guild.voice[BOT_ID] = channel_id
        state = {"guild_id": guild.payload["id"], "channel_id": channel_id, "user_id": BOT_ID, "session_id": "voice"}
        await self.dispatch("VOICE_STATE_UPDATE", state)

    # --- events

    async def dispatch(self, name: str, data: Json) -> Json | None:
        """Reports an event in the session, now or when it is resumed. Returns its frame, if the intents include it."""
        session = self.session
        if session is None or not self._wanted(session, name, data):
            return None
        return await self._dispatch(session, name, self._visible(session, name, data))

    async def repeat(self, frame: Json) -> None:
        """Reports a frame unchanged, also one with a number of its own."""
        session = self.session
        if session is None:
            return
        sequence = frame.get("s")
        if isinstance(sequence, int) and not isinstance(sequence, bool) and sequence > session.sequence:
            session.sequence = sequence
            session.sent.append(frame)
        if session.socket is not None:
            await session.socket.send(frame)

    async def _dispatch(self, session: GatewaySession, name: str, data: Json) -> Json:
        session.sequence += 1
        frame = {"op": 0, "s": session.sequence, "t": name, "d": data}
        session.sent.append(frame)
        if session.socket is not None:
            await session.socket.send(frame)
        return frame

    def _wanted(self, session: GatewaySession, name: str, data: Json) -> bool:
        for prefix, (in_guild, in_direct) in IN_CHATS.items():
            if name.startswith(prefix):
                return bool(session.intents & (in_guild if data.get("guild_id") else in_direct))
        needed = next((bit for prefix, bit in INTENTS.items() if name.startswith(prefix)), 0)
        is_own_member = name == "GUILD_MEMBER_UPDATE" and data.get("user", {}).get("id") == BOT_ID
        return is_own_member or not needed or bool(session.intents & needed)

    def _visible(self, session: GatewaySession, name: str, data: Json) -> Json:
        """Removes the content of a message if the bot may not read it."""
        if name not in ("MESSAGE_CREATE", "MESSAGE_UPDATE") or session.intents & CONTENT_INTENT:
            return data
        channel = self._world.channels.get(data["channel_id"], {})
        is_mentioned = any(each["id"] == BOT_ID for each in data.get("mentions", ()))
        if is_mentioned or channel.get("type") == DIRECT or data.get("author", {}).get("id") == BOT_ID:
            return data
        return {**data, "content": "", "embeds": [], "attachments": [], "components": []}
