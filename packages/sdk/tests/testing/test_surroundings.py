"""Tests the resources of a run in a fake Host: models, tools, knowledge, history, files, state and storage."""

from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from parlour_sdk import results
from parlour_sdk.components import Tool, ToolError
from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.protocol.skills import ActiveSkill
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.testing import (
    FakeHost,
    FakeModel,
    FakeTool,
    embedding,
    failure,
    reply,
    reranker,
    tool_call,
)

from .recording import RecordingCall, answer_of, failed_run
from .runners import runner, yielding


async def streamed(api: Any, model: str = "m") -> list[Any]:
    return [chunk async for chunk in api.models.stream(model, "hi there")]


def texts_of(chunks: list[Any]) -> list[str]:
    return [chunk.chunk.content for chunk in chunks if chunk.chunk.content]


async def test_a_model_given_as_a_text_always_answers_with_it() -> None:
    host = FakeHost(models={"m": "hello to you"})
    for _ in range(2):
        answer = await answer_of(host, lambda api: api.models.invoke("m", "hi there"))
        assert (answer.message.content, answer.finish_reason, answer.model_id) == ("hello to you", "stop", "m")
        assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (2, 3)


async def test_a_text_is_streamed_word_by_word_and_fragments_unchanged() -> None:
    assert texts_of(await answer_of(FakeHost(models={"m": "one two  three"}), streamed)) == ["one", " two", "  three"]
    assert texts_of(await answer_of(FakeHost(models={"m": reply("on", "e")}), streamed)) == ["on", "e"]


async def test_the_last_chunk_has_usage_and_finish_reason() -> None:
    chunks = await answer_of(FakeHost(models={"m": reply("a", reasoning="hm", usage=Usage(prompt_tokens=9))}), streamed)
    assert chunks[0].chunk.reasoning == "hm"
    assert (chunks[-1].chunk.is_final, chunks[-1].usage.prompt_tokens, chunks[-1].finish_reason) == (True, 9, "stop")


async def test_a_list_has_one_reply_for_each_call_in_order() -> None:
    host = FakeHost(models={"m": [reply(tool_calls=[tool_call("look", {"at": 1})]), "done"]})
    first = await answer_of(host, lambda api: api.models.invoke("m", "hi"))
    assert (first.message.tool_calls[0].name, first.message.tool_calls[0].arguments) == ("look", {"at": 1})
    assert first.finish_reason == "tool_calls"
    assert (await answer_of(host, lambda api: api.models.invoke("m", "hi"))).message.content == "done"
    run = await failed_run(host, lambda api: api.models.invoke("m", "hi"))
    assert run.error is not None
    assert "2 replies, and this is call 3" in run.error


async def test_a_model_given_as_a_function_receives_the_request() -> None:
    async def script(request: Any) -> str:
        return f"{request.messages[-1].content}!"

    assert (
        await answer_of(FakeHost(models={"m": script}), lambda api: api.models.invoke("m", "hi"))
    ).message.content == ("hi!")


async def test_an_exception_of_a_model_function_is_raised_to_the_test() -> None:
    def script(request: Any) -> str:
        assert request.messages[0].role == "system", "the prompt is missing"
        return ""

    with pytest.raises(AssertionError, match="the prompt is missing"):
        await FakeHost(models={"m": script}).run(runner(RecordingCall(lambda api: api.models.invoke("m", "hi")).body))


async def test_a_model_can_fail_at_once_and_during_its_stream() -> None:
    host = FakeHost(models={"m": failure("rate_limited", "slow down", retryable=True, after="one two", limit=5)})
    run = await failed_run(host, lambda api: api.models.invoke("m", "hi"))
    assert run.failed_with("rate_limited")
    assert run.retryable

    async def partly(api: Any) -> list[str]:
        seen: list[str] = []
        async with aclosing(api.models.stream("m", "hi")) as stream:
            try:
                async for chunk in stream:
                    seen.append(chunk.chunk.content)
            except AgentAPIException as error:
                seen.append(f"{error.code} {error.details}")
        return seen

    assert await answer_of(host, partly) == ["one", " two", "rate_limited {'limit': 5}"]


async def test_usage_of_all_model_calls_is_counted() -> None:
    async def twice(api: Any) -> None:
        await api.models.invoke("m", "a b")
        await streamed(api)
        await api.tools.call("t")

    run = await FakeHost(models={"m": "x"}, tools={"t": "ok"}).run(runner(RecordingCall(twice).body))
    assert (run.usage.prompt_tokens, run.usage.completion_tokens) == (4, 2)
    assert (run.usage.model_calls, run.usage.tool_calls) == (2, 1)


async def test_the_context_lists_models_with_their_abilities() -> None:
    model = FakeModel("x", context_window=8000, abilities=("vision",))
    run = await FakeHost(models={"m": model, "e": embedding()}).run(yielding(results.silent()))
    first, second = run.context.resources.models
    assert (first.model_id, first.context_window, first.abilities) == ("m", 8000, ["vision"])
    assert (sorted(first.operations), second.type, second.operations) == (["invoke", "stream"], "embedding", ["embed"])


