"""Dry runs of 60 sample messages by 12 policies, compared with a golden file.

`PARLOUR_GOLDEN=write` writes the file anew; read the difference before you commit it.
"""

import json
import os
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from parlour.core.message_policy.dry_run import try_message, try_reply
from parlour.core.message_policy.filters import EMPTY_LIST, CompiledList, TextFilters
from parlour.core.message_policy.schema import MessagePolicy
from parlour.core.message_policy.words import WordMatcher
from parlour.core.model.event import EventEnvelope, Participant

from ..support import message

GOLDEN = Path(__file__).with_name("golden_dry_runs.json")
LISTS = {"rude": CompiledList(("rude", "坏话"), ("b[ae]d",), WordMatcher(("rude", "坏话")))}
POLICIES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "group rules": {"wake": {"groups": {}}},
    "prefix": {"wake": {"groups": {"mention": False, "prefixes": ["ai", "/ask"]}}},
    "keyword or expression": {"wake": {"groups": {"keywords": ["HELP"], "regexes": [r"\d{3}"]}}},
    "dice": {"wake": {"groups": {"probability": 0.5}}},
    "private prefix": {"wake": {"private": {"always": False, "prefixes": ["ai"]}}},
    "ignored": {"wake": {"ignore": {"prefixes": ["#"], "regexes": ["^rude"]}}},
    "denied": {"wake": {"access": {"entries": ["group:1", "user:ben"]}}},
    "allowed": {"wake": {"access": {"mode": "allow", "entries": ["role:admin", "person:*"]}}},
    "blocking": {"filters": {"input": [{"use": "words", "config": {"list_id": "rude"}}]}},
    "masking": {
        "filters": {
            "input": [{"use": "words", "config": {"list_id": "rude"}, "on": "mask"}],
            "output": [{"use": "words", "config": {"list_id": "rude"}, "on": "mask"}],
        },
        "reply": {"mention_sender": True, "delay": [1, 2]},
    },
    "everything": {
        "wake": {"groups": {"prefixes": ["ai"]}, "ignore": {"prefixes": ["#"]}},
        "gather": {"seconds": 2},
        "limits": [{"count": 5, "window": "day"}, {"per": "chat", "count": 9}],
        "filters": {"input": [{"use": "regex", "config": {"patterns": ["b[ae]d"]}, "on": "flag"}]},
        "long_text": {"over": 5, "as": "file"},
    },
}
TEXTS = ("hello", "ai hello", "AI hello", "# note", "rude words", "help with 123", "a bed", "坏话", "", "/ask ai")
SENDERS = {"ann": {}, "ben": {"role": "admin"}, "bot": {"is_bot": True}}


def sample_messages() -> dict[str, EventEnvelope]:
    messages: dict[str, EventEnvelope] = {}
    for number, (text, (sender, data), chat) in enumerate(product(TEXTS, SENDERS.items(), ("group", "private"))):
        mentioned = number % 3 == 0
        chat_id = str(number // 2 % 2) if chat == "group" else sender
        event = message(
            text,
            surface="platform",
            event_id=f"e{number}",
            data={"chat_type": chat, "chat_id": chat_id, "mentions_bot": mentioned},
        )
        name = f"{number} {sender} in {chat} {chat_id}{' with a mention' if mentioned else ''}: {text}"
        messages[name] = replace(event, actor=Participant("user", sender, sender.title(), data))
    return messages


def decide(policy: MessagePolicy, event: EventEnvelope) -> list[str]:
    filters = TextFilters(lambda list_id: LISTS.get(list_id, EMPTY_LIST))
    steps, read = try_message(policy, event, "agent", filters)
    lines = [f"{step.checkpoint} {step.verdict}: {step.reason}" for step in steps]
    if any(step.verdict == "stop" for step in steps):
        return lines
    lines += [f"{step.checkpoint} {step.verdict}: {step.reason}" for step in try_reply(policy, read.text, filters)]
    return [*lines, f"reads: {read.text}"]


def test_dry_runs_tell_what_they_always_told() -> None:
    messages = sample_messages()
    assert (len(messages), len(POLICIES)) == (60, 12)
    decided = {
        policy_name: {name: decide(MessagePolicy.model_validate(policy), event) for name, event in messages.items()}
        for policy_name, policy in POLICIES.items()
    }
    if os.environ.get("PARLOUR_GOLDEN") == "write":
        GOLDEN.write_text(json.dumps(decided, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    assert decided == json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert decided["nothing"] == {
        name: ["wake pass: the message is answered", f"reads: {event.text}"] for name, event in messages.items()
    }
