"""The rule of an action is that of the most specific pattern; actions elsewhere need their own."""

import pytest

from parlour.core.model.approval_policy import ApprovalPolicy, is_granted

POLICY = ApprovalPolicy.decode(
    {
        "*": "ask",
        "message.*": "allow",
        "message.delete": "deny",
        "elsewhere/message.send": {"decision": "ask", "who": {"users": ["boss"], "roles": []}, "seconds": 60},
    }
)


@pytest.mark.parametrize(
    ("name", "decision"),
    [
        ("message.reply", "allow"),
        ("message.delete", "deny"),
        ("member.kick", "ask"),
        ("elsewhere/message.send", "ask"),
        ("elsewhere/message.delete", "deny"),
    ],
)
def test_most_specific_pattern_decides(name: str, decision: str) -> None:
    assert POLICY.rule(name).decision == decision


def test_action_without_a_pattern_is_denied() -> None:
    assert ApprovalPolicy.decode({}).rule("message.send").decision == "deny"


def test_rule_has_deciders_and_time_limit() -> None:
    rule = POLICY.rule("elsewhere/message.send")
    assert (rule.users, rule.roles, rule.requester, rule.seconds) == (("boss",), (), False, 60)
    assert POLICY.rule("member.kick").roles == ("owner", "admin")


def test_wildcard_permission_excludes_other_chats() -> None:
    assert is_granted("message.send", ["*"])
    assert not is_granted("elsewhere/message.send", ["*"])
    assert not is_granted("elsewhere/message.send", ["message.*"])
    assert is_granted("elsewhere/message.send", ["elsewhere/message.*"])
