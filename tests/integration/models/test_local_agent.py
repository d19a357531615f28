"""Tests the local agent as users meet it: a real plugin process, a real Host, and a model with replies of the test."""

import asyncio
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from parlour_sdk.protocol.state import CHECKPOINT_KEY
from tests.support.chat import Chat
from tests.support.harness import Json, eventually, texts
from tests.support.scripted_models import BOTH, LOCAL_PLUGIN, ScriptedModelsHost, calls, fails

LONG = "I told you about the garden, the river and the old house on the hill where my aunt lives. " * 9
NOT_JSON = (
    "Error: The arguments are not a JSON object: Expecting property name enclosed in double quotes at character 1, "
    "near '{not json'. Call the tool again with correct arguments."
)
PIXEL = {"type": "image", "mime_type": "image/png", "content_base64": "iVBORw0KGgo="}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedModelsHost]:
    host = ScriptedModelsHost(tmp_path_factory.mktemp("written host"), PARLOUR__WORKSPACE__TIME_ZONE="Asia/Tokyo")
    host.install(LOCAL_PLUGIN)
    host.start()
    yield host
    host.close()


def messages(host: ScriptedModelsHost, run_id: str) -> list[Json]:
    return [each["message"] for each in host.results(run_id, "message.completed")]


def failure(result: Json) -> tuple[str, str]:
    return result["reason"], result["run"]["error"]


def test_the_prompts_variables_are_filled_in(host: ScriptedModelsHost) -> None:
    host.write("hello")
    agent = host.local(
        prompt="You talk to {{actor}} in {{group}}. Today is {{date}}. {{unknown}} {{ chat_type }} {{time}}."
    )
    data = {"chat_type": "group", "group": {"id": "g1", "name": "Cats"}}
    host.ask(agent, "hi", actor={"actor_id": "7", "actor_name": "Ann {{date}}"}, data=data)
    [[system, user]] = host.prompts()
    talk = r"You talk to Ann \{\{date\}\} in Cats\. Today is [-\d]{10}\. \{\{unknown\}\} group [-\d]{10} [:\d]{5} JST\."
    assert re.match(talk, system[1])
    assert re.fullmatch(r"\[\d\d-\d\d \d\d:\d\d Ann \{\{date\}\} #\S*7\] hi", user[1])


def test_the_second_turn_remembers_the_first(host: ScriptedModelsHost) -> None:
    host.write("hello Ann", "you are Ann")
    agent = host.local()
    assert texts(host.ask(agent, "I am Ann", conversation_id="memory")) == ["hello Ann"]
    assert texts(host.ask(agent, "who am I?", conversation_id="memory")) == ["you are Ann"]
    first, second = host.prompts()
    assert first == [("system", "Be kind."), ("user", "I am Ann")]
    assert second[1:] == [("user", "I am Ann"), ("assistant", "hello Ann"), ("user", "who am I?")]


async def test_an_answer_is_streamed_and_the_stored_text_equals_the_streamed_one(host: ScriptedModelsHost) -> None:
    pieces = [" \n", "Hel", "lo ", "there", "!"]
    host.write({"pieces": pieces, "gate": "growing"})
    async with Chat(host, await asyncio.to_thread(host.local)) as chat:
        await chat.say("hi")
        host.open_gate("growing")
        whole = await chat.until("message", 30)
        run_id = (await chat.until("run", 30, status="completed"))["run_id"]
    deltas = [each["chunk"]["content"] for each in host.results(run_id, "message.delta")]
    assert chat.deltas == whole["message"]["content"] == "".join(deltas) == "Hello there!"
    assert host.transcript(chat.conversation_id) == [("user", "hi"), ("assistant", "Hello there!")]


def test_without_streaming_there_are_no_fragments(host: ScriptedModelsHost) -> None:
    host.write({"pieces": ["Hello ", "there"]})
    result = host.ask(host.local(streaming=False), "hi")
    assert texts(result) == ["Hello there"]
    assert host.results(result["run"]["run_id"], "message.delta") == []


@pytest.mark.parametrize(("thinking", "shown"), [("show", "let me see"), ("hide", None)])
def test_thoughts_are_separated_from_the_answer(host: ScriptedModelsHost, thinking: str, shown: str | None) -> None:
    host.write({"reasoning": "let me ", "pieces": ["<thi", "nk>see</th", "ink>\n\nIt is noon."]})
    result = host.ask(host.local(thinking=thinking), "when?")
    [message] = messages(host, result["run"]["run_id"])
    assert (message["content"], message.get("reasoning")) == ("It is noon.", shown)


