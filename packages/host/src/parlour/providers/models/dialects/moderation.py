"""Moderation in OpenAI's format, which compatible services share."""

from typing import Any

from parlour.core.model.moderation import Moderate, ModerationAnswer, ModerationCategory
from parlour_sdk.protocol.usage import Usage

from .base import CallTarget, ModelHttpRequest, entries, malformed, number


def build_request(target: CallTarget, request: Moderate) -> ModelHttpRequest:
    body = {**target.model.parameters, "model": target.model.name, "input": list(request.texts)}
    return ModelHttpRequest("/moderations", body)


def parse_answer(body: Any) -> ModerationAnswer:
    """Returns the verdict about all texts together: what one of them is flagged for, with the highest scores."""
    results = entries(body, "results")
    if not results or not all(isinstance(each.get("flagged"), bool) for each in results):
        raise malformed("no verdict")
    flagged: dict[str, bool] = {}
    scores: dict[str, float] = {}
    for each in results:
        for name, value in _items(each, "categories"):
            flagged[name] = flagged.get(name, False) or value is True
        for name, value in _items(each, "category_scores"):
            if isinstance(value, int | float) and not isinstance(value, bool):
                scores[name] = max(scores.get(name, 0.0), float(value))
    categories = [
        ModerationCategory(name, flagged.get(name, False), scores.get(name, 0.0))
        for name in dict.fromkeys([*flagged, *scores])
    ]
    return ModerationAnswer(any(each["flagged"] for each in results), tuple(categories), _usage(body))


def _items(result: Any, name: str) -> list[tuple[str, Any]]:
    values = result.get(name)
    return [(str(key), value) for key, value in values.items()] if isinstance(values, dict) else []


def _usage(body: Any) -> Usage | None:
    usage = body.get("usage")
    tokens = max((number(usage, name) for name in ("prompt_tokens", "total_tokens")), default=0)
    return Usage(prompt_tokens=tokens) if tokens else None
