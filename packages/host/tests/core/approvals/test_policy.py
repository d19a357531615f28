"""Which rule holds for an action: the nearest pattern, and never one that does not say `elsewhere` for what is."""

import pytest

from parlour.core.approvals.policy import ApprovalPolicy, is_granted

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
def test_the_nearest_pattern_decides(name: str, decision: str) -> None:
    assert POLICY.rule(name).decision == decision


def test_what_no_pattern_names_is_denied() -> None:
    assert ApprovalPolicy.decode({}).rule("message.send").decision == "deny"


def test_a_rule_says_who_and_how_long() -> None:
    rule = POLICY.rule("elsewhere/message.send")
    assert (rule.users, rule.roles, rule.requester, rule.seconds) == (("boss",), (), False, 60)
    assert POLICY.rule("member.kick").roles == ("owner", "admin")


def test_a_permission_for_everything_is_none_for_other_chats() -> None:
    assert is_granted("message.send", ["*"])
    assert not is_granted("elsewhere/message.send", ["*"])
    assert not is_granted("elsewhere/message.send", ["message.*"])
    assert is_granted("elsewhere/message.send", ["elsewhere/message.*"])
