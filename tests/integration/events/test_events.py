"""Tests injected events: accepted once and answered once, however often they are sent."""

import asyncio
from pathlib import Path

from tests.support.harness import ECHO, PUPPET, Host, error_code, eventually, message, texts


def test_an_accepted_event_answers_with_its_identity_and_number(host: Host) -> None:
    accepted = host.send(host.agent(), "hello", event_id="named by me", conversation_id="a chat")

    assert set(accepted) == {"event_id", "seq", "duplicate", "conversation_id"}
    assert (accepted["event_id"], accepted["duplicate"]) == ("named by me", False)
    assert accepted["conversation_id"] != "a chat"


def test_waiting_for_the_result_answers_with_run_and_messages(host: Host) -> None:
    agent = host.agent()

    result = host.ask(agent, "one two three")

    assert {"event_id", "conversation_id", "outcome", "run", "messages"} <= set(result)
    assert result["outcome"] == "answered"
    assert texts(result) == ["one two three"]
    run = result["run"]
    assert (run["status"], run["agent_id"], run["event_id"]) == ("completed", agent, result["event_id"])
    assert run["runner_id"] == ECHO
    assert run["finished_at"] >= run["started_at"] >= run["created_at"] > 0


def test_an_event_without_a_chat_is_a_conversation_of_its_own(host: Host) -> None:
    agent = host.agent()

    assert host.send(agent, "a")["conversation_id"] != host.send(agent, "b")["conversation_id"]


async def test_one_event_sent_fifty_times_at_once_is_one_event_one_run_and_one_message(host: Host) -> None:
    agent = host.agent(config={"delay_ms": 20})
    body = message(agent, "only once please", event_id="fifty", conversation_id="new for fifty")

    async with host.async_http() as http:
        waiting = [http.post("/events?wait=result", json=body) for _ in range(25)]
        passing = [http.post("/events", json=body) for _ in range(25)]
        answers = await asyncio.gather(*waiting, *passing)

    results = [answer.json() for answer in answers[:25]]
    assert [answer.status_code for answer in answers] == [200] * 25 + [202] * 25
    assert len({result["run"]["run_id"] for result in results}) == 1
    assert {tuple(texts(result)) for result in results} == {("only once please",)}
    assert len({answer.json()["seq"] for answer in answers[25:]}) == 1
    conversation = results[0]["conversation_id"]
    assert {answer.json()["conversation_id"] for answer in answers} == {conversation}
    assert len(host.items("/events", conversation_id=conversation)) == 1
    assert len(host.items("/runs", conversation_id=conversation)) == 1
    assert host.transcript(conversation) == [("user", "only once please"), ("assistant", "only once please")]


def test_a_duplicate_later_answers_with_the_same_run(host: Host) -> None:
    agent = host.agent()
    first = host.ask(agent, "hello", event_id="again", conversation_id="twice")

    again = host.ask(agent, "hello", event_id="again", conversation_id="twice")

    assert again == first
    assert host.send(agent, "hello", event_id="again", conversation_id="twice")["duplicate"] is True


def test_a_request_that_times_out_returns_the_run_and_its_result_is_available_later(
    host: Host, gate_file: Path
) -> None:
    agent = host.agent(PUPPET)
    body = message(agent, f"gate {gate_file}", event_id="slow")
    host.send(agent, f"gate {gate_file}", event_id="slow")
    run_id = host.active_run(agent)

    late = host.http().post("/events?wait=result&timeout=0.3", json=body)

    assert (late.status_code, error_code(late)) == (504, "timeout")
    assert late.json()["error"]["details"]["run_id"] == run_id
    assert host.run(run_id)["status"] == "running"
    gate_file.touch()
    result = host.ask(agent, f"gate {gate_file}", event_id="slow")
    assert (result["run"]["run_id"], texts(result)) == (run_id, ["waiting is over"])


