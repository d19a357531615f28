"""Tests long conversations, large files and outputs, and interrupted answers on the chat socket, QQ and Telegram.

Each test looks at the exact requests that the model's service got. Short talks are in `test_agent_on_surfaces`.
"""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from parlour.testing.model_server import ModelServer, Raw, Say, event
from tests.support.agent_doors import DOORS, open_door, open_group
from tests.support.agents import AgentHost
from tests.support.chat import Chat
from tests.support.harness import Json, eventually

pytestmark = pytest.mark.long

LINES = "".join(f"line {number}\n" for number in range(6000))
SMALL_WINDOW = 8000


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentHost]:
    with ModelServer() as server:
        host = AgentHost(tmp_path_factory.mktemp("findings"), server, PARLOUR__RUNS__PER_SENDER_PER_MINUTE="10000")
        yield host
        host.close()


@pytest.fixture(autouse=True)
def nothing_asked(host: AgentHost) -> None:
    host.server.forget()


def calls(name: str, id: str = "c1", text: str = "", /, **arguments: Any) -> Say:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return Say(text, tool_calls=[{"index": 0, "id": id, "function": function}])


def is_summary(request: Json) -> bool:
    return "You keep the memory" in str(request["messages"][0])


def answers(host: AgentHost) -> list[Json]:
    """Returns the requests for answers, without those for summaries."""
    return [each.body for each in host.server.requests if not is_summary(each.body)]


def results(request: Json) -> list[str]:
    return [each["content"] for each in request["messages"] if each["role"] == "tool"]


def other_model(host: AgentHost, server: ModelServer) -> str:
    """Adds a model of another service."""
    provider = {"name": "Other", "kind": "openai-compatible", "base_url": f"{server.address}/v1", "api_keys": ["sk-x"]}
    provider_id = host.http().post("/model-providers", json=provider).json()["provider_id"]
    return str(host.http().post("/models", json={"provider_id": provider_id, "name": "other"}).json()["model_id"])


def said(request: Json) -> str:
    return "\n".join(str(each["content"]) for each in request["messages"])


@pytest.mark.parametrize("door", DOORS)
async def test_a_small_text_file_is_in_the_prompt_and_a_large_one_is_read_in_pieces(host: AgentHost, door: str) -> None:
    async with open_door(door, host, host.local(host.model())) as chat:
        host.server.will(Say("Milk."), Say("It is long."))
        assert await chat.give("what is in it?", "notes.txt", b"remember the milk") == "Milk."
        assert await chat.give("and this?", "long.txt", LINES.encode()) == "It is long."
        small, large = answers(host)
        assert "[file: notes.txt]\nremember the milk\n[end of file: notes.txt]" in said(small)
        found = re.search(r"long\.txt.*?artifact ([0-9a-f-]{36})", said(large), re.DOTALL)
        assert found is not None, said(large)[-500:]
        host.server.will(
            calls("artifact_read", "r0", artifact_id=found[1]),
            calls("artifact_read", "r1", artifact_id=found[1], offset=24000),
            Say("Six thousand lines."),
        )
        assert await chat.ask("how many lines?") == "Six thousand lines."
    pieces = results(answers(host)[4])[-2:]
    assert pieces[0].endswith(f"\n[next offset 24000 of {len(LINES)}]")
    assert "".join(piece.rpartition("\n[next")[0] for piece in pieces) == LINES[:48000]


@pytest.mark.parametrize("door", DOORS)
async def test_a_result_that_does_not_fit_is_cut_to_what_fits_with_its_beginning_and_end(
    host: AgentHost, door: str
) -> None:
    agent = host.local(host.model(context_window=SMALL_WINDOW, max_output_tokens=1000), context_tokens=0)
    async with open_door(door, host, agent) as chat:
        host.server.will(Say("It is long."))
        await chat.give("keep this", "long.txt", LINES.encode())
        found = re.search(r"long\.txt.*?artifact ([0-9a-f-]{36})", said(answers(host)[0]), re.DOTALL)
        assert found is not None
        host.server.will(calls("artifact_read", artifact_id=found[1]), Say("Read."))
        assert await chat.ask("read it") == "Read."
    [result] = results(answers(host)[2])
    assert 4000 < len(result) < SMALL_WINDOW * 4
    assert result.startswith("line 0\nline 1\n")


