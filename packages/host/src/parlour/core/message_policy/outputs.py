"""Applies a message policy to the replies of one run: filters, style, and what becomes of long texts."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from parlour.core.encoding import dumps
from parlour.core.model.delivery_policy import DeliveryPolicy
from parlour.core.model.event import RecordedEvent
from parlour.core.texts.languages import Languages
from parlour_sdk.values import dataclass

from .checks import FilterChecks, FilterSubject, asks_others, verdict_notes
from .effective import decode_policy
from .filters import NO_VERDICTS, FilterHit, TextFilters, Verdicts, readable_texts
from .held_back import HeldBackText
from .long_texts import LongTextForm, TextPictures

if TYPE_CHECKING:
    from .schema import MessagePolicy

MAX_SHOWN_PARAMETERS = 500
"""Characters of the parameters of a tool call that are shown."""


@dataclass(frozen=True, slots=True)
class FilteredReply:
    """A reply after the filters. `hits` says which filters found something."""

    message: dict[str, Any]
    text: str
    hits: tuple[FilterHit, ...] = ()
    is_withheld: bool = False
    """True if another text takes the place of the whole reply."""


class OutputRules:
    """The rules for the replies of one run."""

    def __init__(
        self,
        policy: "MessagePolicy",
        event: RecordedEvent,
        filters: TextFilters,
        checks: FilterChecks,
        languages: Languages,
        pictures: TextPictures,
    ) -> None:
        self._policy = policy
        self._pictures = pictures
        self._event = event
        self._filters = filters
        self._checks = checks
        self._languages = languages
        outputs = policy.filters.output
        matcher = filters.word_matcher(outputs) if outputs else None
        can_mask = not outputs or matcher is not None
        self._may_stream = can_mask and not policy.reply.delay[1] and not policy.long_text.takes_text_away
        self._asks_others = asks_others(outputs)
        self.held_back = HeldBackText(matcher) if matcher is not None else None
        """Masks streamed text; None if nothing has to be masked."""

    def long_text_form(self, can_send: Callable[[str], bool]) -> LongTextForm | None:
        """Returns the form of long replies; None if they stay text. `can_send` says which types of components the
        platform can show.
        """
        rules = self._policy.long_text
        if not rules.over or rules.shape == "split":
            return None
        needed = {"image": "Image", "forward": "Forward"}.get(rules.shape)
        shape = rules.shape if needed is None or can_send(needed) else "file"
        return LongTextForm(rules.over, shape, self._pictures)

    def delivery_policy(self, policy: DeliveryPolicy) -> DeliveryPolicy:
        """Returns the delivery policy with the style of the message policy."""
        style = self._policy.reply
        quoting = {"first": "quote", "never": "message"}.get(style.quote or "", policy.reply)
        low, high = style.delay
        return replace(
            policy,
            streaming=policy.streaming and self._may_stream,
            reply="quote" if quoting == "quote" else "message",
            thinking=style.thinking or policy.thinking,
            mention_sender=style.mention_sender,
            delay_ms=round(random.uniform(low, high) * 1000) if high else 0,
            forward_over=self._policy.long_text.over if self._policy.long_text.shape == "forward" else 0,
        )

    def may_stream(self) -> bool:
        """Returns whether replies can be shown while they are written."""
        return self._may_stream

    async def check(self, message: dict[str, Any], text: str, subject: FilterSubject) -> Verdicts:
        """Returns the verdicts of models and plugins about a reply; none if no filter asks them."""
        if not self._asks_others:
            return NO_VERDICTS
        content = message.get("content") or ""
        elements = list(content) if isinstance(content, list) else []
        texts = readable_texts(None, elements)
        if isinstance(message.get("reasoning"), str):
            elements.append({"type": "text", "text": message["reasoning"]})
        return await self._checks.ask(self._policy.filters.output, None if text in texts else text, elements, subject)

    def filter(self, message: dict[str, Any], text: str, verdicts: Verdicts = NO_VERDICTS) -> FilteredReply:
        """Applies the output filters to a reply, with the verdicts of `check`."""
        filters = self._policy.filters.output
        if not filters:
            return FilteredReply(message, text)
        content = message.get("content") or ""
        elements: Sequence[Any] = content if isinstance(content, list) else ()
        filtered = self._filters.apply(filters, text, elements, verdicts)
        reasoning = message.get("reasoning")
        if reasoning:
            checked = self._filters.apply(filters, str(reasoning), (), verdicts)
            message = {**message, "reasoning": "" if checked.stopped_by is not None else checked.text}
        if not filtered.hits:
            return FilteredReply(message, text)
        if filtered.stopped_by is not None:
            instead = self._substitute(filtered.stopped_by)
            withheld = {"role": message["role"], "content": instead}
            return FilteredReply(withheld, instead, filtered.hits, is_withheld=True)
        changed = filtered.contents if isinstance(content, list) else filtered.text
        return FilteredReply({**message, "content": changed}, filtered.text or "", filtered.hits)

    def tool_note(self, data: Mapping[str, Any]) -> str:
        """Returns the message that tells of a tool call; empty if none is sent.

        Parameters that a model or a plugin would have to check are left out.
        """
        shape = self._policy.reply.tool_calls
        if shape == "hidden":
            return ""
        tool = str(data.get("tool_name", ""))
        note = self._languages.text(self._event, "policy.tool_call", tool=tool)
        if shape == "full" and data.get("parameters") and not self._asks_others:
            note = f"{note}\n{dumps(data['parameters'])[:MAX_SHOWN_PARAMETERS]}"
        return self.filter({"role": "assistant", "content": note}, note).text

    def verdict_notes(self, verdicts: Verdicts) -> list[dict[str, Any]]:
        """Returns what the trail says about verdicts."""
        return verdict_notes(self._policy.filters.output, verdicts, "output")

    def _substitute(self, hit: FilterHit) -> str:
        text = hit.filter.text if hit.filter.on == "replace" else ""
        return text or self._languages.text(self._event, "policy.withheld")


class OutputPolicies:
    """Finds the rules for the replies of runs."""

    def __init__(
        self, filters: TextFilters, checks: FilterChecks, languages: Languages, pictures: TextPictures
    ) -> None:
        self._filters = filters
        self._checks = checks
        self._languages = languages
        self._pictures = pictures

    def for_run(self, policy: Mapping[str, Any], event: RecordedEvent) -> OutputRules | None:
        """Returns the rules of a run; None if its agent has no message policy."""
        decoded = decode_policy(policy)
        if decoded is None:
            return None
        return OutputRules(decoded, event, self._filters, self._checks, self._languages, self._pictures)


def output_sentence(hits: Sequence[FilterHit], is_withheld: bool) -> str:
    """Returns the sentence of the trail about filters of a reply."""
    rules = ", ".join(hit.rule for hit in hits)
    if is_withheld:
        return f"Output filter {rules} withheld a reply."
    return f"Output filter {rules} masked words of a reply."
