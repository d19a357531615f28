"""Calls that write into a chat: to where the group is now, and without formatting where that was not understood."""

from collections import OrderedDict
from typing import Any

from .client import Client
from .encode import Call
from .errors import EntitiesRefused, Migrated
from .values import Payload, chat_name

REMEMBERED = 10_000
_FORMATTING = ("entities", "caption_entities", "parse_mode")


class Sender:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._moved: OrderedDict[str, str] = OrderedDict()
        self._parts: OrderedDict[str, list[str]] = OrderedDict()

    async def call(self, chat_id: str, call: Call) -> Any:
        """One call to this chat."""
        try:
            return await self._call(chat_id, call)
        except Migrated as moved:
            self.moved(chat_id, str(moved.chat_id))
            return await self._call(chat_id, call)
        except EntitiesRefused:
            return await self._call(chat_id, _unformatted(call))

    async def calls(self, chat_id: str, calls: list[Call], key: str | None, **common: Any) -> list[str]:
        """The ids of the messages. A second try under the same key goes on after those that went out."""
        sent = self._parts.setdefault(key, []) if key else []
        done = 0
        for call in calls:
            done += _messages(call)
            if len(sent) < done:
                sent += _ids(await self.call(chat_id, call.also(**common)))
        self._parts.pop(key or "", None)
        while len(self._parts) > REMEMBERED:
            self._parts.popitem(last=False)
        return sent

    def moved(self, old: str, new: str) -> None:
        """A group has become a supergroup."""
        self._moved[old] = new
        if len(self._moved) > REMEMBERED:
            self._moved.popitem(last=False)

    def place(self, chat_id: str) -> str:
        """Where the chat is now."""
        return self._moved.get(chat_id, chat_id)

    async def _call(self, chat_id: str, call: Call) -> Any:
        place = chat_name("chat_id", self.place(chat_id))
        return await self._client.call(call.method, {"chat_id": place, **call.params}, call.uploads)


def _messages(call: Call) -> int:
    return len(call.params["media"]) if call.method == "sendMediaGroup" else 1


def _ids(answer: Any) -> list[str]:
    told = answer if isinstance(answer, list) else [answer]
    return [str(each.get("message_id", "")) if isinstance(each, dict) else "" for each in told]


def _unformatted(call: Call) -> Call:
    """The words alone. A link to a person stays a name."""
    params: Payload = {name: value for name, value in call.params.items() if name not in _FORMATTING}
    if isinstance(params.get("media"), list):
        params["media"] = [
            {name: value for name, value in each.items() if name not in _FORMATTING} for each in params["media"]
        ]
    return Call(call.method, params, call.uploads)
