"""Tells what a message policy decides about a sample message, checkpoint by checkpoint. Nothing is counted or sent."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from parlour.core.model.event import EventEnvelope
from parlour.core.model.ids import AgentId
from parlour.core.model.regex_budget import RegexMatcher
from parlour_sdk.values import dataclass

from .checks import on_error
from .filters import FilteredContent, FilterHit, TextFilters
from .inputs import filter_input, prepare_input
from .limits import limit_sentence
from .wake import find_silence
from .words import split_graphemes

if TYPE_CHECKING:
    from .filters import AnyFilter
    from .schema import MessagePolicy

Verdict = Literal["pass", "stop", "change", "wait"]


@dataclass(frozen=True, slots=True)
class PolicyStep:
    """The decision of one rule: `stop` ends the message, `change` alters its text."""

    checkpoint: Literal["wake", "admit", "gather", "finish", "pace"]
    rule: str
    verdict: Verdict
    code: str
    reason: str
    before: str | None = None
    after: str | None = None


def try_message(
    policy: "MessagePolicy", event: EventEnvelope, agent_id: AgentId, filters: TextFilters
) -> tuple[list[PolicyStep], EventEnvelope]:
    """Returns the steps of a message up to its agent, and the message as the agent would read it."""
    steps: list[PolicyStep] = []
    silence = find_silence(policy, event, agent_id, RegexMatcher())
    if silence is not None:
        return [PolicyStep("wake", "wake", "stop", silence.code, str(silence))], event
    steps.append(PolicyStep("wake", "wake", "pass", "wakes", "the message is answered"))
    filtered = filter_input(policy, event, filters)
    steps += _asked(policy.filters.input, "input", filtered)
    if filtered.stopped_by is not None:
        reason = f"message policy: input filter {filtered.stopped_by.rule} blocks it"
        return [*steps, PolicyStep("admit", _rule("input", filtered.stopped_by), "stop", "blocked", reason)], event
    for hit in filtered.hits:
        masks = hit.filter.on == "mask"
        reason = "the filter masks words" if masks else "the filter notes the message"
        code = "masked" if masks else "flagged"
        steps.append(PolicyStep("admit", _rule("input", hit), "change" if masks else "pass", code, reason))
    steps += _limits(policy)
    if policy.gather.seconds:
        reason = f"it waits until {policy.gather.seconds:g} s without another message"
        steps.append(PolicyStep("gather", "gather", "wait", "gathers", reason))
    read = prepare_input(policy, event, filtered)
    if read.text != event.text:
        steps.append(
            PolicyStep("admit", "context", "change", "reads", "the agent reads another text", event.text, read.text)
        )
    return steps, read


def try_reply(policy: "MessagePolicy", text: str, filters: TextFilters) -> list[PolicyStep]:
    """Returns the steps of a reply with this text."""
    filtered = filters.apply(policy.filters.output, text)
    steps = list(_asked(policy.filters.output, "output", filtered))
    shown = filtered.text or ""
    for hit in filtered.hits:
        stops = hit is filtered.stopped_by
        code, reason = ("withheld", "the reply is withheld") if stops else ("masked", "the filter masks words")
        steps.append(PolicyStep("finish", _rule("output", hit), "stop" if stops else "change", code, reason))
    if filtered.hits and filtered.stopped_by is None:
        steps.append(PolicyStep("finish", "filters.output", "change", "shows", "the reply is changed", text, shown))
    length, rules = len(split_graphemes(shown)), policy.long_text
    if rules.over and rules.shape != "split" and length > rules.over:
        reason = f"{length} characters are more than {rules.over}, so it is sent as {rules.shape}"
        steps.append(PolicyStep("finish", "long_text", "change", "long_text", reason))
    if policy.reply.mention_sender:
        steps.append(PolicyStep("finish", "reply.mention_sender", "change", "mentions", "it mentions the sender"))
    if policy.reply.delay[1]:
        low, high = policy.reply.delay
        steps.append(PolicyStep("pace", "reply.delay", "wait", "delays", f"it is sent after {low:g} to {high:g} s"))
    return steps


def _asked(
    filters: "Sequence[AnyFilter]", side: Literal["input", "output"], filtered: FilteredContent
) -> Iterator[PolicyStep]:
    """Yields a step per filter that asks a model or a plugin, which a dry run does not do."""
    reached = filters if filtered.stopped_by is None else filters[: filtered.stopped_by.position]
    for number, each in enumerate(reached):
        if each.use == "moderation":
            asked = each.config.model_id
        elif each.use == "plugin":
            asked = each.config.plugin_id
        else:
            continue
        seconds = f"{each.config.seconds:g}"
        reason = f"the filter asks {asked}, at most {seconds} s; without a verdict the text passes"
        if on_error(each, side) == "block":
            reason = f"the filter asks {asked}, at most {seconds} s; without a verdict the text is blocked"
        checkpoint: Literal["admit", "finish"] = "admit" if side == "input" else "finish"
        yield PolicyStep(checkpoint, f"filters.{side}.{number}", "pass", "asks_filter", reason)


def _limits(policy: "MessagePolicy") -> Iterator[PolicyStep]:
    for number, limit in enumerate(policy.limits):
        reason = f"it counts for a limit; beyond it: {limit_sentence(limit)}"
        yield PolicyStep("admit", f"limits.{number}", "pass", "counts", reason)


def _rule(side: str, hit: FilterHit) -> str:
    return f"filters.{side}.{hit.position - 1}"