async def test_visible_thoughts_are_streamed(host: ScriptedModelsHost) -> None:
    host.write({"reasoning": "let me see", "pieces": ["It is ", "noon."], "gate": "thinking"})
    async with Chat(host, await asyncio.to_thread(host.local, thinking="show")) as chat:
        await chat.say("when?")
        host.open_gate("thinking")
        message = await chat.until("message", 30)
        await chat.until("run", 30, status="completed")
    kinds = [frame["type"] for frame in chat.frames]
    assert "".join(frame["content"] for frame in chat.of("thinking")) == message["message"]["reasoning"] == "let me see"
    assert kinds.index("thinking") < kinds.index("delta")
    assert (chat.deltas, chat.of("thinking")[0]["run_id"]) == ("It is noon.", message["run_id"])


def test_tools_are_called_in_parallel_and_the_model_gets_their_results(host: ScriptedModelsHost) -> None:
    both = [("meet", {"name": name, "number": 2}) for name in ("ann", "bob")]
    host.write(calls(*both, pieces=["I ", "look."]), "They met.")
    result = host.ask(host.local(tools=["meet"]), "do they meet?")
    assert texts(result) == ["I look.", "They met."]
    given = [each for each in host.requests()[1]["messages"] if each["role"] == "tool"]
    assert [(each["tool_call_id"], each["content"]) for each in given] == [
        ("call-0", "ann has met the others"),
        ("call-1", "bob has met the others"),
    ]
    run_id = result["run"]["run_id"]
    assert [each["tool_call_id"] for each in host.results(run_id, "tool.call.started")] == ["call-0", "call-1"]
    completed = host.results(run_id, "tool.call.completed")
    assert sorted(each["result"] for each in completed) == ["ann has met the others", "bob has met the others"]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (("broken", {}), "Error: The tool gave no result: the wire is cut"),
        (("absent", {}), "Error: There is no tool 'absent'. There are: broken."),
        (("broken", "{not json"), NOT_JSON),
    ],
)
def test_the_model_receives_the_error_of_a_failed_tool(host: ScriptedModelsHost, wanted: Any, expected: str) -> None:
    host.write(calls(wanted), "I could not.")
    result = host.ask(host.local(tools=["broken"]), "try")
    assert texts(result) == ["I could not."]
    assert host.requests()[1]["messages"][-1]["content"] == expected
    [completed] = host.results(result["run"]["run_id"], "tool.call.completed")
    assert f"Error: {completed['error']}" == expected


def test_after_the_last_round_the_model_has_to_answer(host: ScriptedModelsHost) -> None:
    host.write(calls(("clock", {})), calls(("clock", {})), "It is noon, I think.")
    result = host.ask(host.local(tools=["clock"], max_tool_rounds=2), "when?")
    assert texts(result) == ["It is noon, I think."]
    assert (len(host.lines("tool")), len(host.requests())) == (2, 3)
    assert host.requests()[2]["extra"] == {"tool_choice": "none"}
    assert host.requests()[2]["tools"] == host.requests()[1]["tools"]
    assert host.results(result["run"]["run_id"], "run.completed")[0]["finish_reason"] == "tool_limit"


def test_a_model_that_never_stops_calling_tools_is_stopped_with_a_sentence(host: ScriptedModelsHost) -> None:
    host.write(*(calls(("clock", {})) for _ in range(3)))
    result = host.ask(host.local(tools=["clock"], max_tool_rounds=1), "when?")
    assert texts(result) == ["I stopped after 1 rounds of tool calls without coming to an answer."]


def test_a_picture_of_a_tool_reaches_a_model_with_vision(host: ScriptedModelsHost) -> None:
    host.write(second=(calls(("camera", {})), "A cat."))
    model = {"primary": "second", "fallbacks": []}
    assert texts(host.ask(host.local(model=model, tools=["camera"]), "look")) == ["A cat."]
    tool, shown = host.requests("second")[1]["messages"][-2:]
    assert (tool["role"], tool["content"]) == ("tool", "a cat")
    assert (shown["role"], shown["content"][1]["content_base64"]) == ("user", "iVBORw0KGgo=")


def test_a_skill_is_listed_by_name_and_loaded_on_request(host: ScriptedModelsHost) -> None:
    host.write(calls(("activate_skill", {"name": "cook"})), "First heat the pan.")
    assert texts(host.ask(host.local(resource_policy={}), "an egg, please")) == ["First heat the pan."]
    first, second = host.requests()
    assert first["messages"][0]["content"].endswith("\n- cook")
    assert second["messages"][-1]["content"] == "Heat the pan."


