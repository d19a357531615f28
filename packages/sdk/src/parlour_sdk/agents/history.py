"""Reads the transcript before the current event as messages for a model, until the budget of tokens is used up.

Messages of a group that were not addressed to the bot are given in blocks, before the message that follows them.
"""

from collections.abc import Sequence
from dataclasses import field
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from parlour_sdk.api import AgentAPIException, AgentRunAPI
from parlour_sdk.protocol.content import ContentElement
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.history import HEARD, INTERRUPTED, HistoryPage, TranscriptItem
from parlour_sdk.protocol.limits import PAGE_ITEMS
from parlour_sdk.protocol.messages import Message

from ..values import dataclass
from . import media, token_estimates
from .speakers import GroupMembers
from .token_estimates import TokenRatio
from .tool_memory import remembered_messages
from .user_message import UserMessage

ROLES: Final = ("user", "assistant")
FIRST_PAGE_ITEMS = 64
"""Transcript items of the first page, which is enough for most turns."""
MAX_TAIL_PAGES = 8
"""Pages that one turn reads at most; only very short messages reach this before their budget."""
TOKENS_KEY = "tokens"
"""Key in the metadata of an answer: the estimated tokens of its prompt, and those that the provider counted."""
HEARD_HEADING = "(Said in the group before, not addressed to you:)"
INTERRUPTED_NOTE = "(interrupted here)"


@dataclass(frozen=True, slots=True)
class GroupContext:
    """How many messages that were not addressed to the bot are given before a message that was."""

    messages: int = 30
    minutes: int = 60
    tokens: int = 2000


@dataclass(frozen=True, slots=True)
class HistoryItem:
    """A message of the history, with its position in the transcript and its size in tokens."""

    message: Message
    cursor: str | None
    tokens: int

    @classmethod
    def from_message(cls, message: Message, cursor: str | None = None) -> "HistoryItem":
        """Builds the item, and counts its tokens once."""
        return cls(message, cursor, token_estimates.estimate_message(message))


@dataclass(frozen=True, slots=True)
class HistoryTail:
    """The latest part of the conversation, or the part after a checkpoint. There may be more before it."""

    items: Sequence[HistoryItem] = ()
    token_ratio: TokenRatio = field(default_factory=TokenRatio)
    older_cursor: str | None = None
    """Cursor before which there are more items; None if there are none."""

    @property
    def tokens(self) -> int:
        """The estimated tokens of all items."""
        return sum(each.tokens for each in self.items)


class UnusableCursor(Exception):
    """Raised when the transcript no longer has the position that a checkpoint names."""


