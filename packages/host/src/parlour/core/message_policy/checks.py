"""Asks the filters of a message policy that need a model or a plugin: in their order, and within a time limit.

Their verdicts are collected before the filters are applied, so that applying them waits for nothing.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from parlour.core.model.agent import Binding
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import NO_RUN, RunId
from parlour_sdk.values import dataclass

from .filters import ASKING_FILTERS, FilterVerdict, TextFilters, Verdicts, readable_texts

if TYPE_CHECKING:
    from .filters import AnyFilter
    from .schema import AskingFilter

MAX_CHECK_SECONDS = 10.0
"""Seconds that all such filters of one message may take together."""


@dataclass(frozen=True, slots=True)
class FilterSubject:
    """Whose texts are checked."""

    event: RecordedEvent
    binding: Binding
    side: Literal["input", "output"]
    run_id: RunId = NO_RUN
    rehearsal: bool = False
    """True for a rerun, whose messages are not sent."""


class FilterFailed(Exception):
    """Raised if a filter gave no verdict. `call` is what the ledger records of a model call."""

    def __init__(self, reason: str, call: Mapping[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.call = call


class FilterService(Protocol):
    """Gives the verdicts of one kind of filter."""

    async def check(
        self, each: "AskingFilter", texts: Sequence[str], subject: FilterSubject, seconds: float
    ) -> FilterVerdict:
        """Checks texts within this time. Raises FilterFailed."""
        ...


class FilterChecks:
    """Collects the verdicts about a message or a reply."""

    def __init__(self, filters: TextFilters, moderation: FilterService, plugins: FilterService) -> None:
        self._filters = filters
        self._moderation = moderation
        self._plugins = plugins

    async def ask(
        self, filters: "Sequence[AnyFilter]", text: str | None, contents: Sequence[Any], subject: FilterSubject
    ) -> Verdicts:
        """Returns the verdicts by the positions of their filters. Each filter reads what those before it have left."""
        verdicts: dict[int, FilterVerdict] = {}
        clock = asyncio.get_running_loop().time
        ends_at = clock() + MAX_CHECK_SECONDS
        for position, each in enumerate(filters, 1):
            if each.use not in ASKING_FILTERS:
                continue
            left = self._filters.apply(filters[: position - 1], text, contents, verdicts)
            if left.stopped_by is not None:
                break
            texts = readable_texts(left.text, left.contents)
            if texts:
                seconds = min(each.config.seconds, ends_at - clock())  # type: ignore[union-attr]
                verdicts[position] = await self._ask(each, texts, subject, seconds)  # type: ignore[arg-type]
        return verdicts

    async def _ask(
        self, each: "AskingFilter", texts: Sequence[str], subject: FilterSubject, seconds: float
    ) -> FilterVerdict:
        try:
            if seconds <= 0:
                raise FilterFailed("the filters before it took too long")
            service = self._moderation if each.use == "moderation" else self._plugins
            return await service.check(each, texts, subject, seconds)
        except FilterFailed as failure:
            is_found = on_error(each, subject.side) == "block"
            return FilterVerdict(is_found, failure.reason, is_failed=True, call=failure.call)


def on_error(each: "AskingFilter", side: str) -> str:
    """Returns what follows if a filter gives no verdict: `pass` or `block`."""
    return each.config.on_error or ("pass" if side == "input" else "block")


def asks_others(filters: "Sequence[AnyFilter]") -> bool:
    """Returns whether one of these filters needs a model or a plugin."""
    return any(each.use in ASKING_FILTERS for each in filters)


def verdict_notes(filters: "Sequence[AnyFilter]", verdicts: Verdicts, side: str) -> list[dict[str, Any]]:
    """Returns what the trail says about each verdict. `code` is found, nothing, or why a missing verdict decided so."""
    notes: list[dict[str, Any]] = []
    for position, verdict in sorted(verdicts.items()):
        code = "found" if verdict.is_found else "nothing"
        if verdict.is_failed:
            code = "unknown_blocked" if verdict.is_found else "unknown_passed"
        use = filters[position - 1].use
        notes.append({"side": side, "position": position, "use": use, "code": code, "detail": verdict.detail})
    return notes


def verdict_sentence(notes: Sequence[Mapping[str, Any]]) -> str:
    """Returns sentences about verdicts, for readers that don't know their codes."""
    return " ".join(
        f"The {each['side']} filter {each['position']} ({each['use']}): {each['code']}"
        f"{': ' + each['detail'] if each['detail'] else ''}."
        for each in notes
    )
