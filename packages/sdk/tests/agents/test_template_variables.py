"""Tests variables of a prompt: they are filled in once, and never from a user's name."""

from datetime import UTC, datetime, tzinfo
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlour_sdk.agents.template_variables import TemplateVariables, zone
from parlour_sdk.protocol.context import AgentRunContext


def context(name: str = "Ann", **fields: Any) -> AgentRunContext:
    return AgentRunContext.model_validate(
        {
            "run_id": "run",
            "trigger": {"type": "message.received", "source": "api"},
            "event": {"event_id": "e", "event_type": "message.received", "source": "api", "data": fields},
            "actor": {"actor_type": "user", "actor_id": "7", "actor_name": name},
            "conversation": {"bot_id": "bot", "session_id": "chat"},
            "input": {"text": "hi"},
            "delivery": {"surface": "api"},
            "resources": {},
            "context": {"conversation_id": "c"},
            "state": {},
            "runtime": {"trace_id": "run", "attempt": 1, "timezone": "Asia/Shanghai", "locale": "zh_Hans"},
        }
    )


def at_noon(zone: tzinfo) -> datetime:
    return datetime(2026, 1, 1, 4, 0, tzinfo=UTC).astimezone(zone)


def filled(template: str, ctx: AgentRunContext | None = None) -> str:
    return TemplateVariables(ctx or context(), at_noon).fill(template)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{actor}}/{{actor_id}}", "Ann/7"),
        ("{{ actor }}", "Ann"),
        ("{{group}}{{group_id}}", ""),
        ("{{chat_type}} {{bot_id}} {{surface}} {{locale}}", "private bot api zh_Hans"),
        ("{{date}} {{weekday}}", "2026-01-01 Thursday"),
        ("{{time}}", "2026-01-01 12:00 CST"),
        ("{{event_type}}: {{input}}", "message.received: hi"),
        ("{{nobody}} {actor} {{actor.name}} {{", "{{nobody}} {actor} {{actor.name}} {{"),
        ('{"json": {"a": 1}}', '{"json": {"a": 1}}'),
    ],
)
def test_a_variable_is_replaced_by_its_value(template: str, expected: str) -> None:
    assert filled(template) == expected


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{group}} {{group_id}} {{chat_type}}", "Cats g1 group"),
        ("{{event.member.user.nickname}}", "Bob"),
        ("{{event.roles.1}}", "owner"),
        ("{{event.member.user.age}}|{{event.nothing.at.all}}", "30|"),
        ("{{event.member.user}}", '{"nickname": "Bob", "age": 30}'),
    ],
)
def test_an_events_fields_are_found_by_their_path(template: str, expected: str) -> None:
    member = {"user": {"nickname": "Bob", "age": 30}}
    assert (
        filled(template, context(group={"id": "g1", "name": "Cats"}, member=member, roles=["a", "owner"])) == expected
    )


@settings(deadline=None)
@given(st.text())
def test_a_users_name_is_cut_to_one_short_line_and_not_read_as_a_template(name: str) -> None:
    given = filled("{{actor}}", context(f"{{{{time}}}}{name}"))
    assert given.startswith("{{time}}")
    assert len(given) <= 100
    assert len(given.splitlines()) == 1


def test_an_unknown_time_zone_is_utc() -> None:
    assert zone("Nowhere/Land") is zone("../etc/passwd") is zone(None) is UTC