@pytest.mark.parametrize("door", DOORS)
async def test_history_is_as_long_as_the_window_allows(host: AgentHost, door: str) -> None:
    turns = 40
    agent = host.local(host.model(context_window=200_000), context_tokens=0)
    async with open_door(door, host, agent) as chat:
        for turn in range(turns):
            host.server.will(Say(f"answer {turn}"))
            assert await chat.ask(f"question {turn}") == f"answer {turn}"
    last = answers(host)[-1]
    assert not any(is_summary(each.body) for each in host.server.requests)
    assert len(last["messages"]) == 2 * turns
    assert "question 0\n" in f"{said(last)}\n"


@pytest.mark.parametrize("door", DOORS)
async def test_a_summary_is_made_beside_the_answer_from_whole_messages_and_a_cut_one_is_refused(
    host: AgentHost, door: str
) -> None:
    with ModelServer() as summaries:
        agent = host.local(host.model(), summary_model=other_model(host, summaries), context_tokens=1200)
        summaries.will(*(Say("The code is 47", finish_reason="length") for _ in range(5)))
        async with open_door(door, host, agent) as chat:
            for number in range(5):
                host.server.will(Say(f"answer {number}"))
                text = f"{'Something to remember. ' * 130}The code is 471{number}."
                assert await chat.ask(text) == f"answer {number}"
            eventually(lambda: summaries.requests, "a summary is asked for")
    sources = [str(each.body["messages"]) for each in summaries.requests]
    assert all("The code is 4710." in source for source in sources), "the end of a long message is in the source"
    assert "The code is 47\n" not in "\n".join(said(each) + "\n" for each in answers(host)), "a cut summary is refused"


async def test_text_that_was_shown_before_a_person_stopped_it_is_remembered(host: AgentHost) -> None:
    words = b"".join(event({"content": f"word{number} "}) for number in range(20))
    async with Chat(host, host.local(host.model())) as chat:
        host.server.will(Raw(words, then="stall"), Say("Here is the rest."))
        await chat.send(type="message", text="tell a story")
        while (await chat.frame())["type"] != "delta":
            pass
        await chat.send(type="message", text="/stop")
        while (await chat.frame())["type"] != "run":
            pass
        await chat.send(type="message", text="go on")
        eventually(lambda: len(answers(host)) == 2, "the next request")
    assert re.search(r"word0 .*\(interrupted here\)", said(answers(host)[1]))


@pytest.mark.parametrize("door", DOORS)
async def test_an_answer_that_was_filtered_in_the_middle_says_so(host: AgentHost, door: str) -> None:
    async with open_door(door, host, host.local(host.model())) as chat:
        host.server.will(Say("I can", finish_reason="content_filter"))
        seen = await chat.ask("tell")
    assert seen == "I can\n\n… (the model's service withheld the rest because of its content rules)"


@pytest.mark.parametrize("door", DOORS)
async def test_one_question_has_one_message_whatever_the_model_says_before_its_tools(
    host: AgentHost, door: str
) -> None:
    async with open_door(door, host, host.local(host.model())) as chat:
        host.server.will(
            calls("time_now", "", "Step 0."), calls("time_now", "", "Step 1.", zone="Asia/Tokyo"), Say("Final.")
        )
        seen = await chat.ask("when?")
        assert seen == "Final." if door == "onebot" else seen.endswith("Final.")
        host.server.will(Say("Second."))
        assert await chat.ask("again?") == "Second."
    ids = [call["id"] for each in answers(host)[2]["messages"] for call in each.get("tool_calls") or ()]
    assert len(ids) == len(set(ids)) == 2


async def test_most_of_each_request_of_a_group_is_the_beginning_of_the_one_before(host: AgentHost) -> None:
    async with open_group("onebot", host, host.local(host.model())) as group:
        for turn in range(40):
            await group.say(501, f"heard {turn}")
            script = (calls("time_now"), Say(f"answer {turn}")) if turn % 4 == 0 else (Say(f"answer {turn}"),)
            host.server.will(*script)
            await group.ask(502 + turn % 2, f"question {turn}")
    requests = [said(each) for each in answers(host)]
    shared = sum(_common_prefix(before, after) for before, after in pairwise(requests))
    assert shared / sum(map(len, requests[1:])) >= 0.85


def _common_prefix(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (first, second) in pairs if first != second), min(len(one), len(other)))