def test_knowledge_results_are_used_and_cited_and_their_pictures_stay(host: ScriptedModelsHost) -> None:
    host.write(second=("With a spoon [1].",))
    agent = host.local(
        model={"primary": "second", "fallbacks": []},
        knowledge_bases=["manual", "empty"],
        rerank_model="rerank-model",
        rerank_top_k=1,
    )
    contents = [{"type": "text", "text": "lamp"}, PIXEL]
    result = host.ask(agent, "lamp", input={"text": "lamp", "contents": contents})
    text, picture = host.requests("second")[0]["messages"][-1]["content"]
    assert "[1] manual.txt\nhow to mend the lamp with a spoon" in text["text"]
    assert "the red lamp" not in text["text"]
    assert text["text"].endswith("</knowledge>\n\nlamp")
    assert (picture["type"], picture["mime_type"]) == ("image", "image/png")
    [message] = messages(host, result["run"]["run_id"])
    assert [(each["number"], each["chunk_id"]) for each in message["metadata"]["citations"]] == [(1, "manual-1")]
    assert host.transcript(result["run"]["conversation_id"])[0] == ("user", "lamp")


def test_a_picture_reaches_a_model_with_vision_and_another_model_gets_a_note(host: ScriptedModelsHost) -> None:
    host.write(fails("runtime_error", "down"), second=("A cat.",))
    contents = [{"type": "text", "text": "what is it?"}, {**PIXEL, "name": "cat.png"}]
    result = host.ask(host.local(model=BOTH), "", input={"text": "what is it?", "contents": contents})
    assert texts(result) == ["A cat."]
    assert "[image: cat.png, image/png" in host.requests("main")[0]["messages"][-1]["content"]
    assert host.requests("second")[0]["messages"][-1]["content"][1]["type"] == "image"


def test_the_second_model_answers_when_the_first_fails_and_stays_selected(host: ScriptedModelsHost) -> None:
    host.write(fails("rate_limited", "too many"), second=(calls(("clock", {})), "Noon."))
    result = host.ask(host.local(model=BOTH, tools=["clock"]), "when?")
    assert texts(result) == ["Noon."]
    assert (len(host.requests("main")), len(host.requests("second"))) == (1, 2)
    assert messages(host, result["run"]["run_id"])[0]["metadata"]["model_id"] == "second"


def recover(host: ScriptedModelsHost) -> None:
    """Lets the first model answer, so that it is asked first again after the failures of other tests."""
    host.write("I am back.")
    host.ask(host.local(), "hi")


def test_the_run_fails_with_a_sentence_when_all_models_fail(host: ScriptedModelsHost) -> None:
    recover(host)
    host.write(fails("runtime_error", "the server is down"), second=(fails("runtime_error", "no key"),))
    result = host.ask(host.local(model=BOTH), "hi")
    assert failure(result) == (
        "local-agent.model_failed",
        "None of the agent's 2 models answered. 'Main': the server is down; 'Second': no key.",
    )


def test_the_next_model_is_called_after_an_empty_answer(host: ScriptedModelsHost) -> None:
    host.write({"pieces": ["  ", "\n"]}, second=("Here I am.",))
    assert texts(host.ask(host.local(model=BOTH), "hi")) == ["Here I am."]


def test_the_run_fails_when_all_answers_are_empty(host: ScriptedModelsHost) -> None:
    host.write({"pieces": [" "]})
    code, sentence = failure(host.ask(host.local(), "hi"))
    assert (code, sentence) == ("runner.no_output", "The model 'Main' did not answer: it gave an empty answer.")


def test_a_run_fails_when_the_answer_breaks_off(host: ScriptedModelsHost) -> None:
    recover(host)
    host.write(fails("runtime_error", "the line was cut", pieces=["It is "]), second=("Noon.",))
    result = host.ask(host.local(model=BOTH), "when?")
    assert failure(result) == (
        "local-agent.model_failed",
        "The answer of the model 'Main' broke off: the line was cut",
    )
    assert host.requests("second") == []


def test_an_agent_without_a_model_names_the_remedy(host: ScriptedModelsHost) -> None:
    code, sentence = failure(host.ask(host.local(model=None), "hi"))
    assert (code, sentence) == ("local-agent.no_model", "This agent has no model yet. Choose one in its settings.")


def test_a_setting_out_of_range_is_refused_by_name_when_the_agent_is_saved(host: ScriptedModelsHost) -> None:
    body = {
        "name": "Wrong",
        "runner_id": "plugin:parlour/local-agent/default",
        "runner_config": {"max_tool_rounds": -1},
    }
    refused = host.http().post("/agents", json=body)
    [field] = refused.json()["error"]["details"]["fields"]
    assert (field["field"], field["message"]) == ("runner_config.max_tool_rounds", "must be from 0 to 1000")


