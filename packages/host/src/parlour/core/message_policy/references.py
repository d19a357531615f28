"""Checks that a message policy names word lists and models that exist, and finds the policies that use a list."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from parlour.core.config.models import ModelRepository
from parlour.core.config.word_lists import WordListRepository
from parlour.core.model.ids import ModelId, WordListId
from parlour_sdk.values import dataclass

if TYPE_CHECKING:
    from .filters import AnyFilter
    from .schema import MessagePolicy


@dataclass(frozen=True, slots=True)
class PolicyReferences:
    """The objects that message policies may name."""

    lists: WordListRepository
    models: ModelRepository

    def find_missing(self, policy: "MessagePolicy") -> tuple[str, str] | None:
        """Returns the field that names an unknown object, and the message about it; None if all exist."""
        for side, filters in (("input", policy.filters.input), ("output", policy.filters.output)):
            for number, each in enumerate(filters):
                if (missing := self._missing(each)) is not None:
                    return f"filters.{side}.{number}.config.{missing[0]}", missing[1]
        return None

    def _missing(self, each: "AnyFilter") -> tuple[str, str] | None:
        if each.use == "words" and each.config.list_id and self.lists.get(WordListId(each.config.list_id)) is None:
            return "list_id", f"there is no word list '{each.config.list_id}'; GET /api/v1/word-lists lists them"
        if each.use == "moderation":
            model = self.models.model(ModelId(each.config.model_id))
            if model is None:
                return "model_id", f"there is no model '{each.config.model_id}'; GET /api/v1/models lists them"
            if model.type != "moderation":
                return "model_id", f"model '{model.name}' is of type {model.type}; choose one of type moderation"
        return None


def uses_list(policies: Iterable[Mapping[str, Any]], list_id: WordListId) -> bool:
    """Returns whether one of these stored policies uses the list."""
    return any(
        each.get("config", {}).get("list_id") == list_id
        for policy in policies
        for filters in policy.get("filters", {}).values()
        for each in filters
    )
