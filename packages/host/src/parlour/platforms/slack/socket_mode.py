"""Receives reports over Socket Mode: a WebSocket whose address is asked for, and an acknowledgement for each report.

Slack repeats a report that is not acknowledged, also over the next connection. There is one connection at a time: the
old one is closed before another is opened, since Slack spreads reports over all of them.
"""

import logging
from collections.abc import Callable

from parlour.core.encoding import dumps
from parlour.core.platforms.port import AdapterStopped, HostLink, PlatformOffline, PlatformUncertain
from parlour.platforms._kit.close_codes import ClosePolicy
from parlour.platforms._kit.intake import EventQueue
from parlour.platforms._kit.json_frames import FrameUnreadable, read_frame
from parlour.platforms._kit.payloads import Payload, number, object_in, text
from parlour.platforms._kit.websocket_client import PlatformSocket, SocketAddress

from .client import TOKEN_ERRORS, SlackClient, SlackRefused
from .decode import COMMAND, EVENT, INTERACTIVE, chat_of
from .event_processor import SlackEventProcessor

logger = logging.getLogger(__name__)

PING_SECONDS = 15.0
NORMAL_CLOSE = 1000
POLICY = ClosePolicy()
WRONG_APP_TOKEN = (
    "app_token: Slack does not accept it; copy the app-level token xapp-… with the scope connections:write"
)
SWITCHED_OFF = "Socket Mode is switched off for the app; switch it on at api.slack.com/apps, page Socket Mode"
OTHER_CONNECTIONS = "another program is connected with the same app token, and Slack sends it a part of the events"


class SlackSocketMode:
    """The session of one bot's connection, for PlatformWebSocketClient."""

    def __init__(
        self,
        link: HostLink,
        client: SlackClient,
        app_token: str,
        processor: SlackEventProcessor,
        problem: Callable[[], str],
    ) -> None:
        """`problem` returns what is wrong with the app itself, for its status."""
        self._link = link
        self._problem = problem
        self._client = client
        self._app_token = app_token
        self._processor = processor
        self._queue: EventQueue[tuple[PlatformSocket, Payload]] = EventQueue(self._handle)

    async def close(self) -> None:
        await self._queue.close()

    async def address(self) -> SocketAddress:
        try:
            answer = await self._client.call("apps.connections.open", token=self._app_token)
        except SlackRefused as refused:
            if refused.code in (*TOKEN_ERRORS, "not_allowed_token_type", "missing_scope"):
                raise AdapterStopped(WRONG_APP_TOKEN) from None
            if refused.code == "socket_mode_not_enabled":
                raise AdapterStopped(SWITCHED_OFF) from None
            raise
        url = text(answer, "url")
        if not url.startswith(("ws://", "wss://")):
            raise PlatformOffline("what answers at api_base_url is not the Slack API", retry_after=1.0)
        return SocketAddress(url)

    async def opened(self, socket: PlatformSocket) -> None:
        """Waits: Slack greets first."""

    async def received(self, socket: PlatformSocket, frame: str | bytes) -> None:
        try:
            payload = read_frame(frame)
        except FrameUnreadable:
            payload = {"type": EVENT, "payload": {"frame": repr(frame[:1000])}}
        kind = payload.get("type")
        match kind:
            case "hello":
                others = (number(payload.get("num_connections")) or 1) > 1
                problems = (OTHER_CONNECTIONS if others else "", self._problem())
                self._link.report_status("connected", "; ".join(filter(None, problems)))
            case "disconnect":
                await self._disconnect(socket, text(payload, "reason"))
            case _ if kind in (EVENT, INTERACTIVE, COMMAND):
                report = object_in(payload, "payload")
                size = len(frame)
                await self._queue.submit(chat_of(str(kind), report), (socket, payload), size)

    async def _disconnect(self, socket: PlatformSocket, reason: str) -> None:
        if reason == "link_disabled":
            raise AdapterStopped(SWITCHED_OFF)
        await socket.close(NORMAL_CLOSE, "Slack asked the bot to connect again")

    def forget(self) -> None:
        """Does nothing: Slack has no sessions to resume."""

    async def _handle(self, item: tuple[PlatformSocket, Payload]) -> None:
        """Stores a report, and acknowledges it on the connection over which it came."""
        socket, envelope = item
        await self._processor.store(text(envelope, "type"), object_in(envelope, "payload"))
        if envelope_id := text(envelope, "envelope_id"):
            try:
                await socket.send(dumps({"envelope_id": envelope_id}))
            except PlatformUncertain:
                logger.debug("bot %s: the connection ended before an acknowledgement", self._link.bot_id)
