"""Tests the ledger of runs: lists, single runs, and the ways in which a run ends."""

import pytest

from tests.support.harness import ECHO, PUPPET, Host, Json, error_code, texts


def run_events(host: Host, run_id: str) -> list[Json]:
    return host.items(f"/runs/{run_id}/events")


def notice(host: Host, result: Json) -> str:
    """Returns the one notice at the end of the conversation."""
    said = host.transcript(result["conversation_id"])
    assert [speaker for speaker, _ in said] == ["user", "notice"]
    return said[1][1]


def test_runs_are_listed_newest_first_by_agent_status_and_conversation(host: Host) -> None:
    agent = host.agent(PUPPET)
    good = host.ask(agent, "say hello", conversation_id="good")
    bad = host.ask(agent, "fail", conversation_id="bad")

    def listed(**filters: str) -> list[str]:
        return [run["run_id"] for run in host.items("/runs", **filters)]

    assert listed(agent_id=agent) == [bad["run"]["run_id"], good["run"]["run_id"]]
    assert listed(agent_id=agent, status="failed") == [bad["run"]["run_id"]]
    assert listed(conversation_id=good["conversation_id"]) == [good["run"]["run_id"]]
    assert listed(agent_id=agent, status="running") == []
    assert listed(agent_id=agent, bot_id="none") == []


def test_run_events_are_in_order_and_joined_deltas_are_the_message(host: Host) -> None:
    text = " ".join(f"word{number}" for number in range(40))
    result = host.ask(host.agent(ECHO, config={"delay_ms": 15}), text)

    events = run_events(host, result["run"]["run_id"])

    sequences = [event["sequence"] for event in events]
    assert sequences == sorted(set(sequences))
    assert [event["type"] for event in events[-2:]] == ["message.completed", "run.completed"]
    deltas = [event for event in events if event["type"] == "message.delta"]
    assert len(deltas) > 1
    assert "".join(event["data"]["chunk"]["content"] for event in deltas) == text
    assert events[-2]["data"]["message"]["content"] == text
    assert texts(result) == [text]


def test_an_unknown_run_is_not_found(host: Host) -> None:
    for method, path in (("GET", "/runs/none"), ("GET", "/runs/none/events"), ("POST", "/runs/none/cancel")):
        answer = host.http().request(method, path)

        assert (answer.status_code, error_code(answer)) == (404, "not_found")


def test_a_run_over_its_time_limit_ends_as_timeout_and_its_sender_is_notified(host: Host) -> None:
    result = host.ask(host.agent(PUPPET, timeout_seconds=0.3), "sleep")

    run = result["run"]
    assert (run["status"], run["status_reason"]) == ("timeout", "runner.timeout")
    assert run["finished_at"] - run["started_at"] < 30_000, "it would have slept for longer"
    assert "too long" in notice(host, result)
    assert texts(result) == [notice(host, result)]


@pytest.mark.parametrize("deed", ["nothing", "blank"])
def test_a_run_without_output_is_a_failure(host: Host, deed: str) -> None:
    result = host.ask(host.agent(PUPPET), deed)

    run = result["run"]
    assert (result["outcome"], run["status"], run["status_reason"]) == ("failed", "failed", "runner.no_output")
    assert notice(host, result)


def test_an_intended_silence_produces_no_message(host: Host) -> None:
    result = host.ask(host.agent(PUPPET), "silent")

    assert (result["outcome"], result["run"]["status"], result["messages"]) == ("silent", "completed", [])
    assert host.transcript(result["conversation_id"]) == [("user", "silent")]


def test_an_exception_in_the_runner_is_reported_without_its_details(host: Host) -> None:
    result = host.ask(host.agent(PUPPET), "crash")

    run = result["run"]
    assert (run["status"], run["status_reason"]) == ("failed", "runner.error")
    assert "RuntimeError" in run["error"]
    assert "secret" not in notice(host, result)
    assert "secret" not in run["error"]


def test_a_failure_declared_by_the_runner_is_shown_with_its_own_text(host: Host) -> None:
    result = host.ask(host.agent(PUPPET), "fail")

    assert (result["run"]["status"], result["run"]["status_reason"]) == ("failed", "puppet.broken")
    assert notice(host, result) == "The string of the puppet broke."


def test_fragments_without_a_message_become_the_message(host: Host) -> None:
    result = host.ask(host.agent(PUPPET), "unfinished")

    assert (result["run"]["status"], texts(result)) == ("completed", ["fragments"])


def test_a_run_may_send_several_messages(host: Host) -> None:
    result = host.ask(host.agent(PUPPET), "two")

    assert texts(result) == ["first", "second"]
    assert host.transcript(result["conversation_id"])[1:] == [("assistant", "first"), ("assistant", "second")]


def test_tool_calls_are_recorded(host: Host) -> None:
    result = host.ask(host.agent(PUPPET), "tool")

    events = run_events(host, result["run"]["run_id"])
    assert [event["type"] for event in events[:2]] == ["tool.call.started", "tool.call.completed"]
    assert events[1]["data"]["result"] == {"sky": "blue"}


def test_printed_output_of_a_plugin_does_not_disturb_its_runs(host: Host) -> None:
    agent = host.agent(PUPPET)

    assert texts(host.ask(agent, "chatter")) == ["printed"]
    assert texts(host.ask(agent, "say fine")) == ["fine"]
    assert host.plugin_status("test/puppet-agent") == "ready"
