"""Reads and searches the transcript: the conversation as its users saw it."""

from typing import Any

from parlour_sdk.protocol.history import (
    Direction,
    HistoryPage,
    HistoryPageGet,
    HistorySearch,
    HistorySearchResult,
    SearchFilters,
)

from .calls import InvalidCall, Namespace


class HistoryAPI(Namespace):
    async def page(
        self,
        conversation_id: str | None = None,
        before_cursor: str | None = None,
        after_cursor: str | None = None,
        limit: int = 50,
        direction: Direction = "backward",
        include_artifacts: bool = False,
        include_heard: bool = False,
    ) -> HistoryPage:
        """Returns one page; `conversation_id` defaults to the run's own conversation.

        `include_heard` adds the messages of a group that were not addressed to the bot.
        """
        return await self._calls.call(
            "history_page",
            HistoryPageGet,
            HistoryPage,
            conversation_id=conversation_id,
            before_cursor=before_cursor,
            after_cursor=after_cursor,
            limit=limit,
            direction=direction,
            include_artifacts=include_artifacts,
            include_heard=include_heard,
        )

    async def search(
        self, query: str, filters: SearchFilters | dict[str, Any] | None = None, top_k: int = 10
    ) -> HistorySearchResult:
        """Searches by text. Filters: conversation_id, event_types, roles, item_types, before, after."""
        if isinstance(filters, dict):
            _require_known_filters(filters)
        return await self._calls.call(
            "history_search", HistorySearch, HistorySearchResult, query=query, filters=filters, top_k=top_k
        )


def _require_known_filters(filters: dict[str, Any]) -> None:
    """Rejects unknown filters: the Host ignores unknown fields, so a misspelt filter would silently do nothing."""
    for name in filters:
        if name not in SearchFilters.model_fields:
            field_names = ", ".join(SearchFilters.model_fields)
            raise InvalidCall(f"history_search: filters: there is no filter '{name}'; there are {field_names}")
