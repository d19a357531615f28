"""Sends calls to a chat: to the current id of a migrated group, and without formatting if Telegram rejected it."""

from collections import OrderedDict
from typing import Any

from .client import TelegramClient
from .encode import TelegramCall
from .errors import EntitiesRefused, GroupMigrated
from .values import Payload, native_chat_id

MAX_CACHED_ENTRIES = 10_000
_FORMATTING = ("entities", "caption_entities", "parse_mode")


class TelegramSender:
    """Sends calls and remembers migrated groups and partly sent messages."""

    def __init__(self, client: TelegramClient) -> None:
        self._client = client
        self._moved: OrderedDict[str, str] = OrderedDict()
        self._parts: OrderedDict[str, list[str]] = OrderedDict()

    async def call(self, chat_id: str, call: TelegramCall) -> Any:
        """Sends one call to this chat."""
        try:
            return await self._call(chat_id, call)
        except GroupMigrated as moved:
            self.record_migration(chat_id, str(moved.chat_id))
            return await self._call(chat_id, call)
        except EntitiesRefused:
            return await self._call(chat_id, _unformatted(call))

    async def calls(self, chat_id: str, calls: list[TelegramCall], key: str | None, **common: Any) -> list[str]:
        """Sends calls and returns the message ids.

        Another attempt under the same key continues after those that were sent.
        """
        sent = self._parts.setdefault(key, []) if key else []
        done = 0
        for call in calls:
            done += _messages(call)
            if len(sent) < done:
                sent += _ids(await self.call(chat_id, call.with_params(**common)))
        self._parts.pop(key or "", None)
        while len(self._parts) > MAX_CACHED_ENTRIES:
            self._parts.popitem(last=False)
        return sent

    def record_migration(self, old: str, new: str) -> None:
        """Records that a group has become a supergroup with another id."""
        self._moved[old] = new
        if len(self._moved) > MAX_CACHED_ENTRIES:
            self._moved.popitem(last=False)

    def current_chat_id(self, chat_id: str) -> str:
        """Returns the current id of a chat."""
        return self._moved.get(chat_id, chat_id)

    async def _call(self, chat_id: str, call: TelegramCall) -> Any:
        place = native_chat_id("chat_id", self.current_chat_id(chat_id))
        return await self._client.call(call.method, {"chat_id": place, **call.params}, call.uploads)


def _messages(call: TelegramCall) -> int:
    return len(call.params["media"]) if call.method == "sendMediaGroup" else 1


def _ids(answer: Any) -> list[str]:
    told = answer if isinstance(answer, list) else [answer]
    return [str(each.get("message_id", "")) if isinstance(each, dict) else "" for each in told]


def _unformatted(call: TelegramCall) -> TelegramCall:
    """Removes all formatting from a call. A link to a user becomes a plain name."""
    params: Payload = {name: value for name, value in call.params.items() if name not in _FORMATTING}
    if isinstance(params.get("media"), list):
        params["media"] = [
            {name: value for name, value in each.items() if name not in _FORMATTING} for each in params["media"]
        ]
    return TelegramCall(call.method, params, call.uploads)
