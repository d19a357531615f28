"""Receives reports in stream mode: JSON frames over a WebSocket, each acknowledged when it is stored."""

import asyncio
import json
import logging
from urllib.parse import quote

from parlour.core.encoding import dumps
from parlour.core.platforms.port import AdapterStopped, HostLink, PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.intake import EventQueue
from parlour.platforms._kit.json_frames import FrameUnreadable, read_frame
from parlour.platforms._kit.payloads import UNREADABLE, Payload, object_in, text
from parlour.platforms._kit.websocket_client import PlatformSocket, SocketAddress
from parlour.platforms._kit.wechat_content import PROBLEM, file_keys
from parlour_sdk.values import dataclass

from .client import DingTalkClient, DingTalkRefused
from .content import FILES_KEY, file_codes
from .decode import CARD_TOPIC, MESSAGE_TOPIC, chat_of, decode
from .entities import SERVICE

logger = logging.getLogger(__name__)

SUBSCRIPTIONS: list[Payload] = [
    {"type": "EVENT", "topic": "*"},
    {"type": "CALLBACK", "topic": MESSAGE_TOPIC},
    {"type": "CALLBACK", "topic": CARD_TOPIC},
]
SILENCE_SECONDS = 90.0
"""Seconds without any frame after which a connection is dead: DingTalk sends a ping at least every 60."""
MAX_REFUSED_LOGINS = 5
OK_STATUS = 200
WRONG_SECRET = "client_secret: DingTalk does not accept it with this client_id; copy both from the page Credentials"


@dataclass(frozen=True, slots=True)
class DingTalkFrame:
    """A report with the connection over which it is acknowledged."""

    socket: PlatformSocket
    frame: Payload


class DingTalkConnection:
    """The session of one bot's connection, for PlatformWebSocketClient."""

    def __init__(self, link: HostLink, client: DingTalkClient, robot_code: str) -> None:
        self._link = link
        self._client = client
        self._robot_code = robot_code
        self._queue: EventQueue[DingTalkFrame] = EventQueue(self._handle)
        self._refused_logins = 0

    async def close(self) -> None:
        await self._queue.close()

    async def address(self) -> SocketAddress:
        try:
            opened = await self._client.open_stream(SUBSCRIPTIONS)
        except DingTalkRefused as refused:
            self._refused_logins += refused.code == "authFailed"
            if self._refused_logins >= MAX_REFUSED_LOGINS:
                raise AdapterStopped(WRONG_SECRET) from None
            raise
        self._refused_logins = 0
        endpoint, ticket = text(opened, "endpoint"), text(opened, "ticket")
        if not endpoint.startswith(("wss://", "ws://")) or not ticket:
            raise PlatformOffline("what answers at api_base_url is not the DingTalk API", retry_after=1.0)
        return SocketAddress(f"{endpoint}?ticket={quote(ticket, safe='')}")

    async def opened(self, socket: PlatformSocket) -> None:
        socket.watch_silence(SILENCE_SECONDS)
        self._link.report_status("connected")

    async def received(self, socket: PlatformSocket, data: str | bytes) -> None:
        try:
            frame = read_frame(data)
        except FrameUnreadable:
            logger.debug("bot %s received something that is no frame", self._link.bot_id)
            return
        headers = object_in(frame, "headers")
        if text(frame, "type") == "SYSTEM":
            await self._answer_system(socket, headers, frame.get("data"))
            return
        frame = {**frame, "data": _read_data(frame.get("data"))}
        await self._queue.submit(chat_of(frame), DingTalkFrame(socket, frame), len(data))

    async def _answer_system(self, socket: PlatformSocket, headers: Payload, data: object) -> None:
        """Answers a ping. Before DingTalk closes a connection, it delivers nothing any more and asks for another."""
        await socket.send(_acknowledgement(headers, data if isinstance(data, str) else "{}"))
        if text(headers, "topic") == "disconnect":
            await socket.reconnect()

    def forget(self) -> None:
        """Does nothing: DingTalk has no sessions to resume."""

    async def _handle(self, item: DingTalkFrame) -> None:
        """Stores a report and acknowledges it. DingTalk repeats it after about a minute without."""
        headers = object_in(item.frame, "headers")
        incoming = decode(await self._complete(item.frame), self._link.bot_id)
        await self._link.receive(*incoming)
        answer = {"response": {} if text(headers, "topic") == CARD_TOPIC else "OK"}
        if text(item.frame, "type") == "EVENT":
            answer = {"status": "SUCCESS", "message": "ok"}
        try:
            await item.socket.send(_acknowledgement(headers, dumps(answer)))
        except PlatformUncertain:
            logger.debug("bot %s: the connection to %s ended before an acknowledgement", self._link.bot_id, SERVICE)

    async def _complete(self, frame: Payload) -> Payload:
        """Adds the contents of files, whose codes expire."""
        message = object_in(frame, "data")
        if text(object_in(frame, "headers"), "topic") != MESSAGE_TOPIC:
            return frame
        try:
            codes = file_codes(message)
        except UNREADABLE:
            return frame
        if not codes:
            return frame
        files = await asyncio.gather(*map(self._fetch, codes))
        return {**frame, "data": {**message, FILES_KEY: dict(zip(codes, files, strict=True))}}

    async def _fetch(self, code: str) -> Payload:
        """Returns the content of a file, or the reason why there is none."""
        try:
            response = await self._client.download(code, self._robot_code)
        except (PlatformRefused, PlatformUncertain) as error:
            return {PROBLEM: str(error)}
        return file_keys(response, response.body)


def _read_data(data: object) -> object:
    """Returns the data of a frame, which is JSON in a string; unreadable data as it is."""
    try:
        return json.loads(data) if isinstance(data, str) else data
    except ValueError:
        return data


def _acknowledgement(headers: Payload, data: str) -> str:
    own = {"contentType": "application/json", "messageId": text(headers, "messageId")}
    return dumps({"code": OK_STATUS, "headers": own, "message": "OK", "data": data})
