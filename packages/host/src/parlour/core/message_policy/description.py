"""Describes a message policy in sentences, each with a code and values for its translation."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from parlour_sdk.values import dataclass

from .checks import on_error

if TYPE_CHECKING:
    from .filters import AnyFilter
    from .schema import GroupWake, MessageLimit, MessagePolicy, WakeRules

ENGLISH = {
    "groups": "In groups it answers messages that match one of: {rules}.",
    "groups_never": "In groups it answers nothing: no rule is on.",
    "private_rules": "Private messages are answered only if they match one of: {rules}.",
    "private_never": "Private messages are not answered: no rule is on.",
    "ignored": "Messages that match one of {count} prefixes and expressions are ignored.",
    "access_deny": "The {count} entries of the access list are not answered.",
    "access_allow": "Only the {count} entries of the access list are answered.",
    "gather": "Messages of one {per} are collected until {seconds} s of silence, at most {messages} in {longest} s.",
    "limit_day": "At most {count} messages per {per} and calendar day are answered; further ones: {over}.",
    "limit": "At most {count} messages per {per} are answered in {seconds} s; further ones: {over}.",
    "filter_input": "Input filter {position} ({use}): {on}.",
    "filter_output": "Output filter {position} ({use}): {on}.",
    "filter_asks": "The {side} filter {position} asks {asked}, at most {seconds} s; without a verdict: {on_error}.",
    "no_streaming": "Replies are not shown while they are written, since a filter or a delay needs them whole.",
    "quote_ignored": "The agent does not read quoted messages.",
    "sender_names": "In groups the agent reads the name of the sender.",
    "mention": "In groups the first message of a reply mentions the sender.",
    "delay": "A reply waits from {low} to {high} s.",
    "tool_calls": "Tool calls are told in the chat: {shape}.",
    "long_text": "Replies of more than {over} characters are sent as {shape}.",
    "failure_hint": "If the agent fails, the sender reads the text of the policy.",
    "failure_error": "If the agent fails, the sender reads the code of the failure.",
    "failure_nothing": "If the agent fails, the sender reads nothing.",
    "nothing": "It changes nothing.",
}


@dataclass(frozen=True, slots=True)
class PolicySentence:
    """A sentence about a part of a policy."""

    code: str
    values: dict[str, Any]

    @property
    def text(self) -> str:
        return ENGLISH[self.code].format_map(self.values)


def describe_policy(policy: "MessagePolicy", may_stream: bool) -> list[PolicySentence]:
    """Returns the sentences of a policy in the order of the path of a message."""
    sentences = [PolicySentence(code, values) for code, values in _parts(policy, may_stream)]
    return sentences or [PolicySentence("nothing", {})]


def _parts(policy: "MessagePolicy", may_stream: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    if policy.wake is not None:
        yield from _wake(policy.wake)
    gather, reply, failure = policy.gather, policy.reply, policy.failure
    if gather.seconds:
        yield (
            "gather",
            {"per": gather.per, **{n: f"{getattr(gather, n):g}" for n in ("seconds", "messages", "longest")}},
        )
    for limit in policy.limits:
        yield _limit(limit)
    for position, filter_in in enumerate(policy.filters.input, 1):
        yield "filter_input", {"position": position, "use": filter_in.use, "on": filter_in.on}
        yield from _asks(filter_in, position, "input")
    if policy.context.quote == "ignore":
        yield "quote_ignored", {}
    if policy.context.sender_names:
        yield "sender_names", {}
    for position, filter_out in enumerate(policy.filters.output, 1):
        yield "filter_output", {"position": position, "use": filter_out.use, "on": filter_out.on}
        yield from _asks(filter_out, position, "output")
    if not may_stream:
        yield "no_streaming", {}
    if reply.mention_sender:
        yield "mention", {}
    if reply.delay[1]:
        yield "delay", {"low": f"{reply.delay[0]:g}", "high": f"{reply.delay[1]:g}"}
    if reply.tool_calls != "hidden":
        yield "tool_calls", {"shape": reply.tool_calls}
    if policy.long_text.over and policy.long_text.shape != "split":
        yield "long_text", {"over": policy.long_text.over, "shape": policy.long_text.shape}
    if failure.show != "hint" or failure.hint:
        yield f"failure_{failure.show}", {}


def _asks(each: "AnyFilter", position: int, side: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if each.use == "moderation" or each.use == "plugin":
        asked = each.config.model_id if each.use == "moderation" else each.config.plugin_id
        values = {"position": position, "side": side, "asked": asked, "seconds": f"{each.config.seconds:g}"}
        yield "filter_asks", {**values, "on_error": on_error(each, side)}


def _wake(rules: "WakeRules") -> Iterator[tuple[str, dict[str, Any]]]:
    if rules.access.entries or rules.access.mode == "allow":
        yield f"access_{rules.access.mode}", {"count": len(rules.access.entries)}
    if ignored := len(rules.ignore.prefixes) + len(rules.ignore.regexes):
        yield "ignored", {"count": ignored}
    if rules.groups is not None:
        names = ", ".join(_group_rules(rules.groups))
        yield ("groups", {"rules": names}) if names else ("groups_never", {})
    if not rules.private.always:
        names = ", ".join(name for name in ("prefixes", "regexes") if getattr(rules.private, name))
        yield ("private_rules", {"rules": names}) if names else ("private_never", {})


def _group_rules(rules: "GroupWake") -> Iterator[str]:
    yield from (
        name
        for name in ("mention", "reply_to_bot", "prefixes", "keywords", "regexes", "probability")
        if getattr(rules, name)
    )


def _limit(limit: "MessageLimit") -> tuple[str, dict[str, Any]]:
    values = {"count": limit.count, "per": limit.per, "over": limit.over}
    return ("limit_day", values) if limit.window == "day" else ("limit", {**values, "seconds": limit.seconds})
