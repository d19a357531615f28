"""The filter that asks a moderation model. Its calls count in budgets and are recorded in the ledger of the run."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from parlour.core.model.ids import NO_PLUGIN, ModelId
from parlour.core.model.moderation import Moderate, ModerationAnswer, ModerationCategory
from parlour.core.model.ports import Clock
from parlour.core.model.providers import CallContext, Models, ProviderFailed

from .checks import FilterFailed, FilterSubject
from .filters import FilterVerdict

if TYPE_CHECKING:
    from .schema import AskingFilter, ModerationConfig

MAX_SHOWN_CATEGORIES = 3


class ModerationFilter:
    """Asks moderation models about texts."""

    def __init__(self, models: Models, clock: Clock) -> None:
        self._models = models
        self._clock = clock

    async def check(
        self, each: "AskingFilter", texts: Sequence[str], subject: FilterSubject, seconds: float
    ) -> FilterVerdict:
        config: ModerationConfig = each.config  # type: ignore[assignment]
        model_id, started_at = ModelId(config.model_id), self._clock.now()
        call: dict[str, Any] = {
            "name": model_id,
            **self._models.identity(model_id),
            "started_at": started_at,
            "filter": subject.side,
        }
        try:
            async with asyncio.timeout(seconds):
                answer = await self._models.moderate(_context(subject), Moderate(model_id, tuple(texts)))
        except TimeoutError as error:
            call |= {"outcome": "provider_timeout", "milliseconds": self._clock.now() - started_at}
            raise FilterFailed(f"the model did not answer in {seconds:g} s", call) from error
        except ProviderFailed as failure:
            call |= {"outcome": failure.code, "milliseconds": self._clock.now() - started_at}
            raise FilterFailed(failure.message, call) from failure
        call |= {"outcome": "answered", "milliseconds": self._clock.now() - started_at}
        if answer.usage is not None:
            call["usage"] = answer.usage.model_dump(exclude_none=True)
        found = list(_found(answer, config))
        return FilterVerdict(bool(found), ", ".join(found[:MAX_SHOWN_CATEGORIES]), call=call)


def _found(answer: ModerationAnswer, config: "ModerationConfig") -> Iterator[str]:
    """Yields the categories that count, those with the highest scores first."""
    for category in sorted(answer.categories, key=lambda each: -each.score):
        if _counts(category, config):
            yield f"{category.name} {category.score:.2f}"
    if answer.is_flagged and not answer.categories and not config.categories:
        yield "flagged"


def _counts(category: ModerationCategory, config: "ModerationConfig") -> bool:
    if config.categories and category.name not in config.categories:
        return False
    return category.score >= config.threshold if config.threshold else category.is_flagged


def _context(subject: FilterSubject) -> CallContext:
    """Returns on whose behalf the model is called, for budgets."""
    event, agent_id = subject.event, subject.binding.agent.agent_id
    actor, bot_id = event.envelope.actor, event.envelope.bot_id
    return CallContext(NO_PLUGIN, subject.run_id, agent_id, event.conversation_id, actor.type, actor.id, bot_id)
