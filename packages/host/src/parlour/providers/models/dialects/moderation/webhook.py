"""Moderation by an endpoint of the operator's own, which answers `{"verdict": "pass" | "block"}`."""

from collections.abc import Iterator, Sequence
from typing import Any

from parlour.core.model.moderation import Moderate, ModerationAnswer, ModerationCategory

from ..base import CallTarget, ModelHttpRequest, malformed
from .base import joined_categories, score


class WebhookModeration:
    """Posts all texts to the address of the provider."""

    def requests(self, target: CallTarget, request: Moderate) -> Sequence[ModelHttpRequest]:
        body = {**target.model.parameters, "model": target.model.name, "texts": list(request.texts)}
        return [ModelHttpRequest("", body)]

    def parse_answer(self, body: Any) -> ModerationAnswer:
        verdict = body.get("verdict") if isinstance(body, dict) else None
        if verdict not in ("pass", "block"):
            raise malformed("no verdict `pass` or `block`")
        is_flagged = verdict == "block"
        overall = score(body.get("score"), 1.0 if is_flagged else 0.0)
        return ModerationAnswer(is_flagged, joined_categories(_categories(body.get("categories"), is_flagged, overall)))


def _categories(found: Any, is_flagged: bool, overall: float) -> Iterator[ModerationCategory]:
    """Yields the categories of a list of names, or of an object with a score for each name."""
    values = found if isinstance(found, dict) else dict.fromkeys(found if isinstance(found, list) else ())
    for name, value in values.items():
        yield ModerationCategory(str(name)[:100], is_flagged, score(value, overall))
