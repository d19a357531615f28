"""Tests calls of a plugin process to models, tools, knowledge, skills and files through the Host,
and recorded calls.
"""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import MakeHost
from tests.support.harness import Host, Json, eventually, texts
from tests.support.scripted import CALLER, CALLING_PLUGIN, PLUGIN_ID, ScriptedHost

Steps = list[tuple[str, Any]]


def model_request(text: str) -> Json:
    return {"model_id": "model", "messages": [{"role": "user", "content": text}]}


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedHost]:
    host = ScriptedHost(tmp_path_factory.mktemp("scripted"))
    host.install(CALLING_PLUGIN)
    host.start()
    yield host
    host.close()


@pytest.fixture(scope="module")
def agent(scripted: ScriptedHost) -> str:
    return scripted.caller()


def outcomes(host: Host, agent: str, steps: Steps) -> tuple[list[Any], Json]:
    """Returns the outcome of each call, and the run."""
    result = host.ask(agent, json.dumps(steps))
    return json.loads(texts(result)[0]), host.run(result["run"]["run_id"])


def test_a_new_agent_has_state_per_subject_of_an_event(scripted: ScriptedHost, agent: str) -> None:
    shown = scripted.http().get(f"/agents/{agent}").json()["state_policy"]["scopes"]
    assert sorted(shown) == ["actor", "binding", "conversation", "subject"]

    def asked(room: str, *steps: tuple[str, Any]) -> list[Any]:
        about = {"subject_type": "room", "subject_id": room}
        return list(json.loads(texts(scripted.ask(agent, json.dumps(steps), subject=about))[0]))

    asked("r1", ("state_set", {"scope": "subject", "key": "test.seen", "value": 1}))
    read = ("state_get", {"scope": "subject", "key": "test.seen"})
    assert [asked(room, read)[0]["found"] for room in ("r1", "r2")] == [True, False]


