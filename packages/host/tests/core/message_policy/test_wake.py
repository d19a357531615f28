"""Wake rules: which messages are answered, decided from the event and the policy alone."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.core.message_policy.schema import MessagePolicy
from parlour.core.message_policy.wake import find_silence, waking_prefix
from parlour.core.model.event import Participant
from parlour.core.model.regex_budget import RegexMatcher

from ..support import message

GROUP = {"chat_type": "group", "chat_id": "42"}
PRIVATE = {"chat_type": "private", "chat_id": "7"}


def silence(rules: dict[str, Any], text: str = "hello", **fields: Any) -> str:
    event = message(text, surface="platform", **{"data": GROUP, **fields})
    reason = find_silence(MessagePolicy.model_validate({"wake": rules}), event, "agent", RegexMatcher())
    return reason.code if reason is not None else ""


CASES: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({}, {}, ""),
    ({"groups": {}}, {}, "policy_not_called"),
    ({"groups": {}}, {"data": {**GROUP, "mentions_bot": True}}, ""),
    ({"groups": {"mention": False}}, {"data": {**GROUP, "mentions_bot": True}}, "policy_not_called"),
    (
        {"groups": {"mention": False}},
        {"data": {**GROUP, "mentions_bot": True, "message_chain": [{"type": "Quote"}]}},
        "",
    ),
    ({"groups": {"prefixes": ["ai"]}}, {"text": " ai hello"}, ""),
    ({"groups": {"keywords": ["HELL"]}}, {}, ""),
    ({"groups": {"regexes": ["^h.*o$"]}}, {}, ""),
    ({"groups": {"probability": 1}}, {}, ""),
    ({"groups": {}}, {"data": PRIVATE}, ""),
    ({"private": {"always": False}}, {"data": PRIVATE}, "policy_not_called_private"),
    ({"private": {"always": False, "prefixes": ["hel"]}}, {"data": PRIVATE}, ""),
    ({"ignore": {"prefixes": ["hel"]}}, {"data": PRIVATE}, "policy_ignored_prefix"),
    ({"ignore": {"regexes": ["ell"]}}, {"data": PRIVATE}, "policy_ignored_regex"),
    ({}, {"actor": Participant("user", "7", "", {"is_bot": True})}, "policy_ignored_bot"),
    ({"ignore": {"bots": False}}, {"actor": Participant("user", "7", "", {"is_bot": True})}, ""),
    ({"access": {"entries": ["group:42"]}}, {}, "policy_denied"),
    ({"access": {"entries": ["person:*"]}}, {}, ""),
    ({"access": {"entries": ["person:*"]}}, {"data": PRIVATE}, "policy_denied"),
    ({"access": {"entries": ["user:ann"]}}, {}, "policy_denied"),
    ({"access": {"mode": "allow"}}, {}, "policy_not_allowed"),
    (
        {"access": {"mode": "allow", "entries": ["role:admin"]}},
        {"actor": Participant("user", "7", "", {"role": "admin"})},
        "",
    ),
    ({"access": {"mode": "allow"}}, {"surface": "webui"}, ""),
]


@pytest.mark.parametrize(("rules", "fields", "code"), CASES)
def test_rule_decides(rules: dict[str, Any], fields: dict[str, Any], code: str) -> None:
    fields = dict(fields)
    text = fields.pop("text", "hello")
    surface = fields.pop("surface", "platform")
    actor = fields.pop("actor", Participant("user", "ann"))
    event = replace(message(text, surface=surface, **{"data": GROUP, **fields}), actor=actor)
    reason = find_silence(MessagePolicy.model_validate({"wake": rules}), event, "agent", RegexMatcher())
    assert (reason.code if reason is not None else "") == code


@given(st.text(max_size=20), st.text(max_size=20), st.floats(0, 1))
def test_same_event_is_decided_the_same_way(text: str, event_id: str, probability: float) -> None:
    rules = {"groups": {"probability": probability, "prefixes": ["a"], "regexes": ["b+"]}}
    assert silence(rules, text, event_id=event_id or "e") == silence(rules, text, event_id=event_id or "e")


def test_probability_draws_differently_per_event_and_is_about_right() -> None:
    answered = [not silence({"groups": {"probability": 0.3}}, event_id=f"e{number}") for number in range(1000)]
    assert 230 < sum(answered) < 370


def test_waking_prefix_is_found_only_in_groups_that_strip_it() -> None:
    def prefix(rules: dict[str, Any], data: dict[str, str]) -> str:
        policy = MessagePolicy.model_validate({"wake": {"groups": rules}})
        return waking_prefix(policy, message("ai ask", surface="platform", data=data))

    assert prefix({"prefixes": ["a", "ai"]}, GROUP) == "ai"
    assert prefix({"prefixes": ["ai"], "strip": False}, GROUP) == ""
    assert prefix({"prefixes": ["ai"]}, PRIVATE) == ""
