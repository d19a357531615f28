"""What a message policy did to a message, for plugins that listen to it. It never has the text of the message."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from parlour.core.journal import UnitBuilder
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import NO_RUN, RunId
from parlour.core.model.reasons import Reason
from parlour_sdk.values import dataclass

if TYPE_CHECKING:
    from .filters import FilterHit

Checkpoint = Literal["wake", "admit", "finish"]
Verdict = Literal["dropped", "limited", "refused", "masked", "flagged", "withheld"]
WAKE_RULES = {
    "policy_ignored_bot": "wake.ignore.bots",
    "policy_ignored_prefix": "wake.ignore.prefixes",
    "policy_ignored_regex": "wake.ignore.regexes",
    "policy_denied": "wake.access",
    "policy_not_allowed": "wake.access",
    "policy_not_called": "wake.groups",
    "policy_not_called_private": "wake.private",
}
"""Fields of a message policy by the codes of the reasons that they lead to."""


@dataclass(frozen=True, slots=True)
class FilteredMessage:
    """A rule ended or changed a message or a reply."""

    checkpoint: Checkpoint
    verdict: Verdict
    rules: tuple[str, ...]
    """Fields of the message policy that decided, such as `filters.input.0`."""
    reason: str
    run_id: RunId = NO_RUN


class FilteredMessages(Protocol):
    """Tells plugins about filtered messages."""

    def add(self, draft: UnitBuilder, event: RecordedEvent, filtered: FilteredMessage) -> None:
        """Adds the event about a message to the unit that ends or changes it."""
        ...

    def after_commit(self) -> None:
        """Starts the deliveries of committed events."""
        ...


def filtered_at_wake(silence: Reason) -> FilteredMessage:
    """Returns what is told of a message that the policy leaves unanswered."""
    return FilteredMessage("wake", "dropped", (WAKE_RULES[silence.code],), str(silence))


def filtered_input(hits: "Sequence[FilterHit]") -> FilteredMessage:
    """Returns what is told of a message in which input filters found something, without what they found."""
    actions = {hit.filter.on for hit in hits}
    verdict: Verdict = "refused" if "block" in actions else "masked" if "mask" in actions else "flagged"
    return FilteredMessage("admit", verdict, _rules(hits, "input"), _reason(hits, "input"))


def filtered_output(hits: "Sequence[FilterHit]", is_withheld: bool, run_id: RunId) -> FilteredMessage:
    """Returns what is told of a reply that output filters changed, without what they found."""
    verdict: Verdict = "withheld" if is_withheld else "masked"
    return FilteredMessage("finish", verdict, _rules(hits, "output"), _reason(hits, "output"), run_id)


def _rules(hits: "Sequence[FilterHit]", side: str) -> tuple[str, ...]:
    return tuple(f"filters.{side}.{hit.position - 1}" for hit in hits)


def _reason(hits: "Sequence[FilterHit]", side: str) -> str:
    found = ", ".join(f"{hit.position} ({hit.filter.use})" for hit in hits)
    return f"message policy: {side} filter {found} found something"
