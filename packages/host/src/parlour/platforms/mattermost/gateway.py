"""The session of Mattermost's WebSocket: login, numbered events, resumption, and the posts that were missed.

The server keeps the events of a lost connection for a while. If it does not continue the connection, what was posted
since the last stored post is fetched over the REST API. Repeated posts have the same ids.
"""

import json
from typing import Any, Protocol
from urllib.parse import urlencode

from parlour.core.encoding import dumps
from parlour.core.platforms.port import AdapterStopped, HostLink, PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.close_codes import ClosePolicy
from parlour.platforms._kit.json_frames import FrameUnreadable, read_frame
from parlour.platforms._kit.payloads import Payload, number, object_in, text
from parlour.platforms._kit.watermark import Ticket, Watermark
from parlour.platforms._kit.websocket_client import PlatformSocket, SocketAddress
from parlour_sdk.values import dataclass

from .client import API_PATH, MattermostClient, MattermostUnauthorized
from .entities import MattermostAccount
from .missed_posts import MissedPosts, post_time

PING_SECONDS = 30.0
LOGIN_SEQUENCE, PING_SEQUENCE = 1, 2
GAP_CODE = 4002
POLICY = ClosePolicy()
WRONG_TOKEN = "token: Mattermost does not accept it; create another one for the bot account and copy it"
NOT_MATTERMOST = "what answers at the url is not Mattermost; check the url"
CHECK_ADDRESS = "check the network, a proxy, or the url"
NO_TEAM = "the bot is in no team; an administrator must add it to a team, and a member to channels"


@dataclass(frozen=True, slots=True)
class MattermostEvent:
    """An event of the connection, with its place in the stream of posts if it has one."""

    data: Any
    ticket: Ticket | None = None


class MattermostEventHandler(Protocol):
    """Handles the events in their order."""

    async def received_event(self, event: MattermostEvent) -> None: ...


class MattermostGateway:
    """The session of one bot's connection, for PlatformWebSocketClient."""

    def __init__(
        self,
        link: HostLink,
        client: MattermostClient,
        server_url: str,
        token: str,
        handler: MattermostEventHandler,
    ) -> None:
        self._link = link
        self._client = client
        self._server_url = server_url
        self._token = token
        self._handler = handler
        self._missed = MissedPosts(client)
        self._watermark = Watermark()
        self._has_position = False
        self._newest = 0
        self._connection_id = ""
        self._sequence = 0
        self._is_greeted = False
        self.account = MattermostAccount("")

    async def restore(self) -> None:
        """Continues at the post up to which everything was stored."""
        try:
            stored = json.loads(await self._link.cursor() or "{}")
        except ValueError:
            return
        since = number(stored.get("since")) if isinstance(stored, dict) else None
        if since is not None and stored.get("server_url") == self._server_url:
            self._watermark, self._has_position = Watermark(since), True

    def cursor(self, event: MattermostEvent) -> str | None:
        """Returns the position that is reached when this event is stored."""
        return None if event.ticket is None else self._cursor(self._watermark.position_with(event.ticket))

    def handled(self, event: MattermostEvent) -> None:
        if event.ticket is not None:
            self._watermark.finish(event.ticket)

    def _cursor(self, since: int) -> str:
        return dumps({"server_url": self._server_url, "since": since})

    # --- the session of the WebSocket

    async def address(self) -> SocketAddress:
        await self._log_in()
        self._is_greeted = False
        url = f"ws{self._server_url.removeprefix('http')}{API_PATH}/websocket"
        if self._connection_id:
            place = {"connection_id": self._connection_id, "sequence_number": self._sequence}
            url += f"?{urlencode(place)}"
        return SocketAddress(url, {"Authorization": f"Bearer {self._token}"})

    async def _log_in(self) -> None:
        """Finds out the bot's account. Raises AdapterStopped if the token is wrong."""
        try:
            me = await self._client.get("users/me", "users/me")
        except MattermostUnauthorized:
            raise AdapterStopped(WRONG_TOKEN) from None
        except PlatformOffline as offline:
            raise PlatformOffline(f"{offline}; {CHECK_ADDRESS}", offline.retry_after) from None
        if not text(me, "id") or not text(me, "username"):
            raise PlatformOffline(NOT_MATTERMOST, retry_after=1.0)
        self.account = MattermostAccount(text(me, "id"), text(me, "username"))

    async def opened(self, socket: PlatformSocket) -> None:
        """Logs in, and asks for an answer that also comes if the server continues the last connection silently."""
        login = {"seq": LOGIN_SEQUENCE, "action": "authentication_challenge", "data": {"token": self._token}}
        await socket.send(dumps(login))
        await socket.send(dumps({"seq": PING_SEQUENCE, "action": "ping"}))

    async def received(self, socket: PlatformSocket, frame: str | bytes) -> None:
        try:
            payload = read_frame(frame)
        except FrameUnreadable:
            payload = {"event": "", "data": {"frame": repr(frame[:1000])}}
        if "seq_reply" in payload:
            await self._answered(socket, payload)
            return
        sequence = number(payload.get("seq"))
        if payload.get("event") == "hello":
            await self._hello(socket, text(object_in(payload, "data"), "connection_id"), sequence)
            return
        if sequence is not None:
            if sequence > self._sequence:
                self.forget()
                await socket.close(GAP_CODE, "Mattermost left out events; what was missed is fetched")
                return
            if sequence < self._sequence:
                return  # the server repeats what it already sent
            self._sequence = sequence + 1
            self._begin(socket)
        await self._submit(payload)

    def forget(self) -> None:
        self._connection_id, self._sequence = "", 0

    async def _answered(self, socket: PlatformSocket, answer: Payload) -> None:
        socket.acknowledge()
        if answer.get("seq_reply") == PING_SEQUENCE and not self._is_greeted:
            if answer.get("status") != "OK" or not self._connection_id:
                self.forget()
                await socket.close(GAP_CODE, "Mattermost did not greet the bot")
                return
            self._begin(socket)

    async def _hello(self, socket: PlatformSocket, connection_id: str, sequence: int | None) -> None:
        """Begins another stream of events, behind the posts that were missed."""
        if self._is_greeted:
            return
        self._connection_id, self._sequence = connection_id, (sequence or 0) + 1
        try:
            missed = await self._fetch_missed()
        except (PlatformRefused, PlatformUncertain) as error:
            self.forget()
            await socket.close(GAP_CODE, f"the missed posts could not be fetched: {error}")
            return
        self._begin(socket, "" if await self._missed.has_team() else NO_TEAM)
        for each in missed:
            await self._submit(each)

    def _begin(self, socket: PlatformSocket, problem: str = "") -> None:
        """Reports the bot as connected with the first thing that the server says on a connection."""
        if self._is_greeted:
            return
        self._is_greeted = True
        self._link.report_status("connected", problem)
        socket.start_heartbeat(PING_SECONDS, lambda: dumps({"seq": PING_SEQUENCE, "action": "ping"}))

    async def _fetch_missed(self) -> list[Payload]:
        if self._has_position:
            return await self._missed.since(self.account.id, self._watermark.position)
        position = await self._missed.newest(self.account.id)
        self._watermark, self._has_position = Watermark(position), True
        await self._link.receive(cursor=self._cursor(position))
        return []

    async def _submit(self, payload: Payload) -> None:
        moment, ticket = post_time(payload), None
        if moment is not None:
            self._newest = max(self._newest, moment, self._watermark.position)
            ticket = self._watermark.begin(self._newest)
        await self._handler.received_event(MattermostEvent(payload, ticket))