def test_messages_sent_during_tool_calls_reach_the_model_with_the_results(host: ScriptedModelsHost) -> None:
    host.write(calls(("gated", {"gate": "steer"})), "Tea, then.")
    agent = host.local(tools=["gated"])
    host.send(agent, "coffee, please", conversation_id="steered", event_id="first")
    host.until("tool")
    host.send(agent, "no, tea", conversation_id="steered", event_id="second")
    run_id = host.active_run(agent)
    eventually(lambda: host.results(run_id, "steering.queued"), "the message is claimed", 30)
    host.open_gate("steer")
    result = host.ask(agent, "coffee, please", conversation_id="steered", event_id="first")
    assert texts(result) == ["Tea, then."]
    assert host.prompts()[1][-2:] == [("tool", "the gate is open"), ("user", "no, tea")]


def test_a_message_sent_before_the_end_is_answered_in_the_same_run(host: ScriptedModelsHost) -> None:
    host.write({"pieces": ["Coffee it is."], "gate": "ending"}, "Tea, then.")
    agent = host.local()
    host.send(agent, "coffee, please", conversation_id="ending", event_id="first one")
    host.until("model")
    run_id = host.active_run(agent)
    host.send(agent, "no, tea", conversation_id="ending", event_id="second one")
    eventually(lambda: host.results(run_id, "steering.queued"), "the message is claimed", 30)
    host.open_gate("ending")
    result = host.ask(agent, "coffee, please", conversation_id="ending", event_id="first one")
    assert (texts(result), result["run"]["run_id"]) == (["Coffee it is.", "Tea, then."], run_id)
    assert host.prompts()[1][-2:] == [("assistant", "Coffee it is."), ("user", "no, tea")]


def spoil_checkpoint(host: ScriptedModelsHost, conversation_id: str) -> None:
    with closing(sqlite3.connect(host.data / "parlour.db", timeout=30)) as database:
        spoiled = json.dumps({"schema_version": 1, "summary": "SUMMARY"})
        change = "UPDATE state SET value = ? WHERE name = ? AND conversation_id = ?"
        changed = database.execute(change, (spoiled, CHECKPOINT_KEY, conversation_id))
        database.commit()
    assert changed.rowcount == 1


def summaries(host: ScriptedModelsHost) -> list[str]:
    """Returns the text to be summarized of each request for a summary."""
    return [asked[-1][1] for asked in host.prompts("second") if asked[0][1].startswith("You keep the memory")]


def test_a_summary_is_made_once_reused_by_the_next_run_and_renewed_from_the_old_one(host: ScriptedModelsHost) -> None:
    agent = host.local(context_tokens=500, summary_model="second")
    host.write("ok", "ok", "three", "four", second=("SUMMARY ONE",))
    host.ask(agent, f"1 {LONG}", conversation_id="long")
    host.ask(agent, f"2 {LONG}", conversation_id="long")
    assert summaries(host) == []
    assert texts(host.ask(agent, f"3 {LONG}", conversation_id="long")) == ["three"]
    [asked] = summaries(host)
    assert asked.startswith("user: 1 I told you")

    host.ask(agent, "short", conversation_id="long")
    assert len(summaries(host)) == 1
    assert "SUMMARY ONE" in host.prompts()[-1][1][1]
    assert not any(f"1 {LONG}" == content for _, content in host.prompts()[-1])

    host.write("five", "six", second=("SUMMARY TWO",))
    host.ask(agent, f"5 {LONG}", conversation_id="long")
    assert texts(host.ask(agent, f"6 {LONG}", conversation_id="long")) == ["six"]
    [prompt] = summaries(host)
    assert prompt.startswith("The summary so far:\nSUMMARY ONE\n\nWhat was said since:\n")
    assert "1 I told you" not in prompt


def test_without_a_model_for_the_summary_there_is_a_plain_one(host: ScriptedModelsHost) -> None:
    agent = host.local(context_tokens=300, summary_model="second")
    host.write("ok", "ok", fails("runtime_error", "down"), second=(fails("runtime_error", "down"),))
    for number in (1, 2):
        host.ask(agent, f"{number} {LONG}", conversation_id="plain")
    host.write("three", "three")
    assert texts(host.ask(agent, "and now?", conversation_id="plain")) == ["three"]
    assert "user: 1 I told you about the garden" in host.prompts()[-1][1][1]


