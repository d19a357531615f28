"""Decides whether a message is answered: access lists, ignored messages, and the rules that wake the agent.

The decision depends on the event and the policy only, so that a redelivery is decided in the same way.
"""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from parlour.core.model.doors import LIVE_SURFACES
from parlour.core.model.event import EventEnvelope
from parlour.core.model.ids import AgentId
from parlour.core.model.reasons import Reason, make_reason
from parlour.core.model.regex_budget import RegexMatcher

if TYPE_CHECKING:
    from .schema import AccessRules, GroupWake, MessagePolicy, PrivateWake

MESSAGE_TYPE = "message.received"


def find_silence(
    policy: "MessagePolicy", event: EventEnvelope, agent_id: AgentId, regexes: RegexMatcher
) -> Reason | None:
    """Returns the reason why the policy leaves a message unanswered; None if it is answered.

    The web chat and doors are exempt: who talks to the agent there has addressed it.
    """
    rules = policy.wake
    if rules is None or event.event_type != MESSAGE_TYPE or event.surface in LIVE_SURFACES:
        return None
    if reason := _access(rules.access, event):
        return reason
    if rules.ignore.bots and event.actor.data.get("is_bot"):
        return make_reason("policy_ignored_bot")
    if _has_prefix(rules.ignore.prefixes, event):
        return make_reason("policy_ignored_prefix")
    if _matches(rules.ignore.regexes, event, regexes):
        return make_reason("policy_ignored_regex")
    match event.data.get("chat_type"):
        case "group" if rules.groups is not None:
            return None if _wakes_group(rules.groups, event, agent_id, regexes) else make_reason("policy_not_called")
        case "private":
            return None if _wakes_private(rules.private, event, regexes) else make_reason("policy_not_called_private")
    return None


def waking_prefix(policy: "MessagePolicy", event: EventEnvelope) -> str:
    """Returns the prefix of a group's message that the agent does not see; empty if there is none."""
    groups = policy.wake.groups if policy.wake is not None else None
    if groups is None or not groups.strip or event.data.get("chat_type") != "group":
        return ""
    text = event.text.lstrip()
    return max((each for each in groups.prefixes if text.startswith(each.lstrip())), key=len, default="").lstrip()


def _access(rules: "AccessRules", event: EventEnvelope) -> Reason | None:
    entry = next((each for each in rules.entries if _is_meant(each, event)), None)
    if rules.mode == "deny":
        return make_reason("policy_denied", entry=entry) if entry is not None else None
    return make_reason("policy_not_allowed") if entry is None else None


def _is_meant(entry: str, event: EventEnvelope) -> bool:
    kind, _, name = entry.partition(":")
    chat_type, chat_id = event.data.get("chat_type"), str(event.data.get("chat_id", ""))
    match kind:
        case "group":
            found = chat_id if chat_type == "group" else ""
        case "person":
            found = (event.actor.id or chat_id) if chat_type == "private" else ""
        case "user":
            found = event.actor.id
        case _:
            found = str(event.actor.data.get("role") or "")
    return bool(found) and name in ("*", found)


def _wakes_group(rules: "GroupWake", event: EventEnvelope, agent_id: AgentId, regexes: RegexMatcher) -> bool:
    addressed = rules.reply_to_bot if _is_reply(event) else rules.mention
    if event.data.get("mentions_bot") and addressed:
        return True
    text = event.text.casefold()
    return (
        _has_prefix(rules.prefixes, event)
        or any(each.casefold() in text for each in rules.keywords)
        or _draw(event, agent_id) < rules.probability
        or _matches(rules.regexes, event, regexes)
    )


def _wakes_private(rules: "PrivateWake", event: EventEnvelope, regexes: RegexMatcher) -> bool:
    return rules.always or _has_prefix(rules.prefixes, event) or _matches(rules.regexes, event, regexes)


def _is_reply(event: EventEnvelope) -> bool:
    """Returns whether a message addresses the bot by quoting it, without a mention."""
    types = {component.get("type") for component in event.data.get("message_chain") or ()}
    return "Quote" in types and "At" not in types


def _has_prefix(prefixes: Sequence[str], event: EventEnvelope) -> bool:
    return bool(prefixes) and event.text.lstrip().startswith(tuple(each.lstrip() for each in prefixes))


def _matches(patterns: Sequence[str], event: EventEnvelope, regexes: RegexMatcher) -> bool:
    return any(regexes.mismatch(pattern, event) is None for pattern in patterns)


def _draw(event: EventEnvelope, agent_id: AgentId) -> float:
    """Returns a number between 0 and 1 that is always the same for an event and an agent."""
    digest = hashlib.sha256(f"{event.bot_id}\n{event.event_id}\n{agent_id}".encode(errors="replace")).digest()
    return int.from_bytes(digest[:8]) / 2**64
