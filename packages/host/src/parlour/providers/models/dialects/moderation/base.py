"""Common parts of moderation formats: the protocol, and one verdict for the answers to several requests."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from parlour.core.model.moderation import Moderate, ModerationAnswer, ModerationCategory
from parlour_sdk.protocol.usage import Usage

from ..base import CallTarget, ModelHttpRequest


class ModerationFormat(Protocol):
    """Wire format of a moderation service."""

    def requests(self, target: CallTarget, request: Moderate) -> Sequence[ModelHttpRequest]:
        """Returns the requests that check all texts."""
        ...

    def parse_answer(self, body: Any) -> ModerationAnswer:
        """Returns the verdict of one response. Raises ModelCallFailure."""
        ...


def joined_categories(categories: Iterable[ModerationCategory]) -> tuple[ModerationCategory, ...]:
    """Returns each category once: flagged if one of its entries is, with the highest score."""
    joined: dict[str, ModerationCategory] = {}
    for each in categories:
        other = joined.get(each.name, each)
        flagged, score = each.is_flagged or other.is_flagged, max(each.score, other.score)
        joined[each.name] = ModerationCategory(each.name, flagged, score)
    return tuple(joined.values())


def joined_answer(answers: Sequence[ModerationAnswer]) -> ModerationAnswer:
    """Returns the verdict about all texts together."""
    if len(answers) == 1:
        return answers[0]
    tokens = sum(each.usage.prompt_tokens or 0 for each in answers if each.usage is not None)
    return ModerationAnswer(
        any(each.is_flagged for each in answers),
        joined_categories(category for each in answers for category in each.categories),
        Usage(prompt_tokens=tokens) if tokens else None,
    )


def score(value: Any, otherwise: float) -> float:
    """Returns a score between 0 and 1; `otherwise` for a value that is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return otherwise
    return min(max(float(value), 0.0), 1.0)