def test_a_damaged_summary_is_ignored(host: ScriptedModelsHost) -> None:
    agent = host.local(context_tokens=500, summary_model="second")
    host.write("ok", "ok", "three", second=("SUMMARY",))
    for number in (1, 2, 3):
        result = host.ask(agent, f"{number} {LONG}", conversation_id="spoiled")
    spoil_checkpoint(host, result["conversation_id"])
    host.write("four", "five", second=("ANOTHER SUMMARY",))
    assert texts(host.ask(agent, "and now?", conversation_id="spoiled")) == ["four"]
    assert not any("SUMMARY" in str(content) for _, content in host.prompts()[-1])
    assert summaries(host)[-1].startswith("user: 1 I told you")
    host.ask(agent, "and then?", conversation_id="spoiled")
    assert "ANOTHER SUMMARY" in host.prompts()[-1][1][1]


def test_another_conversations_summary_is_not_used(host: ScriptedModelsHost) -> None:
    agent = host.local(context_tokens=500, summary_model="second")
    host.write("ok", "ok", "three", "fresh", second=("SUMMARY",))
    for number in (1, 2, 3):
        host.ask(agent, f"{number} {LONG}", conversation_id="mine")
    host.ask(agent, "hi", conversation_id="another")
    assert host.prompts()[-1] == [host.prompts()[0][0], ("user", "hi")]


def test_an_event_is_described_by_the_template_of_its_type(host: ScriptedModelsHost) -> None:
    host.write("Welcome, Bob!", "Good-bye.")
    templates = {"group.member_joined": "{{event.member.user.nickname}} joined {{group}}. Say hello."}
    agent = host.local(event_templates=templates, event_types=["group.member_joined", "group.member_left"])
    data = {"group": {"id": "g", "name": "Cats"}, "member": {"user": {"id": "2", "nickname": "Bob"}}}
    joined: Json = {"agent_id": agent, "event_type": "group.member_joined", "data": data}
    answer = host.http().post("/events?wait=result", json=joined)
    assert texts(answer.json()) == ["Welcome, Bob!"]
    host.http().post("/events?wait=result", json={**joined, "event_type": "group.member_left"})
    by_template, described = (prompt[-1][1] for prompt in host.prompts())
    assert by_template == "Bob joined Cats. Say hello."
    assert described.startswith("This happened")
    assert "group.member_left" in described


def test_a_run_is_cancelled_during_a_model_call(host: ScriptedModelsHost) -> None:
    host.write({"hang": True})
    agent = host.local()
    host.send(agent, "hi", event_id="cancelled model")
    host.until("model")
    assert host.http().post(f"/runs/{host.active_run(agent)}/cancel").json()["status"] == "cancelled"
    assert host.until("let_go") == ["model"]
    assert host.ask(agent, "hi", event_id="cancelled model")["outcome"] == "cancelled"


def test_a_run_is_cancelled_during_a_tool_call(host: ScriptedModelsHost) -> None:
    host.write(calls(("stuck", {})))
    agent = host.local(tools=["stuck"])
    host.send(agent, "hi", event_id="cancelled tool")
    host.until("tool")
    assert host.http().post(f"/runs/{host.active_run(agent)}/cancel").json()["status"] == "cancelled"
    assert host.until("let_go") == ["tool"]
    assert host.ask(agent, "hi", event_id="cancelled tool")["outcome"] == "cancelled"


def test_a_run_ends_at_its_deadline_and_calls_no_fallback_model(host: ScriptedModelsHost) -> None:
    host.write({"hang": True}, second=("late",))
    result = host.ask(host.local(model=BOTH, timeout_seconds=0.5), "hi")
    assert (result["run"]["status"], failure(result)[0]) == ("timeout", "runner.timeout")
    assert host.requests("second") == []


def test_an_exhausted_budget_is_reported_and_no_fallback_model_is_called(host: ScriptedModelsHost) -> None:
    host.write(fails("budget_exceeded", "The day's budget is used up."), second=("free",))
    result = host.ask(host.local(model=BOTH), "hi")
    assert failure(result) == ("budget_exceeded", "The day's budget is used up.")
    assert host.requests("second") == []


def test_a_plain_answer_takes_few_calls(host: ScriptedModelsHost) -> None:
    """A plain answer takes one page of history and one model call; steering costs nothing while no message arrives."""
    host.write("one", "two")
    agent = host.local()
    host.ask(agent, "first", conversation_id="few")
    result = host.ask(agent, "second", conversation_id="few")
    assert result["run"]["usage"]["model_calls"] == 1
    assert result["run"]["usage"].get("tool_calls", 0) == 0
