"""Sends messages to a chat, and streams an answer as a draft, which the user sees while it is written.

A message goes to the current id of a migrated group, and without formatting if Telegram rejected it. A draft that
Telegram refuses is skipped: the final message contains the whole text anyway.
"""

import zlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour_sdk.protocol.chain import MessageChain
from parlour_sdk.protocol.platform_api import MessageResult

from .client import EntitiesRefused, Forbidden, GroupMigrated, TelegramClient, Unauthorized
from .encode import TelegramCall
from .entities import Payload, native_chat_id
from .markup import MAX_TEXT_LENGTH, render_markdown, utf16_length

MAX_CACHED_ENTRIES = 10_000
_FORMATTING = ("entities", "caption_entities", "parse_mode")
METHOD = "sendMessageDraft"
Finish = Callable[[MessageChain], Awaitable[MessageResult]]


class TelegramSender:
    """Sends calls and remembers migrated groups and partly sent messages."""

    def __init__(self, client: TelegramClient) -> None:
        self._client = client
        self._migrated: OrderedDict[str, str] = OrderedDict()
        self._parts: OrderedDict[str, list[str]] = OrderedDict()

    async def call(self, chat_id: str, call: TelegramCall) -> Any:
        """Sends one call to this chat."""
        try:
            return await self._call(chat_id, call)
        except GroupMigrated as migration:
            self.record_migration(chat_id, str(migration.chat_id))
            return await self._call(chat_id, call)
        except EntitiesRefused:
            return await self._call(chat_id, _unformatted(call))

    async def calls(self, chat_id: str, calls: list[TelegramCall], key: str | None, **common: Any) -> list[str]:
        """Sends calls and returns the message ids.

        Another attempt under the same key continues after those that were sent.
        """
        sent_ids = self._parts.setdefault(key, []) if key else []
        offset = 0
        for call in calls:
            offset += _messages(call)
            if len(sent_ids) < offset:
                sent_ids += _ids(await self.call(chat_id, call.with_params(**common)))
        self._parts.pop(key or "", None)
        while len(self._parts) > MAX_CACHED_ENTRIES:
            self._parts.popitem(last=False)
        return sent_ids

    def record_migration(self, old_id: str, new_id: str) -> None:
        """Records that a group has become a supergroup with another id."""
        self._migrated[old_id] = new_id
        if len(self._migrated) > MAX_CACHED_ENTRIES:
            self._migrated.popitem(last=False)

    def current_chat_id(self, chat_id: str) -> str:
        """Returns the current id of a chat."""
        return self._migrated.get(chat_id, chat_id)

    async def _call(self, chat_id: str, call: TelegramCall) -> Any:
        native_id = native_chat_id("chat_id", self.current_chat_id(chat_id))
        return await self._client.call(call.method, {"chat_id": native_id, **call.params}, call.uploads)


def _messages(call: TelegramCall) -> int:
    return len(call.params["media"]) if call.method == "sendMediaGroup" else 1


def _ids(answer: Any) -> list[str]:
    messages = answer if isinstance(answer, list) else [answer]
    return [str(each.get("message_id", "")) if isinstance(each, dict) else "" for each in messages]


def _unformatted(call: TelegramCall) -> TelegramCall:
    """Removes all formatting from a call. A link to a user becomes a plain name."""
    params: Payload = {name: value for name, value in call.params.items() if name not in _FORMATTING}
    if isinstance(params.get("media"), list):
        params["media"] = [
            {name: value for name, value in each.items() if name not in _FORMATTING} for each in params["media"]
        ]
    return TelegramCall(call.method, params, call.uploads)


class DraftSupport:
    """Knows whether this Bot API supports drafts and accepts them from this bot."""

    def __init__(self, client: TelegramClient) -> None:
        self._client = client
        self.available = False

    async def probe(self) -> None:
        """Checks whether the server has the method: if so, it complains about missing parameters."""
        try:
            await self._client.call(METHOD, {})
        except PlatformRefused as error:
            missing = isinstance(error, Unauthorized) or "method not found" in error.reason.lower()
            self.available = not missing
        except PlatformUncertain:
            self.available = False

    async def send(self, params: Payload) -> None:
        """Shows a draft. Raises PlatformRefused only if Telegram asks to wait before the next one."""
        try:
            await self._client.call(METHOD, params)
        except PlatformRefused as error:
            if error.retry_after is not None:
                raise
            if error.permanent and not isinstance(error, Forbidden):
                self.available = False
        except PlatformUncertain:
            pass  # the next draft shows more


class TelegramDraftStream:
    """Stream of one answer."""

    def __init__(self, drafts: DraftSupport, target: Payload, key: str, markdown: bool, finish: Finish) -> None:
        self._drafts = drafts
        self._target: dict[str, Any] = {**target, "draft_id": zlib.crc32(key.encode()) >> 1 or 1}
        self._markdown = markdown
        self._finish = finish
        self._text = ""

    async def append(self, text: str) -> None:
        full_text = self._text + text
        if self._drafts.available and full_text.strip():
            rendered = render_markdown(_latest(full_text), self._markdown)
            await self._drafts.send({**self._target, **rendered.parameters()})
        self._text = full_text

    async def finish(self, chain: MessageChain) -> MessageResult:
        return await self._finish(chain)

    async def fail(self, reason: str) -> None:
        """Does nothing, because a draft disappears by itself."""


def _latest(text: str) -> str:
    """Returns the part of the text that fits into a draft."""
    if utf16_length(text) <= MAX_TEXT_LENGTH:
        return text
    return "…" + text[-MAX_TEXT_LENGTH // 2 :]
