"""Shows the answers of an AI bot that WeCom calls: WeCom asks for the text so far until it got the end of an answer.

Whatever comes later can be sent once, to an address that is part of each message of a user.
"""

import asyncio
from dataclasses import field
from time import time

from parlour.core.platforms.port import PlatformOffline, PlatformRefused
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.http_client import ApiRequest, PlatformHttpClient, check_status
from parlour.platforms._kit.outgoing_files import OutgoingFile
from parlour.platforms._kit.payloads import Payload, object_in, text
from parlour_sdk.values import dataclass

from .client import WecomBotRefused
from .entities import SERVICE, STREAM_EXPIRED_CODE
from .replies import STREAM_SECONDS

POLL_SECONDS = 10.0
"""Seconds in which WeCom must ask for the end of an answer; it asks about once a second."""
LATE_SECONDS = 3600.0
"""Seconds for which the address of a later answer can be used."""
ONLY_ONCE = (
    f"{SERVICE} takes one further message for each message of a user if it calls the bot; wait until the user writes "
    "again, or use the long connection"
)
NO_FILES = f"{SERVICE} takes files of AI bots only over the long connection"


@dataclass(slots=True)
class PolledStream:
    """An answer that WeCom asks for."""

    content: str = ""
    seen: str = ""
    """The text that WeCom got last."""
    is_finished: bool = False
    opened_at: float = field(default_factory=time)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when WeCom got the end."""


class WecomBotCallbacks:
    """The answers of one bot to the calls of WeCom."""

    def __init__(self, http: PlatformHttpClient) -> None:
        self._http = http
        self._streams: BoundedMap[str, PolledStream] = BoundedMap(1000)
        self._late: BoundedMap[str, tuple[str, float]] = BoundedMap()
        """The address of a later answer to the newest message of each chat, with the time of the message."""

    def heard(self, chat_id: str, response_url: str) -> None:
        """Remembers where a later answer to a message is sent."""
        if response_url:
            self._late.set(chat_id, (response_url, time()))

    def poll(self, stream_id: str) -> Payload:
        """Returns the answer so far. One that is not complete after six minutes is ended."""
        stream = self._stream(stream_id)
        stream.is_finished = stream.is_finished or time() - stream.opened_at > STREAM_SECONDS
        stream.seen = stream.content
        if stream.is_finished:
            stream.ended.set()
        return {"id": stream_id, "finish": stream.is_finished, "content": stream.content}

    async def call(self, command: str, body: Payload, request_id: str = "") -> Payload:
        """Shows an answer or sends a later one. Raises the errors of the platform port."""
        if command == "aibot_respond_msg" and body.get("msgtype") == "stream":
            await self._show(object_in(body, "stream"))
            return {}
        if command != "aibot_send_msg":
            raise PlatformRefused(NO_FILES, permanent=True)
        await self._send_late(text(body, "chatid"), body)
        return {}

    async def upload(self, file: OutgoingFile, kind: str) -> str:
        raise PlatformRefused(NO_FILES, permanent=True)

    def seen(self, stream_id: str, sent: str) -> str:
        """Returns the part of an answer that WeCom has asked for."""
        return self._stream(stream_id).seen

    def _stream(self, stream_id: str) -> PolledStream:
        """Returns a stream; of an earlier process, WeCom still asks for the text."""
        stream = self._streams.get(stream_id)
        if stream is None:
            stream = PolledStream()
            self._streams.set(stream_id, stream)
        return stream

    async def _show(self, shown: Payload) -> None:
        stream = self._stream(text(shown, "id"))
        if stream.ended.is_set():
            raise WecomBotRefused(f"{SERVICE} no longer asks for the answer", STREAM_EXPIRED_CODE)
        stream.content = text(shown, "content")
        if not shown.get("finish"):
            return
        stream.is_finished = True
        try:
            async with asyncio.timeout(POLL_SECONDS):
                await stream.ended.wait()
        except TimeoutError:
            stream.content = stream.seen  # the rest is sent elsewhere
            stream.ended.set()
            raise WecomBotRefused(f"{SERVICE} no longer asks for the answer", STREAM_EXPIRED_CODE) from None

    async def _send_late(self, chat_id: str, body: Payload) -> None:
        found = self._late.pop(chat_id)
        if found is None or time() - found[1] > LATE_SECONDS:
            raise PlatformRefused(ONLY_ONCE, permanent=True)
        content = {name: value for name, value in body.items() if name not in ("chatid", "chat_type")}
        request = ApiRequest("POST", found[0], "a later answer", json=content)
        try:
            response = await self._http.send(request)
        except PlatformOffline:
            self._late.set(chat_id, found)
            raise
        answer = check_status(SERVICE, request, response, lambda _: "").read_object() or {}
        code = answer.get("errcode")
        if isinstance(code, int) and code:
            raise WecomBotRefused(f"{SERVICE} refused a later answer: {code} {text(answer, 'errmsg')}"[:500], code)
