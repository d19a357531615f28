"""Reads the transcript before the current event, page by page, as messages for a model."""

from collections.abc import Sequence
from dataclasses import field
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from parlour_sdk.api import AgentAPIException, AgentRunAPI
from parlour_sdk.protocol.content import ContentElement
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.history import HistoryPage, TranscriptItem
from parlour_sdk.protocol.limits import PAGE_ITEMS
from parlour_sdk.protocol.messages import Message

from ..values import dataclass
from . import token_estimates
from .template_variables import in_group
from .token_estimates import TokenRatio
from .user_message import UserMessage

ROLES: Final = ("user", "assistant")
TAIL_ITEMS = 64
"""Transcript items read in every turn; a longer conversation is summarized, however short its messages are."""
TOKENS_KEY = "tokens"
"""Key in the metadata of an answer: the estimated tokens of its prompt, and those that the provider counted."""


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

    def __init__(self, ctx: AgentRunContext, api: AgentRunAPI) -> None:
        self._ctx = ctx
        self._api = api
        self._in_group = in_group(ctx)

    async def tail(self, after: str | None = None) -> HistoryTail:
        """Reads at most one page; makes no call if there is no history."""
        if not (self._ctx.context.has_history_before and self._ctx.context.available_apis.history_page):
            return HistoryTail()
        try:
            page = await self._api.history.page(after_cursor=after, limit=TAIL_ITEMS)
        except AgentAPIException as error:
            if after is not None and error.kind in ("invalid_argument", "not_found"):
                raise UnusableCursor from error
            raise
        return self._read(page)

    async def older(self, before: str, after: str | None) -> HistoryTail:
        """Reads one page between two cursors; `older_cursor` of the result continues."""
        return self._read(await self._api.history.page(before_cursor=before, after_cursor=after, limit=PAGE_ITEMS))

    def _read(self, page: HistoryPage) -> HistoryTail:
        items = _items_before(page.items, self._ctx.event.event_id)
        history_items = [
            HistoryItem.from_message(message, item.cursor)
            for item in items
            if (message := self._message(item)) is not None
        ]
        return HistoryTail(history_items, _latest_ratio(items), page.next_cursor if page.has_more else None)

    def _message(self, item: TranscriptItem) -> Message | None:
        if item.role not in ROLES or item.item_type == "notice":
            return None
        if item.role == "assistant":
            return Message(role="assistant", content=item.content) if item.content else None
        user_message = _to_user_message(item, item.metadata.get("actor_name") if self._in_group else None)
        return None if user_message.is_empty else user_message.to_message()


def _items_before(items: Sequence[TranscriptItem], event_id: str) -> Sequence[TranscriptItem]:
    """Returns the items before the event.

    Leaves out the event itself and later items: messages of another attempt, and messages that wait for steering.
    """
    for index, item in enumerate(items):
        if item.event_id == event_id:
            return items[:index]
    return items


def _to_user_message(item: TranscriptItem, speaker: str | None) -> UserMessage:
    contents = _contents(item.content_json)
    return (
        UserMessage.from_contents(contents, speaker) if contents else UserMessage(item.content or "", speaker=speaker)
    )


def _contents(value: Any) -> list[ContentElement]:
    """Parses the elements of an item that has more than text; `value` is a list, or a message with one."""
    content = value.get("content") if isinstance(value, dict) else value
    if not isinstance(content, list) or all(isinstance(each, dict) and each.get("type") == "text" for each in content):
        return []
    try:
        return TypeAdapter(list[ContentElement]).validate_python(content)
    except ValidationError:
        return []


def _latest_ratio(items: Sequence[TranscriptItem]) -> TokenRatio:
    """Returns the ratio of the latest answer for which the provider counted tokens."""
    for item in reversed(items):
        metadata = item.metadata or (item.content_json.get("metadata") if isinstance(item.content_json, dict) else None)
        match (metadata or {}).get(TOKENS_KEY):
            case {"counted": int(counted), "estimated": int(estimated)}:
                return TokenRatio.from_usage(counted, estimated)
    return TokenRatio()
