"""Tests events that are refused at once, and events that no agent can answer."""

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.harness import Host, error_code, eventually, message, named_fields, texts
from tests.support.plugins import write_plugin

BODY_LIMIT = 10 * 1024 * 1024


def test_an_unknown_agent_and_an_unknown_bot_are_not_found(host: Host) -> None:
    for target in ({"agent_id": "nobody"}, {"bot_id": "nobody"}):
        answer = host.http().post("/events", json={**target, "input": {"text": "hello"}})

        assert (answer.status_code, error_code(answer)) == (404, "not_found")


@pytest.mark.parametrize("target", [{}, {"agent_id": "a", "bot_id": "b"}])
def test_an_event_names_exactly_one_agent_or_bot(host: Host, target: dict[str, str]) -> None:
    answer = host.http().post("/events", json={**target, "input": {"text": "hello"}})

    assert (answer.status_code, error_code(answer)) == (422, "invalid_argument")
    assert named_fields(answer) == ["agent_id"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"event_type": 7}, "event_type"),
        ({"event_type": "Not A Type"}, "event_type"),
        ({"event_id": ""}, "event_id"),
        ({"event_id": "x" * 256}, "event_id"),
        ({"conversation_id": ["a"]}, "conversation_id"),
        ({"actor": {"actor_name": "no id"}}, "actor.actor_id"),
        ({"actor": {"actor_id": "u", "age": 9}}, "actor.age"),
        ({"data": "text"}, "data"),
        ({"input": "text"}, "input"),
        ({"input": {"text": {"no": "text"}}}, "input.text"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_field_is_named_and_its_value_is_not_repeated(host: Host, changes: dict[str, Any], field: str) -> None:
    answer = host.http().post("/events", json={**message("any", "hello"), **changes})

    assert answer.status_code == 422
    assert field in named_fields(answer)


@pytest.mark.parametrize("body", [b"", b"{", b"not json", b"[1]", b'"text"', b"\xff\xfe", b"[" * 20_000])
def test_a_body_that_is_not_a_json_object_is_refused(host: Host, body: bytes) -> None:
    answer = host.http().post("/events", content=body, headers={"Content-Type": "application/json"})

    assert answer.status_code in (400, 422)
    assert error_code(answer) == "invalid_argument"


def test_text_with_a_zero_character_is_stored_completely(host: Host) -> None:
    assert texts(host.ask(host.agent(), "before\0after")) == ["before\0after"]


@pytest.mark.parametrize("query", ["wait=forever", "wait=result&timeout=0", "wait=result&timeout=601", "timeout=soon"])
def test_invalid_wait_parameters_are_refused_before_the_event_is_accepted(host: Host, query: str) -> None:
    agent = host.agent()

    answer = host.http().post(f"/events?{query}", json=message(agent, "hello"))

    assert (answer.status_code, error_code(answer)) == (422, "invalid_argument")
    assert host.items("/runs", agent_id=agent) == []


def test_a_body_that_declares_too_much_is_refused_unread(host: Host) -> None:
    answer = host.http().post("/events", content=b"x" * (BODY_LIMIT + 1))

    assert (answer.status_code, error_code(answer)) == (413, "payload_too_large")
    assert str(BODY_LIMIT) in answer.json()["error"]["message"]


def test_a_body_that_grows_too_large_is_refused_while_it_is_received(host: Host) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(BODY_LIMIT // 65536 + 1):
            yield b"x" * 65536

    answer = host.http().post("/events", content=chunks())

    assert (answer.status_code, error_code(answer)) == (413, "payload_too_large")


def test_an_event_type_that_the_agent_does_not_accept_is_a_visible_misconfiguration(host: Host) -> None:
    result = host.ask(host.agent(name="picky"), "hello", event_type="group.member_joined")

    assert (result["outcome"], result["run"]) == ("misconfigured", None)
    assert "picky" in result["reason"]
    assert "group.member_joined" in result["reason"]
    assert ends_with_notice(host, result["conversation_id"])


def test_a_disabled_agent_is_a_visible_misconfiguration(host: Host) -> None:
    result = host.ask(host.agent(enabled=False), "hello")

    assert (result["outcome"], result["run"]) == ("misconfigured", None)
    assert "disabled" in result["reason"]
    assert ends_with_notice(host, result["conversation_id"])


def test_the_sender_is_notified_when_the_agents_plugin_is_gone(host: Host, tmp_path: Path) -> None:
    host.install(write_plugin(tmp_path / "plugin", "doomed"))
    eventually(lambda: host.plugin_status("test/doomed") == "ready", "the plugin is ready")
    agent = host.agent("plugin:test/doomed/default")
    shutil.rmtree(host.data / "plugins" / "test" / "doomed")
    host.process.send_signal(signal.SIGHUP)
    eventually(lambda: host.plugin_status("test/doomed") == "", "the plugin is gone")

    result = host.ask(agent, "hello")

    assert result["outcome"] == "failed"
    assert "plugin:test/doomed/default" in result["reason"]
    assert ends_with_notice(host, result["conversation_id"])


def ends_with_notice(host: Host, conversation_id: str) -> bool:
    """Returns whether the conversation ends with a notice."""
    return host.transcript(conversation_id)[-1][0] == "notice"