def test_a_caller_that_leaves_does_not_stop_the_run(host: Host, gate_file: Path) -> None:
    agent = host.agent(PUPPET)

    async def leave() -> None:
        async with host.async_http() as http:
            body = message(agent, f"gate {gate_file}", event_id="left")
            asking = asyncio.create_task(http.post("/events?wait=result", json=body))
            await asyncio.to_thread(host.active_run, agent)
            asking.cancel()

    asyncio.run(leave())
    gate_file.touch()

    assert texts(host.ask(agent, f"gate {gate_file}", event_id="left")) == ["waiting is over"]


def test_events_are_listed_newest_first_and_by_type(host: Host) -> None:
    agent = host.agent(event_types=["*"])
    accepted = [host.send(agent, "x", event_type=f"test.kind_{kind}", conversation_id="kinds") for kind in "ab"]
    conversation = accepted[0]["conversation_id"]

    listed = host.items("/events", conversation_id=conversation)

    assert [event["event_type"] for event in listed] == ["test.kind_b", "test.kind_a"]
    assert [event["seq"] for event in listed] == [accepted[1]["seq"], accepted[0]["seq"]]
    by_type = host.items("/events", conversation_id=conversation, type="test.kind_a")
    assert [event["event_id"] for event in by_type] == [accepted[0]["event_id"]]


def test_an_actor_and_a_subject_are_recorded(host: Host) -> None:
    fields = {"actor": {"actor_id": "u1", "actor_name": "Ann"}, "subject": {"subject_type": "room", "subject_id": "r1"}}

    accepted = host.send(host.agent(), "hello", key=host.key("platform"), **fields)

    [event] = host.items("/events", conversation_id=accepted["conversation_id"])
    assert (event["actor_type"], event["actor_id"], event["actor_name"]) == ("user", "u1", "Ann")
    assert (event["subject_type"], event["subject_id"]) == ("room", "r1")


def test_the_text_of_contents_is_answered_like_text(host: Host) -> None:
    contents = [{"type": "text", "text": "made of "}, {"type": "text", "text": "parts"}]
    body = {"agent_id": host.agent(), "input": {"contents": contents}}

    answer = host.http().post("/events?wait=result", json=body)

    assert texts(answer.json()) == ["made of parts"]


def test_an_event_is_answered_even_if_no_client_waits(host: Host) -> None:
    accepted = host.send(host.agent(), "unattended")

    eventually(lambda: len(host.transcript(accepted["conversation_id"])) == 2, "it is answered")
    assert host.transcript(accepted["conversation_id"]) == [("user", "unattended"), ("assistant", "unattended")]


def test_waiting_for_an_event_without_a_run_returns_its_notice(host: Host) -> None:
    result = host.ask(host.agent(enabled=False), "hello")
    assert (result["outcome"], result["run"]) == ("misconfigured", None)
    [said] = result["messages"]
    assert (said["role"], said["metadata"]) == ("assistant", {"notice": "misconfigured"})
    assert said["content"].startswith("Nobody can answer here yet")


def test_a_transcript_is_searched_for_words_also_chinese_ones(host: Host) -> None:
    agent = host.agent()
    conversation_id = host.ask(agent, "the red lantern", conversation_id="searched")["conversation_id"]
    host.ask(agent, "\u6211\u4eec\u5728\u5317\u4eac\u5f00\u4f1a", conversation_id="searched")
    host.ask(agent, "the lantern elsewhere", conversation_id="another")
    path = f"/conversations/{conversation_id}/transcript"
    found = {q: [each["content"] for each in host.items(path, q=q)] for q in ("lantern", "\u5317\u4eac", "nothing")}
    assert found["lantern"] == ["the red lantern"] * 2
    assert found["\u5317\u4eac"] == ["\u6211\u4eec\u5728\u5317\u4eac\u5f00\u4f1a"] * 2
    assert found["nothing"] == []
    assert host.http().get(path, params={"q": ""}).status_code == 422
