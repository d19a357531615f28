"""Tests the explanation why an event was answered as it was, twice or not at all: over HTTP and on the command line."""

from pathlib import Path

import pytest

from tests.support.commands import parlour_here
from tests.support.harness import ECHO, PUPPET, Host, Json, error_code
from tests.support.plugins import write_plugin


def why(host: Host, name: str, key: str | None = None) -> Json:
    answer = host.http(key).get(f"/events/{name}/why")
    assert answer.status_code == 200, answer.text
    return answer.json()


def steps(trail: Json) -> list[str]:
    return [step["step"] for step in trail["steps"]]


def trail_text(trail: Json) -> str:
    return " ".join(step["text"] for step in trail["steps"])


@pytest.mark.parametrize("name", ["event", "run"])
def test_the_trail_of_an_answered_event_has_route_run_grants_and_delivery(host: Host, name: str) -> None:
    agent = host.agent(ECHO)
    result = host.ask(agent, "hello")

    trail = why(host, result["event_id"] if name == "event" else result["run"]["run_id"])

    assert steps(trail)[:3] == ["received", "run", "grants"]
    assert {"delivery", "run.ended", "settled"} <= set(steps(trail))
    assert "the caller named the agent" in trail_text(trail)
    assert "It was answered" in trail_text(trail)
    assert [step["at"] for step in trail["steps"]] == sorted(step["at"] for step in trail["steps"])


def test_the_trail_of_a_redelivery_says_that_it_had_no_effect(host: Host) -> None:
    agent = host.agent(ECHO)
    host.ask(agent, "hello", event_id="twice")
    host.ask(agent, "hello", event_id="twice")

    assert "delivered it again" in trail_text(why(host, "twice"))


def test_the_trail_of_a_failed_run_quotes_its_runner(host: Host) -> None:
    result = host.ask(host.agent(PUPPET), "fail")

    trail = trail_text(why(host, result["event_id"]))

    assert "was not answered" in trail
    assert "A notice was sent" in trail


def test_the_trail_of_an_event_without_an_enabled_agent_says_why(host: Host) -> None:
    agent = host.agent(ECHO, enabled=False)
    result = host.ask(agent, "hello")

    assert "is disabled" in trail_text(why(host, result["event_id"]))
    assert "A notice was sent" in trail_text(why(host, result["event_id"]))


def test_the_trail_of_an_agent_whose_plugin_is_off_says_where_to_look(host: Host, tmp_path: Path) -> None:
    host.install(write_plugin(tmp_path / "plugin", "resting"))
    agent = host.agent("plugin:test/resting/default")
    assert host.http().put("/plugins/test/resting", json={"enabled": False}).status_code == 200

    trail = trail_text(why(host, host.ask(agent, "hello")["event_id"]))

    assert "its plugin is not installed, is disabled or did not start; GET /plugins tells how it is doing" in trail


def test_the_command_line_prints_the_trail_while_the_host_runs(host: Host) -> None:
    result = host.ask(host.agent(ECHO), "hello")

    finished = parlour_here("why", result["event_id"], "--data", host.data)

    assert finished.returncode == 0, finished.stderr
    assert f"event {result['event_id']}" in finished.stdout
    assert "It was answered" in finished.stdout


def test_control_characters_of_an_event_id_are_escaped_in_the_printed_trail(host: Host) -> None:
    said = host.send(host.agent(ECHO), "hello", event_id="mine\n  2026-01-01 00:00:00  It was answered\x1b[2J 好")

    printed = parlour_here("why", said["event_id"], "--data", host.data).stdout

    assert r"event mine\n  2026-01-01 00:00:00  It was answered\x1b[2J 好" in printed.splitlines()


def test_a_missing_event_and_an_event_of_another_key_are_both_not_found(host: Host) -> None:
    result = host.ask(host.agent(ECHO), "hello")
    stranger = host.key("chat")

    for name in (result["event_id"], "nothing"):
        answer = host.http(stranger).get(f"/events/{name}/why")
        assert (answer.status_code, error_code(answer)) == (404, "not_found")
    finished = parlour_here("why", "nothing", "--data", host.data)
    assert finished.returncode == 1
    assert "no event, run or message has the id 'nothing'" in finished.stderr