def test_an_agent_that_was_stored_without_the_scope_subject_stays_without_it(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    host.install(CALLING_PLUGIN)
    host.start()
    try:
        before = host.caller(state_policy={"scopes": ["conversation", "actor", "binding"]})
        host.restart()
        shown = host.http().get(f"/agents/{before}").json()["state_policy"]["scopes"]
        written = ("state_set", {"scope": "subject", "key": "test.seen", "value": 1})
        about = {"subject_type": "room", "subject_id": "r1"}
        [outcome] = json.loads(texts(host.ask(before, json.dumps([written]), subject=about))[0])
    finally:
        host.close()

    assert shown == ["conversation", "actor", "binding"]
    assert outcome["error"]["code"] == "unauthorized"


def test_a_plugin_process_gets_answers_of_every_provider(scripted: ScriptedHost, agent: str) -> None:
    steps: Steps = [
        ("invoke_llm", model_request("hello")),
        ("invoke_llm_stream", model_request("hi")),
        ("invoke_embedding", {"model_id": "embedding-model", "texts": ["abc"]}),
        ("invoke_rerank", {"model_id": "rerank-model", "query": "q", "documents": ["a", "abc"]}),
        ("get_tool_detail", {"tool_name": "lamp"}),
        ("call_tool", {"tool_name": "lamp"}),
        ("list_knowledge", {}),
        ("retrieve_knowledge", {"kb_id": "manual", "query": "lamp"}),
        ("list_skills", {}),
        ("activate_skill", {"skill_name": "cook"}),
        ("get_file", {"file_key": "notes", "offset": 2, "length": 3}),
    ]
    answers, run = outcomes(scripted, agent, steps)
    model, parts, vectors, ranked, detail, lamp, bases, chunks, skills, skill, piece = answers
    assert model["message"]["content"] == "you said hello"
    assert "".join(part["chunk"]["content"] for part in parts) == "you said hi "
    assert (vectors["embeddings"], ranked["results"][0]["index"]) == ([[3.0]], 1)
    assert (detail["read_only"], lamp["content"][0]["text"]) == (False, "on")
    assert (bases["knowledge_bases"][0]["kb_id"], chunks["chunks"][0]["content"]) == ("manual", "the red lamp")
    assert (skills["skills"][0]["skill_name"], skill["instructions"]) == ("cook", "Heat the pan.")
    assert base64.b64decode(piece["content_base64"]) == b"234"
    assert (run["usage"]["model_calls"], run["usage"]["tool_calls"], run["usage"]["prompt_tokens"]) == (4, 1, 9)


def test_a_providers_error_and_a_refusal_reach_the_plugin_with_their_codes(scripted: ScriptedHost, agent: str) -> None:
    steps: Steps = [
        ("invoke_llm", model_request("busy")),
        ("call_tool", {"tool_name": "absent"}),
        ("invoke_llm", model_request("ok")),
    ]
    (busy, absent, fine), _ = outcomes(scripted, agent, steps)
    assert (busy["error"]["code"], busy["error"]["retryable"]) == ("rate_limited", True)
    assert absent["error"]["code"] == "unauthorized"
    assert fine["message"]["content"] == "you said ok"


def test_a_stream_that_a_plugin_abandons_is_ended_at_the_model(scripted: ScriptedHost, agent: str) -> None:
    scripted.forget()
    (part,), _ = outcomes(scripted, agent, [("leave", model_request("pause"))])
    assert part["chunk"]["content"] == "well "
    eventually(lambda: "model let go" in scripted.seen(), "the model is let go")


def test_a_large_output_of_a_tool_is_a_downloadable_file(scripted: ScriptedHost, agent: str) -> None:
    (book,), _ = outcomes(scripted, agent, [("call_tool", {"tool_name": "book"})])
    assert book["truncated"] is True
    whole = scripted.http().get(f"/artifacts/{book['artifact_refs'][0]['artifact_id']}/content")
    assert whole.text == "x" * 300_000


def test_a_plugin_process_finds_a_chinese_word_of_two_characters_in_its_own_conversation(
    scripted: ScriptedHost, agent: str
) -> None:
    meeting = json.dumps(
        [("invoke_llm", model_request("\u6211\u4eec\u660e\u5929\u5728\u5317\u4eac\u5f00\u4f1a"))], ensure_ascii=False
    )
    scripted.ask(agent, meeting, conversation_id="searched")
    scripted.ask(agent, meeting, conversation_id="elsewhere")
    steps: Steps = [("history_search", {"query": query}) for query in ("\u5317\u4eac", "\u4eac\u5317")]
    found, reversed_word = json.loads(texts(scripted.ask(agent, json.dumps(steps), conversation_id="searched"))[0])
    assert [item["content"] for item in found["items"]] == [meeting]
    assert reversed_word["items"] == []


def test_a_call_to_a_hanging_model_ends_when_the_run_is_cancelled(scripted: ScriptedHost) -> None:
    scripted.forget()
    agent = scripted.caller(name="hanging")
    scripted.send(agent, json.dumps([("invoke_llm", model_request("hang"))]))
    eventually(lambda: scripted.seen() == ["model hang"], "the model is asked")
    scripted.http().post(f"/runs/{scripted.active_run(agent)}/cancel")
    eventually(lambda: "model let go" in scripted.seen(), "the model is let go")
    [run] = scripted.items("/runs", agent_id=agent)
    assert run["status"] == "cancelled"


def test_refusals_of_one_plugin_beyond_the_first_of_a_minute_are_one_row_with_a_count(make_host: MakeHost) -> None:
    host = make_host(CALLING_PLUGIN).start()
    agent = host.agent(CALLER)

    answers, _ = outcomes(host, agent, [("call_tool", {"tool_name": "absent"})] * 60)
    host.kill()
    host.start()

    assert {answer["error"]["code"] for answer in answers} == {"unauthorized"}
    denied = [entry for entry in host.items("/audit", kind="access") if entry["outcome"] == "denied"]
    assert [entry["code"] for entry in denied] == ["repeated"] + ["unauthorized"] * 20
    assert denied[0]["plugin_id"] == PLUGIN_ID
    assert denied[0]["detail"] == {"count": 40, "actions": {"call_tool": 40}}
    assert len(host.items("/events", type="access.denied")) == 21


def test_recorded_calls_are_paid_and_executed_once_although_the_host_is_killed(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    host.install(CALLING_PLUGIN)
    host.start()
    try:
        agent = host.caller(journal_calls=True)
        gate = host.shared_file("gate", PLUGIN_ID)
        steps: Steps = [
            ("invoke_llm", model_request("first")),
            ("call_tool", {"tool_name": "lamp"}),
            ("invoke_llm_stream", model_request("second")),
            ("wait", str(gate)),
            ("invoke_llm", model_request("third")),
        ]
        accepted = host.send(agent, json.dumps(steps))
        eventually(Path(f"{gate}.reached").exists, "the run has made its first calls")
        host.kill()
        gate.touch()
        host.start()
        eventually(lambda: host.items("/runs", agent_id=agent, status="completed"), "the run was tried anew")
        assert host.seen() == ["model first", "tool lamp", "model second", "model third"]
        said = host.transcript(accepted["conversation_id"])
        assert [speaker for speaker, _ in said] == ["user", "assistant"]
        answers = json.loads(said[1][1])
        assert [answers[0]["message"]["content"], answers[4]["message"]["content"]] == [
            "you said first",
            "you said third",
        ]
    finally:
        host.close()
