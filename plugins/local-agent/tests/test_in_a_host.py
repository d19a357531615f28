"""Tests the local agent with its own manifest: its calls, its messages to the model, and its behaviour when stopped."""

import asyncio
import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from parlour_sdk.agents import ToolDetails, tool_calls
from parlour_sdk.agents.call_rate import CallPacer
from parlour_sdk.agents.tools import load_tools
from parlour_sdk.protocol.content import AgentInput, MediaElement, MentionElement, QuoteElement, TextElement
from parlour_sdk.protocol.models import InvokeModel
from parlour_sdk.protocol.platform_events import MemberJoined
from parlour_sdk.protocol.resources import AgentResources, ToolResource
from parlour_sdk.protocol.tools import ToolDetail
from parlour_sdk.testing import FakeHost, FakeModel, event, failure, reply, tool_call

FOLDER = Path(__file__).parents[1]
MODEL = {"primary": "m", "fallbacks": []}
CONFIG: dict[str, Any] = {"model": MODEL, "prompt": "Be kind.", "guidance": False}


async def test_a_plain_turn_calls_for_one_history_page_one_answer_and_steering() -> None:
    host = FakeHost(models={"m": "yes"})
    first, second = [await host.run(FOLDER, "hi", config=CONFIG) for _ in range(2)]
    assert [call.action for call in first.calls] == ["invoke_llm_stream", "steering_pull"]
    assert [call.action for call in second.calls] == ["history_page", "invoke_llm_stream", "steering_pull"]


async def test_a_platform_without_streaming_gets_no_fragments() -> None:
    host = FakeHost(models={"m": "yes indeed"})
    run = await host.run(FOLDER, "hi", config=CONFIG, context={"delivery": {"surface": "onebot"}})
    assert (run.text, run.deltas) == ("yes indeed", [])
    assert "invoke_llm" in [call.action for call in run.calls]


async def test_an_empty_message_is_answered_with_silence() -> None:
    assert (await FakeHost(models={"m": "yes"}).run(FOLDER, " ", config=CONFIG)).silent


async def test_quotes_and_mentions_are_written_out_and_media_stay() -> None:
    requests: list[InvokeModel] = []
    host = FakeHost(models={"m": FakeModel(lambda request: requests.append(request) or "yes", abilities=("vision",))})
    contents = [
        QuoteElement(sender="Bob", contents=[TextElement(text="one\ntwo")]),
        MentionElement(user_id="7", name="Ann"),
        TextElement(text="is that so?"),
        MediaElement(type="image", name="cat.png", url="https://example.org/cat.png"),
        MediaElement(type="file", name="a.pdf", mime_type="application/pdf", url="https://example.org/a.pdf"),
    ]
    await host.run(FOLDER, AgentInput(contents=contents), config=CONFIG)
    text, picture, note = requests[0].messages[-1].content
    assert text.text == "> Bob wrote:\n> one\n> two\n\n@Ann is that so?"  # type: ignore[union-attr]
    assert (picture.type, note.type) == ("image", "text")  # type: ignore[union-attr]
    assert note.text == "[file: a.pdf, application/pdf, https://example.org/a.pdf]"  # type: ignore[union-attr]
    await host.run(FOLDER, "and now?", config=CONFIG)
    assert [each.type for each in requests[1].messages[1].content] == ["text", "image", "text"]  # type: ignore[union-attr]


async def test_a_missing_picture_does_not_prevent_an_answer() -> None:
    requests: list[InvokeModel] = []

    def answer(request: InvokeModel) -> Any:
        requests.append(request)
        seen = not isinstance(request.messages[-1].content, str)
        return failure("not_found") if seen else reply(tool_calls=[tool_call("clock")]) if len(requests) < 3 else "yes"

    model = FakeModel(answer, abilities=("vision", "tools"))
    host = FakeHost(models={"m": model}, tools={"clock": "noon"})
    picture = MediaElement(type="image", name="cat.png", url="https://example.org/cat.png")
    run = await host.run(FOLDER, [TextElement(text="what?"), picture], config={**CONFIG, "tools": ["clock"]})
    assert (run.text, len(requests)) == ("yes", 3)
    assert requests[1].messages[-1].content == "what?\n[image: cat.png, https://example.org/cat.png]"


async def test_only_the_latest_of_many_pictures_are_passed() -> None:
    requests: list[InvokeModel] = []
    host = FakeHost(models={"m": FakeModel(lambda request: requests.append(request) or "yes", abilities=("vision",))})
    pictures = [MediaElement(type="image", url=f"https://example.org/{number}.png") for number in range(10)]
    for _ in range(2):
        await host.run(FOLDER, pictures, config=CONFIG)
    older, newer = requests[1].messages[1].content, requests[1].messages[-1].content
    assert [each.type for each in newer] == ["image"] * 10  # type: ignore[union-attr]
    assert [each.type for each in older] == ["image"] * 6 + ["text"] * 4  # type: ignore[union-attr]


