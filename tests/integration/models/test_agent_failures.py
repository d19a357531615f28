"""Tests what people see, and what the model service gets, when a model of the local agent fails or repeats itself."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

from parlour.testing.model_server import ModelServer, Raw, Refuse, Say, event
from tests.support.agents import AgentHost
from tests.support.harness import Json, texts
from tests.support.onebot import Peer

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n rest").decode()
SECRET = "Incorrect API key provided: sk-abc-xyz. Organization org-42."
TOO_LONG = "This model's maximum context length is 2600 tokens. However, your messages resulted in 4000 tokens."


def finishing(text: str, reason: str) -> Raw:
    """Returns a streamed answer that ends for a reason."""
    return Raw(event({"content": text}) + event({}, reason) + b"data: [DONE]\n\n")


def calls(name: str, arguments: Any, text: str = "", id: str = "") -> Say:
    given = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Say(text, tool_calls=[{"index": 0, "id": id, "function": {"name": name, "arguments": given}}])


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentHost]:
    with ModelServer() as server:
        host = AgentHost(tmp_path_factory.mktemp("failures"), server)
        yield host
        host.close()


@pytest.fixture(autouse=True)
def nothing_asked(host: AgentHost) -> None:
    host.server.forget()


def ask(host: AgentHost, agent: str, text: str, conversation: str, **fields: Any) -> list[str]:
    return texts(host.ask(agent, text, conversation_id=conversation, **fields))


def size(request: Json) -> int:
    return sum(len(str(each["content"])) for each in request["messages"])


def on_qq(host: AgentHost, agent: str, *messages: str) -> list[str]:
    """Sends messages in a private chat on QQ, and returns the answers."""
    _, peer = host.bot(agent)
    try:
        return [_answer(peer, text) for text in messages]
    finally:
        peer.close()


def _answer(peer: Peer, text: str) -> str:
    peer.say(text)
    return peer.next_send()[1]


def test_a_prompt_that_is_too_long_is_shortened_sent_once_more_and_the_window_remembered(host: AgentHost) -> None:
    agent = host.local(host.model(context_window=None))
    host.server.will(Say("one"), Refuse(400, TOO_LONG), Say("two"))
    ask(host, agent, "word " * 1200, "long")
    assert ask(host, agent, f"what now? {'word ' * 1200}", "long") == ["two"]
    assert ask(host, agent, "and now?", "long") == ["pong"]
    answers = [each for each in host.requests(4) if "You keep the memory" not in str(each["messages"][0])]
    _, refused, shortened, later = answers
    assert size(shortened) < 2600 * 4 < size(refused)
    assert "what now?" in shortened["messages"][-1]["content"]
    assert size(later) < 2600 * 4


def test_a_service_that_names_a_time_is_not_called_before_it_and_the_person_gets_one_sentence(host: AgentHost) -> None:
    host.server.will(Refuse(429, SECRET, {"Retry-After": "60"}))
    [said] = on_qq(host, host.local(host.model()), "hi")
    assert said == "The model service has reached its request limit. Please try again in a few minutes."
    assert len(host.requests(1)) == 1


def test_words_of_a_service_are_for_operators_only(host: AgentHost) -> None:
    host.server.will(Refuse(400, SECRET))
    agent = host.local(host.model())
    [said] = on_qq(host, agent, "hi")
    assert "sk-" not in said
    assert "org-42" not in said
    assert "fake" not in said.lower()
    [run] = host.items("/runs", agent_id=agent)
    assert "org-42" in host.run(run["run_id"])["error"]


def test_a_primary_that_hangs_is_left_in_time_and_asked_last_the_next_time(host: AgentHost) -> None:
    slow, quick = host.model(), host.model()
    agent = host.local(slow, quick, timeout_seconds=6)
    host.server.will(Raw(b"", then="stall"), Say("I am here."), Say("And here."))
    assert on_qq(host, agent, "hello?", "still?") == ["I am here.", "And here."]
    assert len(host.requests(3)) == 3


def test_an_answer_that_was_cut_is_continued_once_and_marked_if_it_is_cut_again(host: AgentHost) -> None:
    agent = host.local(host.model(), streaming=True)
    host.server.will(finishing("This is the beginning", "length"), finishing(" and this the end.", "stop"))
    assert ask(host, agent, "tell me", "cut") == ["This is the beginning and this the end."]
    assert "Go on exactly where it stops" in host.requests(2)[1]["messages"][-1]["content"]

    host.server.will(finishing("One", "length"), finishing(" two", "length"))
    assert ask(host, agent, "again", "cut") == ["One two\n\n… (cut here: the longest answer was reached)"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I can", "I can\n\n… (the model's service withheld the rest because of its content rules)"),
        ("", "The model's service withheld this answer because of its content rules."),
    ],
)
def test_an_answer_that_was_filtered_says_so(host: AgentHost, text: str, expected: str) -> None:
    host.server.will(finishing(text, "content_filter"))
    assert ask(host, host.local(host.model()), "tell me", f"filtered {text}") == [expected]


def test_a_model_that_only_thinks_is_told_of_without_its_name(host: AgentHost) -> None:
    host.server.will(Say("", reasoning="hm"))
    [said] = on_qq(host, host.local(host.model()), "hi")
    assert said == "The model thought about it and gave no answer. Please ask again, or in a shorter way."


def test_the_same_call_is_warned_about_and_stopped(host: AgentHost) -> None:
    agent = host.local(host.model(), tools=["time.now"])
    host.server.will(*(calls("time_now", {}) for _ in range(5)), Say("It is late."))
    assert ask(host, agent, "when?", "loop") == ["It is late."]
    asked = host.requests(6)
    assert "call number 3 with the same arguments" in asked[3]["messages"][-1]["content"]
    assert (asked[4].get("tool_choice"), asked[5]["tool_choice"]) == (None, "none")
    ids = [each["tool_call_id"] for each in asked[5]["messages"] if each["role"] == "tool"]
    assert len(set(ids)) == len(ids) == 5


def test_arguments_are_repaired_or_explained_and_never_sent_back_broken(host: AgentHost) -> None:
    agent = host.local(host.model(), tools=["calculator.evaluate"])
    host.server.will(
        calls("calculator_evaluate", "{'expression': '2+2',}", id="a"),
        calls("calculator_evaluate", '{"expression": 2+}', id="b"),
        calls("calculator_evalute", {"expression": "1"}, id="c"),
        Say("4"),
    )
    assert ask(host, agent, "2+2?", "mended") == ["4"]
    last = host.requests(4)[3]["messages"]
    answers = [each["content"] for each in last if each["role"] == "tool"]
    assert answers[0] == "4"
    assert "at character 16" in answers[1]
    assert "Did you mean 'calculator_evaluate'?" in answers[2]
    assert all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in _calls(last))


def _calls(messages: list[Json]) -> list[Json]:
    return [call for each in messages for call in each.get("tool_calls") or ()]


def test_calls_and_results_are_remembered_in_the_next_turn(host: AgentHost) -> None:
    agent = host.local(host.model(), tools=["calculator.evaluate"])
    host.server.will(calls("calculator_evaluate", {"expression": "17*3"}, "Looking.", id="x"), Say("I have it."))
    ask(host, agent, "17*3?", "memory")
    ask(host, agent, "what was it exactly?", "memory")
    roles = [(each["role"], each["content"]) for each in host.requests(3)[2]["messages"]]
    assert ("tool", "51") in roles
    assert [role for role, _ in roles] == ["system", "user", "assistant", "tool", "assistant", "user"]


def test_texts_before_tool_calls_are_one_message_with_the_answer_or_hidden(host: AgentHost) -> None:
    model = host.model()
    script = (calls("time_now", {}, "Step 0."), calls("time_now", {"zone": "Asia/Tokyo"}, "Step 1."), Say("Final."))
    host.server.will(*script)
    assert on_qq(host, host.local(model, tools=["time.now"]), "go") == ["Final."]
    host.server.will(*script)
    _, peer = host.bot(host.local(model, tools=["time.now"], interim="first"))
    assert [_answer(peer, "go"), peer.next_send()[1]] == ["Step 0.", "Final."]
    peer.close()


def test_a_request_that_is_refused_for_its_picture_is_repeated_without_it_and_the_person_told(host: AgentHost) -> None:
    agent = host.local(host.model())
    contents = [
        {"type": "text", "text": "what is it?"},
        {"type": "image", "mime_type": "image/png", "content_base64": PNG},
    ]
    host.server.will(Refuse(400, "Failed to download image"), Say("I can't see it."))
    answer = host.http().post(
        "/events?wait=result", json={"agent_id": agent, "input": {"contents": contents}, "conversation_id": "picture"}
    )
    assert texts(answer.json()) == [
        "I can't see it.\n\n(I could not look at the file or picture: the model's service refused it.)"
    ]
    refused, repeated = host.requests(2)
    assert "image_url" in str(refused)
    assert "image_url" not in str(repeated)


def test_a_small_text_file_is_part_of_the_prompt_and_a_large_one_is_read_in_pieces(host: AgentHost) -> None:
    agent = host.local(host.model())
    small, large = "remember the milk", "".join(f"line {number}\n" for number in range(6000))

    def given(name: str, content: str) -> Json:
        encoded = base64.b64encode(content.encode()).decode()
        return {"type": "file", "name": name, "mime_type": "text/plain", "content_base64": encoded}

    def send(*files: Json) -> list[str]:
        contents = [{"type": "text", "text": "read"}, *files]
        body = {"agent_id": agent, "input": {"contents": contents}, "conversation_id": "files"}
        return texts(host.http().post("/events?wait=result", json=body).json())

    send(given("notes.txt", small))
    assert "[file: notes.txt]\nremember the milk\n[end of file: notes.txt]" in str(
        host.requests(1)[0]["messages"][-1]["content"]
    )

    host.server.will(Say("wait"))
    send(given("long.txt", large))
    note = str(host.requests(2)[1]["messages"][-1]["content"])
    artifact = note.partition("artifact ")[2].partition("]")[0]
    host.server.will(
        calls("artifact_read", {"artifact_id": artifact}, id="r0"),
        calls("artifact_read", {"artifact_id": artifact, "offset": 24000}, id="r1"),
        Say("done"),
    )
    assert ask(host, agent, "read on", "files") == ["done"]
    pieces = [each["content"] for each in host.requests(5)[4]["messages"] if each["role"] == "tool"][-2:]
    assert pieces[0].endswith(f"\n[next offset 24000 of {len(large)}]")
    assert "".join(piece.rpartition("\n[next")[0] for piece in pieces) == large[:48000]
