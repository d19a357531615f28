"""Moderation in OpenAI's format, which compatible services share."""

from collections.abc import Iterator, Sequence
from typing import Any

from parlour.core.model.moderation import Moderate, ModerationAnswer, ModerationCategory
from parlour_sdk.protocol.usage import Usage

from ..base import CallTarget, ModelHttpRequest, entries, malformed, number
from .base import joined_categories, score


class OpenAIModeration:
    """Checks all texts in one request."""

    def requests(self, target: CallTarget, request: Moderate) -> Sequence[ModelHttpRequest]:
        body = {**target.model.parameters, "model": target.model.name, "input": list(request.texts)}
        return [ModelHttpRequest("/moderations", body)]

    def parse_answer(self, body: Any) -> ModerationAnswer:
        results = entries(body, "results")
        if not results or not all(isinstance(each.get("flagged"), bool) for each in results):
            raise malformed("no verdict")
        categories = joined_categories(category for each in results for category in _categories(each))
        return ModerationAnswer(any(each["flagged"] for each in results), categories, _usage(body))


def _categories(result: Any) -> Iterator[ModerationCategory]:
    flagged, scores = _items(result, "categories"), _items(result, "category_scores")
    for name in dict.fromkeys([*flagged, *scores]):
        yield ModerationCategory(name, flagged.get(name) is True, score(scores.get(name), 0.0))


def _items(result: Any, name: str) -> dict[str, Any]:
    values = result.get(name)
    return {str(key): value for key, value in values.items()} if isinstance(values, dict) else {}


def _usage(body: Any) -> Usage | None:
    usage = body.get("usage")
    tokens = max((number(usage, name) for name in ("prompt_tokens", "total_tokens")), default=0)
    return Usage(prompt_tokens=tokens) if tokens else None