async def test_an_event_is_described_by_its_template() -> None:
    prompts: list[str] = []
    host = FakeHost(models={"m": lambda request: prompts.append(request.messages[-1].content) or "Welcome!"})
    templates = {"group.member_joined": "{{event.member.user.nickname}} came to {{group}}."}
    run = await host.run(FOLDER, event=event(MemberJoined), config={**CONFIG, "event_templates": templates})
    assert (run.text, prompts) == ("Welcome!", ["User One came to Group One."])


async def test_a_failing_knowledge_base_does_not_prevent_the_search_of_other_bases() -> None:
    prompts: list[str] = []
    host = FakeHost(
        models={"m": lambda request: prompts.append(str(request.messages[-1].content)) or "yes"},
        knowledge={"down": failure("runtime_error"), "up": ["tea is hot"]},
    )
    run = await host.run(FOLDER, "is tea hot", config={**CONFIG, "knowledge_bases": ["down", "up"]})
    assert "[1] up.txt\ntea is hot" in prompts[0]
    assert (run.messages[0].metadata or {})["citations"][0]["file_name"] == "up.txt"


async def test_steering_messages_are_searched_in_the_knowledge_too() -> None:
    requests: list[InvokeModel] = []
    host = FakeHost(
        models={"m": lambda request: requests.append(request) or "yes"}, knowledge={"kb": ["tea is hot", "ice is cold"]}
    )
    config = {**CONFIG, "knowledge_bases": ["kb"], "retrieve_top_k": 1}
    run = await host.run(FOLDER, "is tea hot", config=config, steering=["is ice cold"])
    assert [each.content for each in run.messages] == ["yes", "yes"]
    assert "[2] kb.txt\nice is cold" in str(requests[1].messages[-1].content)


async def test_a_short_question_is_searched_for_with_the_one_before_and_cited_passages_stay() -> None:
    requests: list[InvokeModel] = []
    passages = ["tea was hot in spring", "tea was cold in autumn", "snow fell in autumn", "leaves fall in autumn"]
    host = FakeHost(
        models={"m": lambda request: requests.append(request) or "It was hot [1]."}, knowledge={"kb": passages}
    )
    config = {**CONFIG, "knowledge_bases": ["kb"], "retrieve_top_k": 2}
    run = await host.run(
        FOLDER, "was the tea in the large pot of the harbour master hot or cold in spring", config=config
    )
    assert [each["number"] for each in (run.messages[0].metadata or {})["passages"]] == [1]
    await host.run(FOLDER, "in autumn?", config=config)
    *history, question = [str(each.content) for each in requests[1].messages]
    assert "tea was cold in autumn" in question
    assert any("[1] kb.txt\ntea was hot in spring" in each for each in history)


async def test_a_quick_model_with_many_rounds_stays_below_the_call_limit_of_the_host() -> None:
    numbers = itertools.count()
    model = lambda request: reply(tool_calls=[tool_call("clock", {"number": next(numbers)})])  # noqa: E731
    host = FakeHost(models={"m": model}, tools={"clock": lambda number: "noon"}, timeout=60)
    run = await host.run(FOLDER, "go", config={**CONFIG, "tools": ["clock"], "max_tool_rounds": 40})
    assert (len(run.tool_calls), run.finish_reason) == (40, "tool_limit")
    assert not any(call.error for call in run.calls)


async def test_only_tool_rounds_count_as_rounds() -> None:
    host = FakeHost(models={"m": "yes"})
    run = await host.run(FOLDER, "one", config={**CONFIG, "max_tool_rounds": 0}, steering={1: "two", 2: "three"})
    assert ([each.content for each in run.messages], run.finish_reason) == (["yes", "yes", "yes"], "stop")


async def test_a_cancelled_run_leaves_no_tool_behind() -> None:
    ended = asyncio.Event()

    async def slow() -> str:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    host = FakeHost(models={"m": reply(tool_calls=[tool_call("slow")])}, tools={"slow": slow})
    async with host.start(FOLDER, "go", config={**CONFIG, "tools": ["slow"]}) as run:
        await run.until(lambda run: any(call.action == "call_tool" for call in run.calls))
        run.cancel()
    assert (run.status, run.warnings) == ("cancelled", [])
    await asyncio.wait_for(ended.wait(), 30)


