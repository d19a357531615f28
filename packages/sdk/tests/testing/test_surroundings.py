"""What a run finds around it: scripted models and tools, knowledge, history, files, and everything that is kept."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from parlour_sdk import results
from parlour_sdk.components import Tool, ToolError
from parlour_sdk.protocol.actions import ActionOutcome
from parlour_sdk.protocol.content import AgentInput, MediaElement, TextElement
from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.protocol.events import Actor
from parlour_sdk.protocol.limits import STATE_LIST_KEYS, STATE_VALUE_BYTES
from parlour_sdk.protocol.people import User
from parlour_sdk.protocol.platform_events import MemberJoined, ScheduleTriggered
from parlour_sdk.protocol.skills import ActiveSkill
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.results import Result
from parlour_sdk.testing import (
    FakeHost,
    FakeModel,
    FakeRun,
    FakeTool,
    embedding,
    event,
    failure,
    message,
    reply,
    reranker,
    tool_call,
)

from .runners import runner, yielding


class Asked:
    """Asks the Host something in a run, and keeps what it was told."""

    def __init__(self, ask: Any) -> None:
        self._ask = ask
        self.answers: list[Any] = []

    async def body(self, ctx: Any, api: Any) -> AsyncGenerator[Result, None]:
        self.answers.append(await self._ask(api))
        yield results.silent()


async def told(host: FakeHost, ask: Any) -> Any:
    asked = Asked(ask)
    run = await host.run(runner(asked.body), "hi there")
    assert run.silent, run
    return asked.answers[0]


async def refused(host: FakeHost, ask: Any) -> FakeRun:
    run = await host.run(runner(Asked(ask).body), "hi there")
    assert run.status == "failed", run
    return run


async def streamed(api: Any, model: str = "m") -> list[Any]:
    return [chunk async for chunk in api.models.stream(model, "hi there")]


def said(chunks: list[Any]) -> list[str]:
    return [chunk.chunk.content for chunk in chunks if chunk.chunk.content]


async def test_a_model_that_is_a_text_says_it_every_time() -> None:
    host = FakeHost(models={"m": "hello to you"})
    for _ in range(2):
        answer = await told(host, lambda api: api.models.invoke("m", "hi there"))
        assert (answer.message.content, answer.finish_reason, answer.model_id) == ("hello to you", "stop", "m")
        assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (2, 3)


async def test_a_text_is_streamed_word_by_word_and_pieces_as_they_are() -> None:
    assert said(await told(FakeHost(models={"m": "one two  three"}), streamed)) == ["one", " two", "  three"]
    assert said(await told(FakeHost(models={"m": reply("on", "e")}), streamed)) == ["on", "e"]


async def test_the_last_chunk_has_usage_and_reason() -> None:
    chunks = await told(FakeHost(models={"m": reply("a", reasoning="hm", usage=Usage(prompt_tokens=9))}), streamed)
    assert chunks[0].chunk.reasoning == "hm"
    assert (chunks[-1].chunk.is_final, chunks[-1].usage.prompt_tokens, chunks[-1].finish_reason) == (True, 9, "stop")


async def test_a_list_is_one_reply_for_each_call_in_turn() -> None:
    host = FakeHost(models={"m": [reply(tool_calls=[tool_call("look", {"at": 1})]), "done"]})
    first = await told(host, lambda api: api.models.invoke("m", "hi"))
    assert (first.message.tool_calls[0].name, first.message.tool_calls[0].arguments) == ("look", {"at": 1})
    assert first.finish_reason == "tool_calls"
    assert (await told(host, lambda api: api.models.invoke("m", "hi"))).message.content == "done"
    run = await refused(host, lambda api: api.models.invoke("m", "hi"))
    assert run.error is not None
    assert "2 replies, and this is call 3" in run.error


async def test_a_function_answers_by_what_it_was_asked() -> None:
    async def script(request: Any) -> str:
        return f"{request.messages[-1].content}!"

    assert (await told(FakeHost(models={"m": script}), lambda api: api.models.invoke("m", "hi"))).message.content == (
        "hi!"
    )


async def test_what_the_tests_own_function_raises_is_raised_to_the_test() -> None:
    def script(request: Any) -> str:
        assert request.messages[0].role == "system", "the prompt is missing"
        return ""

    with pytest.raises(AssertionError, match="the prompt is missing"):
        await FakeHost(models={"m": script}).run(runner(Asked(lambda api: api.models.invoke("m", "hi")).body))


async def test_a_model_can_fail_at_once_and_in_the_midst() -> None:
    host = FakeHost(models={"m": failure("rate_limited", "slow down", retryable=True, after="one two", limit=5)})
    run = await refused(host, lambda api: api.models.invoke("m", "hi"))
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

    assert await told(host, partly) == ["one", " two", "rate_limited {'limit': 5}"]


async def test_usage_of_all_model_calls_is_counted() -> None:
    async def twice(api: Any) -> None:
        await api.models.invoke("m", "a b")
        await streamed(api)
        await api.tools.call("t")

    run = await FakeHost(models={"m": "x"}, tools={"t": "ok"}).run(runner(Asked(twice).body))
    assert (run.usage.prompt_tokens, run.usage.completion_tokens) == (4, 2)
    assert (run.usage.model_calls, run.usage.tool_calls) == (2, 1)


async def test_models_are_told_with_what_they_can_do() -> None:
    model = FakeModel("x", context_window=8000, abilities=("vision",))
    run = await FakeHost(models={"m": model, "e": embedding()}).run(yielding(results.silent()))
    first, second = run.context.resources.models
    assert (first.model_id, first.context_window, first.abilities) == ("m", 8000, ["vision"])
    assert (sorted(first.operations), second.type, second.operations) == (["invoke", "stream"], "embedding", ["embed"])


async def test_texts_that_share_words_are_close() -> None:
    vectors = await told(
        FakeHost(models={"e": embedding()}), lambda api: api.models.embed("e", ["red cat", "cat red", "blue"])
    )
    assert vectors[0] == vectors[1] != vectors[2]
    assert await told(FakeHost(models={"e": embedding(lambda text: [1.0])}), lambda api: api.models.embed("e", ["a"]))


async def test_documents_are_ranked_by_the_words_of_the_query() -> None:
    scores = await told(
        FakeHost(models={"r": reranker()}), lambda api: api.models.rerank("r", "red cat", ["dog", "red cat", "cat"])
    )
    assert [score.index for score in scores] == [1, 2, 0]


def weather(city: str, days: int = 1) -> str:
    """How the weather is."""
    return f"{city} {days}"


async def test_a_tool_is_a_function_of_its_parameters() -> None:
    host = FakeHost(tools={"weather": weather})
    outcome = await told(host, lambda api: api.tools.call("weather", {"city": "Oslo"}))
    assert (outcome.content[0].text, outcome.is_error) == ("Oslo 1", False)
    detail = await told(host, lambda api: api.tools.get("weather"))
    assert (detail.description, detail.parameters_schema["required"]) == ("How the weather is.", ["city"])


async def test_tool_calls_are_there_to_assert_on() -> None:
    run = await FakeHost(tools={"weather": weather}).run(
        runner(Asked(lambda api: api.tools.call("weather", {"city": "Oslo"})).body)
    )
    assert run.tool_calls == [("weather", {"city": "Oslo"})]
    assert [call.action for call in run.calls] == ["call_tool"]


async def test_a_tool_that_fails_tells_the_model_and_the_test() -> None:
    def broken(city: str) -> str:
        raise ValueError(city)

    def unwilling(city: str) -> str:
        raise ToolError("no such city")

    asked = Asked(lambda api: api.tools.call("t", {"city": "Oslo"}))
    run = await FakeHost(tools={"t": broken}).run(runner(asked.body))
    assert asked.answers[0].is_error
    assert "ValueError('Oslo')" in run.warnings[0]
    outcome = await told(FakeHost(tools={"t": unwilling}), lambda api: api.tools.call("t", {"city": "x"}))
    assert (outcome.is_error, outcome.content[0].text) == (True, "no such city")
    host = FakeHost(tools={"t": failure("rate_limited")})
    assert (await refused(host, lambda api: api.tools.call("t"))).failed_with("rate_limited")


class Doubling(Tool):
    async def call(self, parameters: dict[str, Any], ctx: Any) -> Any:
        await ctx.api.storage.set("plugin", "last", str(parameters["n"]).encode())
        return parameters["n"] * 2


async def test_a_tool_component_can_be_among_the_tools() -> None:
    host = FakeHost(tools={"double": Doubling(), "own": FakeTool({"a": 1}, read_only=True)})
    assert (await told(host, lambda api: api.tools.call("double", {"n": 4}))).content[0].value == 8
    assert host.storage["plugin"] == {"last": b"4"}
    assert (await told(host, lambda api: api.tools.call("own"))).content[0].value == {"a": 1}
    assert (await told(host, lambda api: api.tools.get("own"))).read_only


async def test_knowledge_is_found_by_its_words() -> None:
    host = FakeHost(knowledge={"docs": ["the cat", "a red dog", "the red cat"]})
    chunks = await told(host, lambda api: api.knowledge.retrieve("docs", "red cat", top_k=2))
    assert [chunk.content for chunk in chunks] == ["the red cat", "the cat"]
    assert [base.kb_id for base in await told(host, lambda api: api.knowledge.list())] == ["docs"]
    host = FakeHost(knowledge={"docs": lambda query, top_k, filters: [f"{query} {filters}"]})
    assert (await told(host, lambda api: api.knowledge.retrieve("docs", "q", filters={"a": 1})))[0].content == (
        "q {'a': 1}"
    )


async def test_skills_are_seen_and_activated() -> None:
    own = ActiveSkill(skill_name="sum", instructions="add", files=["a.py"], metadata={"description": "adds"})
    host = FakeHost(skills={"brief": "be brief", "sum": own})
    assert (await told(host, lambda api: api.skills.activate("brief"))).instructions == "be brief"
    assert [each.description for each in await told(host, lambda api: api.skills.list())] == [None, "adds"]


async def test_files_of_a_configuration_are_read(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("from disk")
    host = FakeHost(files={"a": b"x" * 300_000, "b": tmp_path / "b.txt"})
    assert (await told(host, lambda api: api.files.get("a"))).content == b"x" * 300_000
    fetched = await told(host, lambda api: api.files.get("b"))
    assert (fetched.content, fetched.file_name, fetched.mime_type) == (b"from disk", "b.txt", "text/plain")


async def test_history_is_paged_in_the_order_of_the_conversation() -> None:
    host = FakeHost(history=[("user", "1"), ("assistant", "2"), ("user", "3")])

    async def pages(api: Any) -> list[list[str]]:
        last = await api.history.page(limit=2)
        before = await api.history.page(limit=2, before_cursor=last.next_cursor)
        after = await api.history.page(after_cursor=before.items[0].cursor, direction="forward", limit=1)
        assert (last.has_more, before.has_more, after.has_more) == (True, False, True)
        return [[item.content for item in page.items] for page in (last, before, after)]

    assert await told(host, pages) == [["3", "hi there"], ["1", "2"], ["2"]]
    run = await refused(host, lambda api: api.history.page(before_cursor="made up"))
    assert run.failed_with("invalid_argument")


async def test_history_is_searched() -> None:
    host = FakeHost(history=[("user", "a red cat"), ("assistant", "a dog"), ("assistant", "red")])
    found = await told(host, lambda api: api.history.search("red cat", {"roles": ["user"]}))
    assert [item.content for item in found.items] == ["a red cat"]


async def test_events_are_got_and_paged() -> None:
    host = FakeHost()
    first = await host.run(yielding(results.silent()), "one")

    async def look(api: Any) -> Any:
        return await api.events.get(first.context.event.event_id), await api.events.page(limit=1)

    record, page = await told(host, look)
    assert (record.input_summary, record.actor_id) == ("one", "user-1")
    assert ([item.input_summary for item in page.items], page.has_more) == (["hi there"], True)
    assert (await refused(host, lambda api: api.events.get("elsewhere"))).failed_with("not_found")


async def test_state_has_the_hosts_limits() -> None:
    async def fill(api: Any) -> Any:
        for number in range(90):
            await api.state.set("actor", f"k{number:03}", number)
        await api.state.delete("actor", "k000")
        return await api.state.list("actor", prefix="k00"), await api.state.get("actor", "k000", "gone")

    keys, gone = await told(FakeHost(), fill)
    assert (keys.keys[0], keys.has_more, gone) == ("k001", False, "gone")
    given = {"binding": {f"k{number}": 0 for number in range(STATE_LIST_KEYS + 1)}}
    listed = await told(FakeHost(state=given), lambda api: api.state.list("binding"))
    assert (len(listed.keys), listed.has_more) == (STATE_LIST_KEYS, True)
    large = "x" * (STATE_VALUE_BYTES + 2000)
    assert (await refused(FakeHost(), lambda api: api.state.set("actor", "k", large))).failed_with("payload_too_large")


async def test_state_belongs_to_its_actor_and_conversation() -> None:
    host = FakeHost(state={"actor": {"name": "One"}, "conversation": {"topic": "cats"}})
    other = Actor(actor_type="user", actor_id="user-2")
    assert (await host.run(yielding(results.silent()), "a")).state["actor"] == {"name": "One"}
    run = await host.run(yielding(results.silent()), "a", actor=other)
    assert (run.state["actor"], run.state["conversation"]) == ({}, {"topic": "cats"})


async def test_a_run_that_asks_too_often_is_slowed_as_by_the_host() -> None:
    async def many(api: Any) -> None:
        for _ in range(200):
            await api.host.version()

    assert (await refused(FakeHost(), many)).failed_with("rate_limited")


async def test_storage_keeps_bytes() -> None:
    host = FakeHost(storage={"plugin": {"a": b"1"}})

    async def use(api: Any) -> Any:
        await api.storage.set("plugin", "b", b"\x00")
        await api.storage.delete("plugin", "a")
        return await api.storage.get("plugin", "a"), await api.storage.list("plugin")

    gone, listed = await told(host, use)
    assert (gone, listed.keys, host.storage["plugin"]) == (None, ["b"], {"b": b"\x00"})


async def test_artifacts_are_made_and_read_in_pieces() -> None:
    content = bytes(range(256)) * 3000

    async def use(api: Any) -> bytes:
        made = await api.artifacts.create(content, "report", name="r.bin", metadata={"n": 1})
        assert (await api.artifacts.metadata(made.artifact_id)).size_bytes == len(content)
        assert (await api.artifacts.read(made.artifact_id, 256, 2)).content == b"\x00\x01"
        return b"".join([piece async for piece in api.artifacts.stream(made.artifact_id)])

    asked = Asked(use)
    run = await FakeHost().run(runner(asked.body))
    assert asked.answers == [content]
    assert [(each.metadata.name, each.metadata.artifact_type) for each in run.artifacts] == [("r.bin", "report")]


async def test_an_artifact_of_another_conversation_or_past_its_time_is_not_found() -> None:
    made = Asked(lambda api: api.artifacts.create(b"x", expires_at=None))
    host = FakeHost(artifacts={"given": b"from the test"})
    assert (await told(host, lambda api: api.artifacts.read("given"))).content == b"from the test"
    await host.run(runner(made.body))
    old = await told(host, lambda api: api.artifacts.create(b"x", expires_at=1))
    assert (await refused(host, lambda api: api.artifacts.read(old.artifact_id))).failed_with("not_found")
    host.new_conversation()
    run = await refused(host, lambda api: api.artifacts.metadata(made.answers[0].artifact_id))
    assert run.failed_with("not_found")


async def test_approvals_are_decided_as_the_test_says() -> None:
    host = FakeHost(approvals={"message.*": "done", "member.*": "pending"})
    ask = Asked(lambda api: api.platform.request_action("member.kick", {"user": "u"}))
    run = await host.run(runner(ask.body))
    assert (ask.answers[0].status, ask.answers[0].approval_id is not None) == ("pending", True)
    assert [(each.action, each.status) for each in run.actions] == [("member.kick", "pending")]
    waited = await refused(host, lambda api: api.platform.request_action("member.kick", wait=5))
    assert waited.failed_with("approval_pending")
    assert (await told(host, lambda api: api.platform.request_action("group.leave"))).status == "denied"
    host = FakeHost(approvals=lambda action, target, payload: ActionOutcome(status="done", result=payload))
    assert (await told(host, lambda api: api.platform.request_action("message.send", None, {"a": 1}))).result == {
        "a": 1
    }


async def test_any_call_can_be_made_to_fail() -> None:
    host = FakeHost(tools={"t": "ok"})
    host.fail("call_tool", "rate_limited", "slow down", retryable=True)
    run = await refused(host, lambda api: api.tools.call("t"))
    assert run.failed_with("rate_limited")
    assert repr(run.calls[0]).endswith("-> rate_limited: slow down")
    assert (await told(host, lambda api: api.tools.call("t"))).content[0].text == "ok"
    with pytest.raises(ValueError, match="'call_tools'"):
        host.fail("call_tools", "x")


async def test_runs_are_created_and_followed() -> None:
    host = FakeHost()

    async def use(api: Any) -> Any:
        made = await api.runs.create("agent-1", "do it")
        await api.runs.cancel(made.run_id, "enough")
        return (
            await api.runs.get(made.run_id),
            await api.runs.list(status="cancelled"),
            await api.runs.retry(made.run_id),
        )

    run, page, again = await told(host, use)
    assert (run.status, run.status_reason, len(page.items)) == ("cancelled", "enough", 1)
    assert (again.attempt, again.parent_run_id) == (2, run.run_id)


async def test_an_event_that_is_no_message_pretends_to_be_none() -> None:
    joined = event(MemberJoined, inviter=User(id="user-9"))
    run = await FakeHost().run(yielding(results.silent()), event=joined)
    assert run.context.event.event_type == "group.member_joined"
    assert run.context.event.data["member"]["user"]["id"] == "user-1"
    assert (run.context.input.text, run.context.actor.actor_id) == (None, "user-1")  # type: ignore[union-attr]
    assert run.context.subject is not None
    assert run.context.subject.subject_type == "membership"
    run = await FakeHost().run(yielding(results.silent()), event=event(ScheduleTriggered, schedule_id="s"))
    assert run.context.actor is not None
    assert (run.context.actor.actor_type, "actor" in run.state) == ("system", False)


async def test_a_platforms_message_is_the_input() -> None:
    run = await FakeHost().run(yielding(results.silent()), event=message("hello", sender=User(id="u7")))
    assert run.context.input.text == "hello"
    assert run.context.actor is not None
    assert run.context.actor.actor_id == "u7"


async def test_a_runner_that_reads_only_text_gets_a_note_and_an_artifact() -> None:
    parts = [TextElement(text="see "), MediaElement(type="image", name="cat.png", content_base64="eHl6")]
    seeing = await FakeHost().run(yielding(results.silent()), parts)
    assert [part.type for part in seeing.context.input.contents] == ["text", "image"]
    run = await FakeHost(capabilities={}).run(yielding(results.silent()), AgentInput(text="see", contents=parts))
    assert [part.type for part in run.context.input.contents] == ["text", "text"]
    assert [ref.name for ref in run.context.input.attachments] == ["cat.png"]