async def test_embeddings_of_texts_with_the_same_words_are_equal() -> None:
    vectors = await answer_of(
        FakeHost(models={"e": embedding()}), lambda api: api.models.embed("e", ["red cat", "cat red", "blue"])
    )
    assert vectors[0] == vectors[1] != vectors[2]
    assert await answer_of(
        FakeHost(models={"e": embedding(lambda text: [1.0])}), lambda api: api.models.embed("e", ["a"])
    )


async def test_documents_are_ranked_by_the_words_of_the_query() -> None:
    scores = await answer_of(
        FakeHost(models={"r": reranker()}), lambda api: api.models.rerank("r", "red cat", ["dog", "red cat", "cat"])
    )
    assert [score.index for score in scores] == [1, 2, 0]


def weather(city: str, days: int = 1) -> str:
    """How the weather is."""
    return f"{city} {days}"


async def test_a_tool_given_as_a_function_has_its_schema() -> None:
    host = FakeHost(tools={"weather": weather})
    outcome = await answer_of(host, lambda api: api.tools.call("weather", {"city": "Oslo"}))
    assert (outcome.content[0].text, outcome.is_error) == ("Oslo 1", False)
    detail = await answer_of(host, lambda api: api.tools.get("weather"))
    assert (detail.description, detail.parameters_schema["required"]) == ("How the weather is.", ["city"])


async def test_tool_calls_of_a_run_are_recorded() -> None:
    run = await FakeHost(tools={"weather": weather}).run(
        runner(RecordingCall(lambda api: api.tools.call("weather", {"city": "Oslo"})).body)
    )
    assert run.tool_calls == [("weather", {"city": "Oslo"})]
    assert [call.action for call in run.calls] == ["call_tool"]


async def test_a_failing_tool_is_reported_to_the_model_and_the_test() -> None:
    def broken(city: str) -> str:
        raise ValueError(city)

    def unwilling(city: str) -> str:
        raise ToolError("no such city")

    recorded = RecordingCall(lambda api: api.tools.call("t", {"city": "Oslo"}))
    run = await FakeHost(tools={"t": broken}).run(runner(recorded.body))
    assert recorded.answers[0].is_error
    assert "ValueError('Oslo')" in run.warnings[0]
    outcome = await answer_of(FakeHost(tools={"t": unwilling}), lambda api: api.tools.call("t", {"city": "x"}))
    assert (outcome.is_error, outcome.content[0].text) == (True, "no such city")
    host = FakeHost(tools={"t": failure("rate_limited")})
    assert (await failed_run(host, lambda api: api.tools.call("t"))).failed_with("rate_limited")


class Doubling(Tool):
    async def call(self, parameters: dict[str, Any], ctx: Any) -> Any:
        await ctx.api.storage.set("plugin", "last", str(parameters["n"]).encode())
        return parameters["n"] * 2


async def test_a_tool_can_be_a_component_or_a_fake_tool() -> None:
    host = FakeHost(tools={"double": Doubling(), "own": FakeTool({"a": 1}, read_only=True)})
    assert (await answer_of(host, lambda api: api.tools.call("double", {"n": 4}))).content[0].value == 8
    assert host.storage["plugin"] == {"last": b"4"}
    assert (await answer_of(host, lambda api: api.tools.call("own"))).content[0].value == {"a": 1}
    assert (await answer_of(host, lambda api: api.tools.get("own"))).read_only


async def test_knowledge_is_found_by_its_words() -> None:
    host = FakeHost(knowledge={"docs": ["the cat", "a red dog", "the red cat"]})
    chunks = await answer_of(host, lambda api: api.knowledge.retrieve("docs", "red cat", top_k=2))
    assert [chunk.content for chunk in chunks] == ["the red cat", "the cat"]
    assert [base.kb_id for base in await answer_of(host, lambda api: api.knowledge.list())] == ["docs"]
    host = FakeHost(knowledge={"docs": lambda query, top_k, filters: [f"{query} {filters}"]})
    assert (await answer_of(host, lambda api: api.knowledge.retrieve("docs", "q", filters={"a": 1})))[0].content == (
        "q {'a': 1}"
    )


async def test_skills_are_listed_and_activated() -> None:
    own = ActiveSkill(skill_name="sum", instructions="add", files=["a.py"], metadata={"description": "adds"})
    host = FakeHost(skills={"brief": "be brief", "sum": own})
    assert (await answer_of(host, lambda api: api.skills.activate("brief"))).instructions == "be brief"
    assert [each.description for each in await answer_of(host, lambda api: api.skills.list())] == [None, "adds"]


async def test_files_of_a_configuration_are_read(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("from disk")
    host = FakeHost(files={"a": b"x" * 300_000, "b": tmp_path / "b.txt"})
    assert (await answer_of(host, lambda api: api.files.get("a"))).content == b"x" * 300_000
    fetched = await answer_of(host, lambda api: api.files.get("b"))
    assert (fetched.content, fetched.file_name, fetched.mime_type) == (b"from disk", "b.txt", "text/plain")