async def test_a_run_ends_as_a_timeout_at_its_deadline() -> None:
    async def never(request: InvokeModel) -> str:
        await asyncio.Event().wait()
        return ""

    run = await FakeHost(models={"m": never}).run(FOLDER, "go", config=CONFIG, timeout=0.2)
    assert (run.status, run.code, run.warnings) == ("timeout", "runner.timeout", [])


async def test_the_model_receives_the_timeout_of_a_slow_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    async def slow() -> str:
        await asyncio.Event().wait()
        return ""

    monkeypatch.setattr(tool_calls, "CALL_TIMEOUT_SECONDS", 0.01)
    script = [reply(tool_calls=[tool_call("slow")]), "It is late."]
    host = FakeHost(models={"m": script}, tools={"slow": slow})
    run = await host.run(FOLDER, "go", config={**CONFIG, "tools": ["slow"]})
    assert run.text == "It is late."
    [completed] = [each for each in run.results if each.type == "tool.call.completed"]
    assert completed.data["error"] == "The tool did not answer within 0.01 seconds."


async def test_a_long_output_is_stored_completely_and_passed_in_part() -> None:
    calls: list[InvokeModel] = []
    script = iter([reply(tool_calls=[tool_call("book")]), "I read it."])
    host = FakeHost(models={"m": lambda request: calls.append(request) or next(script)}, tools={"book": "x" * 50_000})
    run = await host.run(FOLDER, "read", config={**CONFIG, "tools": ["book"]})
    shown = str(calls[1].messages[-1].content)
    assert len(shown) < 9000
    [kept] = [call.answer for call in run.calls if call.action == "artifact_create"]
    assert f"the whole is artifact {kept.artifact.artifact_id}; read on with artifact.read" in shown
    assert shown.endswith("x" * 2000)


async def test_a_long_output_that_can_not_be_stored_is_passed_in_part() -> None:
    script = [reply(tool_calls=[tool_call("book")]), "I read it."]
    host = FakeHost(models={"m": script}, tools={"book": "x" * 50_000})
    host.fail("artifact_create", "runtime_error")
    assert (await host.run(FOLDER, "read", config={**CONFIG, "tools": ["book"]})).text == "I read it."


async def test_a_model_without_tool_calls_gets_no_tools() -> None:
    requests: list[InvokeModel] = []
    model = FakeModel(lambda request: requests.append(request) or "yes", abilities=("vision",))
    await FakeHost(models={"m": model}, tools={"clock": "noon"}).run(
        FOLDER, "hi", config={**CONFIG, "tools": ["clock"]}
    )
    assert requests[0].tools is None


async def test_it_makes_no_call_without_a_permission_in_its_manifest() -> None:
    script = [reply(tool_calls=[tool_call("activate_skill", {"name": "cook"}), tool_call("clock")]), "done"]
    host = FakeHost(models={"m": script}, tools={"clock": "noon"}, skills={"cook": "Heat."}, knowledge={"kb": ["go"]})
    run = await host.run(FOLDER, "go", config={**CONFIG, "tools": ["clock"], "knowledge_bases": ["kb"]})
    assert run.text == "done"
    assert not any(call.error for call in run.calls)


async def test_a_tool_without_details_is_left_out_and_names_are_unique() -> None:
    requests: list[InvokeModel] = []
    host = FakeHost(
        models={"m": lambda request: requests.append(request) or "yes"},
        tools={"one": "1", "two": "2", "activate_skill": "mine"},
        skills={"cook": "Heat."},
    )
    host.fail("get_tool_detail", "not_found")
    run = await host.run(FOLDER, "go", config={**CONFIG, "tools": ["one", "two", "activate_skill"]})
    assert run.text == "yes"
    assert [each.name for each in requests[0].tools or []] == ["two", "activate_skill"]


async def test_the_details_of_a_tool_are_kept_as_long_as_its_version_is_the_same() -> None:
    loaded: list[str] = []

    class Tools:
        async def get(self, name: str) -> ToolDetail:
            loaded.append(name)
            return ToolDetail(tool_name=name, description="the time", parameters_schema={}, source="native")

        async def call(self, name: str, parameters: dict[str, Any]) -> None: ...

    details = ToolDetails()
    for version in ("1", "1", "2", None, None):
        tool = ToolResource(tool_name="clock", source="native", operations=["call", "detail"], version=version)
        ctx = SimpleNamespace(run_id="run", resources=AgentResources(tools=[tool]))
        toolbox = await load_tools(ctx, SimpleNamespace(tools=Tools()), CallPacer(), (), details)  # type: ignore[arg-type]
        assert toolbox.names == ["clock"]
    assert len(loaded) == 4, "versions 1 and 2, and each time without a version"
