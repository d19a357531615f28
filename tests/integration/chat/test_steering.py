"""Tests messages that arrive while a run is active: they join the run or wait in the queue, and none is lost."""

import asyncio
from pathlib import Path

import pytest

from tests.support.chat import Chat
from tests.support.harness import CLAIMING_PUPPET, PUPPET, Host, eventually, texts

pytestmark = pytest.mark.both_runtimes


def steering_facts(host: Host, run_id: str) -> list[tuple[str, str]]:
    """Returns each steering fact with its event: (fact, event id)."""
    events = host.items(f"/runs/{run_id}/events")
    return [
        (event["type"].removeprefix("steering."), event["data"]["source_event_id"])
        for event in events
        if event["type"].startswith("steering.")
    ]


async def test_a_message_sent_during_a_run_appears_in_its_answer(host: Host) -> None:
    async with Chat(host, host.agent(config={"hold_ms": 500})) as chat:
        await chat.say("first")
        await chat.until("delta")
        await chat.say("second")
        await chat.say("third")
        whole = await chat.until("message")
        await chat.until("run", status="completed")

    assert whole["message"]["content"] == "first\nsecond\nthird"
    assert chat.deltas == "first\nsecond\nthird"
    assert len(host.items("/runs", conversation_id=chat.conversation_id)) == 1
    assert host.transcript(chat.conversation_id) == [
        ("user", "first"),
        ("user", "second"),
        ("user", "third"),
        ("assistant", "first\nsecond\nthird"),
    ]


async def test_steering_is_recorded_and_its_sender_gets_the_runs_answer(host: Host) -> None:
    agent = host.agent(config={"hold_ms": 500})
    host.send(agent, "first", conversation_id="steered", event_id="steered")
    run_id = await asyncio.to_thread(host.active_run, agent)

    result = await asyncio.to_thread(host.ask, agent, "second", conversation_id="steered", event_id="steering")

    assert (result["outcome"], result["run"]["run_id"], texts(result)) == ("answered", run_id, ["first\nsecond"])
    assert steering_facts(host, run_id) == [("queued", "steering"), ("injected", "steering")]
    assert host.ask(agent, "first", conversation_id="steered", event_id="steered")["run"]["run_id"] == run_id


def test_a_message_of_another_sender_does_not_steer_and_is_answered_next(host: Host) -> None:
    agent = host.agent(config={"hold_ms": 300})
    ann, bob = {"actor": {"actor_id": "ann"}}, {"actor": {"actor_id": "bob"}}
    host.send(agent, "by ann", conversation_id="shared", event_id="a", **ann)
    run_id = host.active_run(agent)

    other = host.ask(agent, "by bob", conversation_id="shared", **bob)

    assert texts(other) == ["by bob"]
    assert other["run"]["run_id"] != run_id
    assert texts(host.ask(agent, "by ann", conversation_id="shared", event_id="a", **ann)) == ["by ann"]
    assert steering_facts(host, run_id) == []


async def test_another_keys_session_of_the_same_name_does_not_steer(host: Host) -> None:
    agent = host.agent(config={"hold_ms": 400})
    async with Chat(host, agent, key=host.key("chat", "ann")) as ann, Chat(host, agent) as mine:
        await ann.say("ann's")
        await ann.until("delta")
        assert await mine.answer("mine") == "mine"
        assert (await ann.until("message"))["message"]["content"] == "ann's"


def test_a_claimed_message_that_was_never_pulled_is_recorded_as_dropped_and_answered_by_its_own_run(
    host: Host, gate_file: Path
) -> None:
    agent = host.agent(CLAIMING_PUPPET)
    names = {"conversation_id": "dropped"}
    host.send(agent, f"gate {gate_file}", event_id="holding", **names)
    run_id = host.active_run(agent)
    for number in (1, 2):
        host.send(agent, f"say {number}", event_id=f"claimed {number}", **names)
    eventually(lambda: len(steering_facts(host, run_id)) == 2, "both are claimed")

    gate_file.touch()

    results = [host.ask(agent, f"say {number}", event_id=f"claimed {number}", **names) for number in (1, 2)]
    assert [texts(result) for result in results] == [["1"], ["2"]]
    assert len({run_id, *(result["run"]["run_id"] for result in results)}) == 3
    assert steering_facts(host, run_id) == [
        (fact, f"claimed {number}") for fact in ("queued", "dropped") for number in (1, 2)
    ]
    said = [text for speaker, text in host.transcript(results[0]["conversation_id"]) if speaker == "assistant"]
    assert said == ["waiting is over", "1", "2"]


def test_a_claimed_message_is_answered_after_the_run_is_cancelled(host: Host) -> None:
    agent = host.agent(CLAIMING_PUPPET)
    host.send(agent, "sleep", conversation_id="cancelled")
    run_id = host.active_run(agent)
    host.send(agent, "say next", conversation_id="cancelled", event_id="next")
    eventually(lambda: steering_facts(host, run_id), "it is claimed")

    assert host.http().post(f"/runs/{run_id}/cancel").status_code == 200

    assert texts(host.ask(agent, "say next", conversation_id="cancelled", event_id="next")) == ["next"]


def test_a_pulled_message_is_cancelled_with_its_run_and_a_notice_is_sent(host: Host) -> None:
    agent = host.agent(config={"hold_ms": 60_000})
    host.send(agent, "first", conversation_id="absorbed")
    run_id = host.active_run(agent)
    sent = host.send(agent, "second", conversation_id="absorbed", event_id="second")
    eventually(lambda: ("injected", "second") in steering_facts(host, run_id), "it is taken in")

    host.http().post(f"/runs/{run_id}/cancel")

    assert host.ask(agent, "second", conversation_id="absorbed", event_id="second")["outcome"] == "cancelled"
    speaker, text = host.transcript(sent["conversation_id"])[-1]
    assert speaker == "notice"
    assert "1 message" in text


async def test_messages_of_one_conversation_are_answered_in_order(host: Host) -> None:
    agent = host.agent(PUPPET)
    async with Chat(host, agent) as chat:
        for number in range(20):
            await chat.say(f"say {number}")
        for _ in range(20):
            await chat.until("message")

    assert [frame["message"]["content"] for frame in chat.of("message")] == [str(number) for number in range(20)]


def test_parallel_conversations_do_not_wait_for_each_other(host: Host, gate_file: Path) -> None:
    agent = host.agent(PUPPET)
    said = [(f"gate {gate_file}", {"conversation_id": f"parallel {n}", "event_id": f"parallel {n}"}) for n in range(30)]
    for text, fields in said:
        host.send(agent, text, **fields)
    eventually(lambda: len(host.items("/runs", agent_id=agent, status="running")) == 30, "all are answered at once")

    gate_file.touch()

    assert [texts(host.ask(agent, text, **fields)) for text, fields in said] == [["waiting is over"]] * 30
