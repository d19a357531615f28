"""The messages that a bot may still answer, by chat: WeCom shows an answer as a stream under the id of its message.

The newest messages are stored with the cursor, so that an answer that a restart interrupted is completed in its place.
"""

import json
from time import time
from typing import Any

from parlour.core.encoding import dumps
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.ids import short_key
from parlour.platforms._kit.payloads import object_in
from parlour_sdk.values import dataclass

STREAM_SECONDS = 340.0
"""Seconds for which a stream is continued; WeCom ends it after six minutes."""
MAX_STORED = 100
STREAM_ID_LENGTH = 32


@dataclass(slots=True)
class Reply:
    """The answer to the newest message of a chat. It is shown as one stream."""

    request_id: str
    received_at: float
    stream_id: str = ""
    """Empty until something is shown."""
    shown: str = ""
    is_finished: bool = False

    @property
    def is_open(self) -> bool:
        return not self.is_finished and time() - self.received_at < STREAM_SECONDS

    def begin(self, key: str) -> str:
        """Returns the id of the stream: that of the first message under it, which a later process finds out too."""
        self.stream_id = self.stream_id or short_key(key, STREAM_ID_LENGTH)
        return self.stream_id


class Replies:
    """The open replies of one bot. If WeCom calls it, each is shown in the stream of its message."""

    def __init__(self, is_called: bool = False) -> None:
        self._is_called = is_called
        self._by_chat: BoundedMap[str, Reply] = BoundedMap()
        self._by_key: BoundedMap[str, Reply] = BoundedMap(1000)

    def received(self, chat_id: str, request_id: str) -> None:
        """Begins the reply to a message, unless the message was only repeated."""
        known = self._by_chat.get(chat_id)
        if known is None or known.request_id != request_id:
            self._by_chat.set(chat_id, self._reply(request_id, time()))

    def _reply(self, request_id: str, received_at: float) -> Reply:
        return Reply(request_id, received_at, stream_of_message(request_id) if self._is_called else "")

    def open_in(self, chat_id: str) -> Reply | None:
        """Returns the reply that a message to this chat can be shown under."""
        reply = self._by_chat.get(chat_id)
        return reply if reply is not None and reply.is_open else None

    def finished(self, key: str, reply: Reply) -> None:
        """Remembers under which key a reply was completed."""
        self._by_key.set(key, reply)

    def finished_under(self, key: str) -> Reply | None:
        reply = self._by_key.get(key)
        recent = reply is not None and time() - reply.received_at < STREAM_SECONDS
        return reply if recent else None

    def dump(self, chat_id: str, request_id: str) -> str:
        """Returns the cursor with the messages that can be answered, and one that is about to be added."""
        recent = [(chat, reply) for chat, reply in self._by_chat.items() if reply.is_open and chat != chat_id]
        stored = {chat: [reply.request_id, reply.received_at] for chat, reply in recent[-MAX_STORED:]}
        return dumps({"replies": {**stored, chat_id: [request_id, time()]}})

    def load(self, cursor: str | None) -> None:
        """Restores the messages of an earlier process."""
        try:
            stored: Any = json.loads(cursor or "{}")
        except ValueError:
            return
        for chat_id, entry in object_in(stored if isinstance(stored, dict) else {}, "replies").items():
            match entry:
                case [str() as request_id, int() | float() as received_at]:
                    self._by_chat.set(chat_id, self._reply(request_id, received_at))


def stream_of_message(message_id: str) -> str:
    """Returns the id of the stream that answers a message, if WeCom calls the bot."""
    return short_key(message_id, STREAM_ID_LENGTH)
