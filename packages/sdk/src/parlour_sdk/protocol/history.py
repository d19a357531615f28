"""The transcript: the conversation as its users saw it, by page and by search."""

from typing import Any, Literal

from pydantic import Field

from .base import Milliseconds, Request, Strict, Tolerant
from .calls import RunCall
from .content import ArtifactRef
from .limits import PAGE_ITEMS, SEARCH_ITEMS

Direction = Literal["backward", "forward"]
HEARD = "message.heard"
"""Item type of a message of a group that was not addressed to the bot."""
INTERRUPTED = "interrupted"
"""Item type of the text that users saw of an answer that was not finished."""


class HistoryPageGet(RunCall):
    """Asks for a page of history. Without a conversation it is the run's own; naming another one needs a grant."""

    conversation_id: str | None = None
    before_cursor: str | None = None
    after_cursor: str | None = None
    limit: int = Field(default=50, ge=1, le=PAGE_ITEMS)
    direction: Direction = "backward"
    include_artifacts: bool = False
    include_heard: bool = False
    """Whether messages of a group that were not addressed to the bot are on the page."""


class SearchFilters(Request):
    """Narrows a search of history."""

    conversation_id: str | None = None
    event_types: list[str] | None = None
    roles: list[str] | None = None
    item_types: list[str] | None = None
    before: Milliseconds | None = None
    after: Milliseconds | None = None


class HistorySearch(RunCall):
    """Searches history by its words."""

    query: str = Field(min_length=1)
    filters: SearchFilters | None = None
    top_k: int = Field(default=10, ge=1, le=SEARCH_ITEMS)


class TranscriptItem(Tolerant):
    """One thing that was said or shown."""

    transcript_id: str
    event_id: str
    conversation_id: str | None = None
    thread_id: str | None = None
    role: str
    item_type: str
    """The event's type, or `message` for an answer, `interrupted` for a part of one, `notice` for a text of the Host,
    and `message.heard` for what was said in a group without addressing the bot."""
    content: str | None = None
    content_json: Any = None
    artifact_refs: list[ArtifactRef] = []
    seq: int | None = None
    cursor: str | None = None
    created_at: int | None = None
    metadata: dict[str, Any] = {}


class HistoryPage(Strict):
    """A page of history. Cursors are opaque."""

    items: list[TranscriptItem] = []
    next_cursor: str | None = None
    prev_cursor: str | None = None
    has_more: bool = False
    total_count: int | None = None


class HistorySearchResult(Strict):
    """What a search of history found."""

    items: list[TranscriptItem] = []
    total_count: int | None = None
    query: str
