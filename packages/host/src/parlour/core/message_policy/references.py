"""Checks that a message policy names word lists that exist, and finds the policies that use one."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from parlour.core.config.word_lists import WordListRepository
from parlour.core.model.ids import WordListId

if TYPE_CHECKING:
    from .schema import MessagePolicy


def find_missing_list(policy: "MessagePolicy", lists: WordListRepository) -> tuple[str, str] | None:
    """Returns the field with an unknown word list, and the message about it; None if all exist."""
    for side, filters in (("input", policy.filters.input), ("output", policy.filters.output)):
        for number, each in enumerate(filters):
            if each.use == "words" and each.config.list_id and lists.get(WordListId(each.config.list_id)) is None:
                message = f"there is no word list '{each.config.list_id}'; GET /api/v1/word-lists lists them"
                return f"filters.{side}.{number}.config.list_id", message
    return None


def uses_list(policies: Iterable[Mapping[str, Any]], list_id: WordListId) -> bool:
    """Returns whether one of these stored policies uses the list."""
    return any(
        each.get("config", {}).get("list_id") == list_id
        for policy in policies
        for filters in policy.get("filters", {}).values()
        for each in filters
    )
