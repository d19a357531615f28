"""Receives messages over the long connection of an AI bot: WeCom keeps one connection for each bot."""

import logging

from parlour.core.asyncio_utils import BackgroundTasks
from parlour.core.encoding import dumps
from parlour.core.platforms.port import (
    AdapterStopped,
    HostLink,
    PlatformOffline,
    PlatformRefused,
    PlatformUncertain,
)
from parlour.platforms._kit.intake import EventQueue
from parlour.platforms._kit.json_frames import FrameUnreadable, read_frame
from parlour.platforms._kit.payloads import Payload, object_in, text
from parlour.platforms._kit.websocket_client import PlatformSocket, SocketAddress
from parlour_sdk.values import dataclass

from .api import WecomBotApi
from .client import WecomBotClient, new_request_id
from .decode import chat_of, decode, event_kind
from .entities import SERVICE
from .files import WecomBotFiles
from .replies import Replies

logger = logging.getLogger(__name__)

MESSAGE, EVENT, SUBSCRIBE, PING = "aibot_msg_callback", "aibot_event_callback", "aibot_subscribe", "ping"
HEARTBEAT_SECONDS = 30.0
MAX_REFUSED_LOGINS = 5
OTHER_CLIENT_SECONDS = 300.0
WRONG_SECRET = "secret: WeCom does not accept it with this bot id; copy both from the page of the bot"
OTHER_CLIENT = "another program has connected as this bot, and WeCom keeps one connection; stop the other program"


@dataclass(frozen=True, slots=True)
class WecomBotFrame:
    """A message or an event, with the id under which it is answered."""

    request_id: str
    body: Payload


class WecomBotConnection:
    """The session of one bot's connection, for PlatformWebSocketClient."""

    def __init__(
        self, link: HostLink, client: WecomBotClient, api: WecomBotApi, replies: Replies, files: WecomBotFiles
    ) -> None:
        config = link.config
        self._link = link
        self._client = client
        self._api = api
        self._replies = replies
        self._files = files
        self._url = str(config.get("ws_url") or "wss://openws.work.weixin.qq.com")
        self._login = {"bot_id": str(config["bot_id"]).strip(), "secret": str(config["secret"]).strip()}
        self._robot_name = str(config.get("robot_name") or "").strip()
        self._welcome = str(config.get("welcome_message") or "").strip()
        self._queue: EventQueue[WecomBotFrame] = EventQueue(self._handle)
        self._tasks = BackgroundTasks("an event of WeCom is not answered")
        self._refused_logins = 0

    async def close(self) -> None:
        self._client.disconnected()
        await self._queue.close()
        await self._tasks.aclose()

    async def address(self) -> SocketAddress:
        self._client.disconnected()
        return SocketAddress(self._url)

    async def opened(self, socket: PlatformSocket) -> None:
        await socket.send(_frame(SUBSCRIBE, self._login))

    async def received(self, socket: PlatformSocket, data: str | bytes) -> None:
        try:
            frame = read_frame(data)
        except FrameUnreadable:
            logger.debug("bot %s received something that is no frame", self._link.bot_id)
            return
        command, body = text(frame, "cmd"), object_in(frame, "body")
        request_id = text(object_in(frame, "headers"), "req_id")
        if command == EVENT and event_kind(body) == "disconnected_event":
            self._client.disconnected()
            raise PlatformOffline(OTHER_CLIENT, retry_after=OTHER_CLIENT_SECONDS)
        if command in (MESSAGE, EVENT):
            await self._queue.submit(chat_of(body), WecomBotFrame(request_id, body), len(data))
        elif request_id.startswith(SUBSCRIBE):
            self._subscribed(socket, frame)
        elif request_id.startswith(PING):
            socket.acknowledge()
        elif not command:
            self._client.answered(frame)

    def _subscribed(self, socket: PlatformSocket, frame: Payload) -> None:
        """Begins the work of the connection. Raises AdapterStopped if the login was refused too often."""
        if frame.get("errcode") == 0:
            self._refused_logins = 0
            self._client.connected(socket)
            socket.start_heartbeat(HEARTBEAT_SECONDS, lambda: _frame(PING, {}))
            self._link.report_status("connected")
            return
        self._refused_logins += 1
        if self._refused_logins >= MAX_REFUSED_LOGINS:
            raise AdapterStopped(WRONG_SECRET)
        raise PlatformOffline(f"{SERVICE} refused the login: {frame.get('errcode')} {text(frame, 'errmsg')}"[:300])

    def forget(self) -> None:
        """Does nothing: WeCom has no sessions to resume."""

    async def _handle(self, item: WecomBotFrame) -> None:
        """Stores a message with the ids under which answers are shown, also after a restart."""
        body = await self._files.complete(item.body)
        chat_id, is_message = chat_of(body), body.get("msgtype") != "event"
        can_be_answered = bool(is_message and chat_id and item.request_id)
        cursor = self._replies.dump(chat_id, item.request_id) if can_be_answered else None
        if can_be_answered:
            self._replies.received(chat_id, item.request_id)
        await self._link.receive(decode(body, self._link.bot_id, self._robot_name), cursor=cursor)
        if not is_message:
            self._tasks.start(self._answer_event(item))

    async def _answer_event(self, item: WecomBotFrame) -> None:
        event = object_in(item.body, "event")
        try:
            if text(event, "eventtype") == "enter_chat" and self._welcome:
                await self._api.welcome(item.request_id, self._welcome)
            elif text(event, "eventtype") == "template_card_event":
                await self._api.close_card(item.request_id, text(object_in(event, "template_card_event"), "task_id"))
        except (PlatformRefused, PlatformUncertain) as error:
            logger.info("bot %s: an event was not answered: %s", self._link.bot_id, error)


def _frame(command: str, body: Payload) -> str:
    frame: Payload = {"cmd": command, "headers": {"req_id": new_request_id(command)}}
    return dumps({**frame, "body": body} if body else frame)