class TranscriptReader:
    """Reads the conversation of one run; notices of the Host, and messages after the run's event, are left out."""

    def __init__(self, ctx: AgentRunContext, api: AgentRunAPI, group_context: GroupContext | None = None) -> None:
        self._ctx = ctx
        self._api = api
        self.members = GroupMembers(ctx)
        context = group_context or GroupContext()
        self._heard = context if self.members.in_group and context.messages > 0 else None

    async def tail(self, after: str | None = None, tokens: int | None = None) -> HistoryTail:
        """Reads pages until there are more than `tokens`, or one page without a limit; no call without a history."""
        if not (self._ctx.context.has_history_before and self._ctx.context.available_apis.history_page):
            return HistoryTail()
        try:
            page = await self._page(None, after, FIRST_PAGE_ITEMS)
        except AgentAPIException as error:
            if after is not None and error.kind in ("invalid_argument", "not_found"):
                raise UnusableCursor from error
            raise
        items = list(_items_before(page.items, self._ctx.event.event_id))
        remaining, pages = (tokens or 0) - _rough_tokens(items), 1
        while page.has_more and page.next_cursor and remaining > 0 and pages < MAX_TAIL_PAGES:
            page = await self._page(page.next_cursor, after, PAGE_ITEMS)
            items[:0], pages = page.items, pages + 1
            remaining -= _rough_tokens(page.items)
        return self._tail(items, page)

    async def older(self, before: str, after: str | None) -> HistoryTail:
        """Reads one page between two cursors; `older_cursor` of the result continues."""
        page = await self._page(before, after, PAGE_ITEMS)
        return self._tail(page.items, page)

    async def _page(self, before: str | None, after: str | None, limit: int) -> HistoryPage:
        return await self._api.history.page(
            before_cursor=before, after_cursor=after, limit=limit, include_heard=self._heard is not None
        )

    def _tail(self, items: Sequence[TranscriptItem], page: HistoryPage) -> HistoryTail:
        for item in items:
            self.members.learn(item.metadata)
        history_items: list[HistoryItem] = []
        heard: list[TranscriptItem] = []
        for item in items:
            if item.item_type == HEARD:
                heard.append(item)
                continue
            messages = self._messages(item)
            if messages:
                history_items += self._heard_block(heard, _time(item))
                history_items += [HistoryItem.from_message(each, item.cursor) for each in messages]
                heard = []
        history_items += self._heard_block(heard, self._ctx.trigger.timestamp or 0)
        return HistoryTail(history_items, _latest_ratio(items), page.next_cursor if page.has_more else None)

    def _messages(self, item: TranscriptItem) -> list[Message]:
        if item.role not in ROLES or item.item_type == "notice":
            return []
        if item.role == "assistant":
            remembered = remembered_messages(_metadata(item))
            text = item.content or ""
            if item.item_type == INTERRUPTED:
                text = f"{text} {INTERRUPTED_NOTE}"
            return [*remembered, *([Message(role="assistant", content=text)] if text else [])]
        user_message = self._user_message(item)
        return [] if user_message.is_empty else [user_message.to_message()]

    def _user_message(self, item: TranscriptItem) -> UserMessage:
        contents, speaker = _contents(item.content_json), self.members.of_item(item)
        if contents:
            return UserMessage.from_contents(contents, speaker, self.members)
        return UserMessage(item.content or "", speaker=speaker)

    def _heard_block(self, items: Sequence[TranscriptItem], until: int) -> list[HistoryItem]:
        """Returns one message with the latest of these messages, as far as the limits allow.

        The choice depends only on what was said, so that every later request has the same block.
        """
        if not items or self._heard is None:
            return []
        lines: list[str] = []
        remaining, since = self._heard.tokens, until - self._heard.minutes * 60_000
        for item in reversed(items[-self._heard.messages :]):
            said = self._user_message(item)
            text = "\n".join(part for part in (said.text.strip(), *map(media.describe, said.media)) if part)
            line = said.speaker.label(text) if said.speaker else text
            remaining -= token_estimates.estimate_text(line) + 1
            if remaining < 0 or _time(item) < since:
                break
            if text:
                lines.insert(0, line)
        if not lines:
            return []
        content = "\n".join((HEARD_HEADING, *lines))
        return [HistoryItem.from_message(Message(role="user", content=content), items[-1].cursor)]


def _items_before(items: Sequence[TranscriptItem], event_id: str) -> Sequence[TranscriptItem]:
    """Returns the items before the event.

    Leaves out the event itself and later items: messages of another attempt, and messages that wait for steering.
    """
    for index, item in enumerate(items):
        if item.event_id == event_id:
            return items[:index]
    return items


def _rough_tokens(items: Sequence[TranscriptItem]) -> int:
    """Estimates items without converting them. Each counts at least 20, so that a busy group is not read for ever."""
    return sum(max(20, len(item.content or "") // 3) for item in items)


def _time(item: TranscriptItem) -> int:
    time = item.metadata.get("time")
    return time if isinstance(time, int) else item.created_at or 0


def _contents(value: Any) -> list[ContentElement]:
    """Parses the elements of an item that has more than text; `value` is a list, or a message with one."""
    content = value.get("content") if isinstance(value, dict) else value
    if not isinstance(content, list) or all(isinstance(each, dict) and each.get("type") == "text" for each in content):
        return []
    try:
        return TypeAdapter(list[ContentElement]).validate_python(content)
    except ValidationError:
        return []


def _metadata(item: TranscriptItem) -> dict[str, Any]:
    """Returns the metadata of an answer, which a fake Host keeps in its message."""
    in_message = item.content_json.get("metadata") if isinstance(item.content_json, dict) else None
    return item.metadata or in_message or {}


def _latest_ratio(items: Sequence[TranscriptItem]) -> TokenRatio:
    """Returns the ratio of the latest answer for which the provider counted tokens."""
    for item in reversed(items):
        match _metadata(item).get(TOKENS_KEY):
            case {"counted": int(counted), "estimated": int(estimated)}:
                return TokenRatio.from_usage(counted, estimated)
    return TokenRatio()
