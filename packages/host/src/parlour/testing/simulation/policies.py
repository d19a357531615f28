"""The message policies of simulated agents, and the promise about their limits."""

from collections.abc import Callable
from typing import Any

from parlour.core.journal import Row, Select, where
from parlour.core.store.tables import LIMITS, OUTCOMES

from .hooks import HOOK
from .promises import Facts, UserMessage, require

ALLOWED_MESSAGES = 1000
"""Messages that the limits allow, more than a schedule has: the other promises expect that each is answered."""
QUOTA = {"per": "agent", "count": ALLOWED_MESSAGES, "seconds": 2_678_400}
MESSAGE_POLICIES: tuple[dict[str, Any], ...] = (
    {},
    {"limits": [QUOTA, {"per": "sender", "count": 2, "seconds": 1, "kind": "bucket", "over": "wait"}]},
    {
        "gather": {"seconds": 0.5, "longest": 2},
        "limits": [QUOTA],
        "filters": {
            "input": [
                {"use": "words", "config": {"words": ["ask"]}, "on": "flag"},
                {"use": "plugin", "config": {"plugin_id": HOOK}, "on": "flag"},
            ]
        },
    },
)
"""Message policies of the agent. None of them refuses a message."""


def check_limits(read: Callable[[Select], list[Row]], messages: list[UserMessage], policy: dict[str, Any]) -> None:
    """Checks that each answered message was counted, and none of them twice."""
    if not policy:
        return
    rows = read(Select(LIMITS, where(subject="agent")))
    used = sum(row["used"] for row in rows)
    facts = Facts(read)
    outcomes = {row["event_seq"]: row["outcome"] for row in read(Select(OUTCOMES))}
    answered = [each for each in messages if outcomes.get(_seq(facts, each)) == "answered"]
    require(used >= len(answered), f"{used} messages are counted, and {len(answered)} were answered")
    require(used <= len(messages), f"{used} messages are counted, and {len(messages)} were written")


def _seq(facts: Facts, message: UserMessage) -> int:
    event = facts.events.get(message.event_id)
    return int(event["seq"]) if event is not None else 0
