"""Tests components outside runs with a fake Host: listeners, tools, commands, engines and parsers."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from parlour_sdk import results
from parlour_sdk.components import (
    AgentRunner,
    Command,
    EventListener,
    KnowledgeEngine,
    Parser,
    Tool,
    content_of,
    on,
)
from parlour_sdk.decorators import command, runner, tool
from parlour_sdk.plugin import PluginInvalid
from parlour_sdk.protocol.knowledge import ChunkSource, KnowledgeChunk, KnowledgeFile
from parlour_sdk.protocol.listing import BotCapabilities
from parlour_sdk.protocol.people import Group
from parlour_sdk.protocol.platform_events import (
    EVENTS,
    MemberJoined,
    MessageEdited,
    MessageReceived,
    PlatformEvent,
    PlatformSpecific,
)
from parlour_sdk.testing import GROUP, USER, FakeHost, HandlerFailed, event, failure, message
from parlour_sdk.wire import WireError


class Moderator(EventListener):
    @on("message.received")
    async def check(self, event: MessageReceived, ctx: Any) -> None:
        if "spam" in event.message_chain[0].text:  # type: ignore[union-attr]
            await ctx.api.messages.delete(event.bot_id, event.chat_type, event.chat_id, event.message_id)
            await ctx.reply("no spam please", quote=True)
            ctx.variables["spam"] = True
            ctx.stop()

    @on("group.member_joined")
    async def welcome(self, event: MemberJoined, ctx: Any) -> None:
        group = await ctx.api.groups.info(event.bot_id, event.group.id)
        await ctx.api.messages.send(event.bot_id, "group", event.group.id, f"{event.member.user.id}: {group.name}")

    @on("message.edited")
    async def fail(self, event: MessageEdited, ctx: Any) -> None:
        raise KeyError("colour")


async def test_a_listener_replies_sets_variables_and_stops_the_event() -> None:
    host = FakeHost()
    outcome = await host.emit(Moderator(), message("spam!", group=GROUP), variables={"seen": 1})
    assert (outcome.handled, outcome.stop_propagation, outcome.variables) == (True, True, {"spam": True})
    assert [(sent.text, bool(sent.event_id)) for sent in host.sent] == [("no spam please", True)]
    assert [call.action for call in host.calls] == ["delete_message", "reply_message"]
    assert not (await host.emit(Moderator(), message("hello"))).stop_propagation


async def test_an_action_has_the_answer_that_the_test_sets() -> None:
    host = FakeHost(answers={"get_group_info": Group(id="g", name="Cats")})
    await host.emit(Moderator(), event(MemberJoined))
    assert [(sent.text, sent.chat_id) for sent in host.sent] == [(f"{USER.id}: Cats", GROUP.id)]
    host = FakeHost(answers={"get_group_info": lambda request: {"id": request.group_id, "name": "Dogs"}})
    await host.emit(Moderator(), event(MemberJoined))
    assert host.sent[0].text.endswith("Dogs")
    with pytest.raises(HandlerFailed):
        await FakeHost(answers={"get_group_info": failure("not_found")}).emit(Moderator(), event(MemberJoined))
    with pytest.raises(ValueError, match="no action 'get_groups'"):
        FakeHost(answers={"get_groups": {}})


async def test_an_api_that_the_bot_does_not_support_is_refused() -> None:
    bot = BotCapabilities(bot_id="bot-1", adapter="small", apis=["send_message"])
    with pytest.raises(HandlerFailed) as failed:
        await FakeHost(bots=[bot]).emit(Moderator(), event(MemberJoined))
    assert failed.value.__cause__.code == "not_supported"  # type: ignore[union-attr]


async def test_an_exception_of_a_handler_is_raised_to_the_test() -> None:
    with pytest.raises(HandlerFailed, match=r"fail failed on message\.edited") as failed:
        await FakeHost().emit(Moderator(), event(MessageEdited, new_content=[]))
    assert isinstance(failed.value.__cause__, KeyError)


@pytest.mark.parametrize("kind", EVENTS.values(), ids=lambda kind: kind.__name__)
def test_every_event_can_be_created_with_few_arguments(kind: type[PlatformEvent]) -> None:
    more = {
        "message_chain": [],
        "new_content": [],
        "reaction": "+1",
        "feedback_type": 1,
        "action_id": "a",
        "schedule_id": "s",
        "approval_id": "a",
        "decision": "deny",
        "command": "c",
        "agent_id": "a",
        "run_id": "r",
        "text": "t",
        "content": "t",
        "checkpoint": "finish",
        "verdict": "masked",
        "reason": "r",
        "source_event_id": "s",
    }
    made = event(kind, **{name: value for name, value in more.items() if name in kind.model_fields})
    assert (made.bot_id, made.event_id != event(kind, **made.model_dump(exclude={"event_id"})).event_id) == (
        "bot-1",
        True,
    )


def test_missing_required_fields_of_an_event_are_named() -> None:
    with pytest.raises(TypeError, match=r"event\(PlatformSpecific\) also needs type, action"):
        event(PlatformSpecific)


class Weather(Tool):
    async def call(self, parameters: dict[str, Any], ctx: Any) -> Any:
        version = await ctx.api.host.version()
        return f"{parameters['city']} {version.protocol} {ctx.actor.actor_id}"


async def test_a_tool_can_call_the_host() -> None:
    outcome = await FakeHost().call_tool(Weather(), {"city": "Oslo"})
    assert (outcome.content[0].text, outcome.is_error) == ("Oslo 1 user-1", False)  # type: ignore[union-attr]


class Count(Command):
    async def run(self, ctx: Any) -> AsyncGenerator[str, None]:
        for each in ctx.arguments:
            yield f"{ctx.command} {each}"


async def test_a_command_returns_its_replies() -> None:
    assert [reply.text for reply in await FakeHost().command(Count(), "a b")] == ["count a", "count b"]


class Shelf(KnowledgeEngine):
    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    async def ingest(self, kb_id: str, file: KnowledgeFile, ctx: Any) -> int:
        self.texts[file.file_id] = file.text or ""
        return 1

    async def retrieve(self, kb_id: str, query: str, top_k: int, filters: Any, ctx: Any) -> list[KnowledgeChunk]:
        source = ChunkSource(file_name="f")
        return [
            KnowledgeChunk(chunk_id=each, kb_id=kb_id, content=text, score=1, source=source)
            for each, text in self.texts.items()
            if query in text
        ]

    async def delete(self, kb_id: str, file_id: str | None, ctx: Any) -> None:
        self.texts.pop(file_id or "", None)


async def test_an_engine_ingests_retrieves_and_deletes() -> None:
    host, engine = FakeHost(), Shelf()
    assert (await host.ingest(engine, "the red cat")).chunks == 1
    assert [chunk.content for chunk in await host.retrieve(engine, "red")] == ["the red cat"]
    await host.delete(engine, "file-1")
    assert await host.retrieve(engine, "red") == []


class Shouting(Parser):
    async def parse(self, file: KnowledgeFile, config: dict[str, Any]) -> str:
        return content_of(file).decode().upper()


async def test_a_parser_parses_texts_bytes_and_files(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("from disk")
    assert (await FakeHost().parse(Shouting(), "text")).text == "TEXT"
    assert (await FakeHost().parse(Shouting(), b"bytes")).text == "BYTES"
    assert (await FakeHost().parse(Shouting(), tmp_path / "a.md")).text == "FROM DISK"


@runner(capabilities=["streaming"], permissions={"history": ["page"]}, config=[{"name": "word", "type": "string"}])
async def declared(ctx: Any, api: Any) -> AsyncGenerator[Any, None]:
    page = await api.history.page()
    yield results.completed(f"{ctx.config.get('word')} {len(page.items)}")


@runner(name="greedy")
async def greedy(ctx: Any, api: Any) -> AsyncGenerator[Any, None]:
    await api.history.page()
    yield results.silent()


@tool
async def double(n: int) -> int:
    """Twice as much."""
    return n * 2


@command("ping")
async def ping(ctx: Any) -> str:
    return "pong"


@on("message.received")
async def nod(event: Any, ctx: Any) -> None:
    await ctx.reply("yes")


async def test_a_decorated_function_has_the_declarations_of_its_decorator() -> None:
    assert (await FakeHost().run(declared, "hi", config={"word": "seen"})).text == "seen 1"
    assert (await FakeHost().run(greedy, "hi")).failed_with("unauthorized")
    assert (await FakeHost().call_tool(double, {"n": 4})).content[0].value == 8  # type: ignore[union-attr]
    assert (await FakeHost().call_tool(double, {"n": "x"})).is_error
    assert [reply.text for reply in await FakeHost().command(ping)] == ["pong"]
    host = FakeHost()
    await host.emit(nod, message("hi"))
    assert host.sent[0].text == "yes"


class Talker(AgentRunner):
    async def run(self, ctx: Any, api: Any) -> AsyncGenerator[Any, None]:
        yield results.completed("hi")


async def test_a_runner_class_can_be_given_instead_of_an_instance() -> None:
    assert (await FakeHost().run(Talker)).text == "hi"


async def test_an_object_that_is_not_a_component_is_refused_with_the_remedy() -> None:
    def plain() -> None: ...

    with pytest.raises(TypeError, match="mark it with @runner"):
        await FakeHost().run(plain)
    with pytest.raises(TypeError, match="int is no component"):
        await FakeHost().run(5)
    with pytest.raises(PluginInvalid):
        await FakeHost().run(Path("/nowhere"))


class NotGenerating(AgentRunner):
    async def run(self, ctx: Any, api: Any) -> Any:
        return []


async def test_a_runner_that_does_not_yield_is_refused() -> None:
    with pytest.raises(PluginInvalid, match="yield"):
        await FakeHost().run(NotGenerating())


async def test_an_action_that_the_plugin_does_not_implement_is_refused() -> None:
    with pytest.raises(WireError, match="no knowledge engine"):
        await FakeHost().retrieve(Weather(), "q")


async def test_a_plugin_can_claim_and_execute_queued_runs() -> None:
    seen: list[Any] = []

    class Worker(EventListener):
        @on("message.received")
        async def work(self, event: Any, ctx: Any) -> None:
            api = ctx.api
            await api.runtimes.register("box", labels=["gpu"])
            made = await api.runs.create(runner_id="plugin:a/b/default", event="render", labels=["gpu"], queue=True)
            claimed = await api.runtimes.claim("box", ["gpu"])
            assert claimed.context.input.text == "render"
            await api.runs.append_result(made.run_id, results.completed("done"), claimed.lease, sequence=1)
            finished = await api.runs.finalize(made.run_id, "completed", lease=claimed.lease)
            seen.extend([finished.status, await api.runtimes.claim("box", ["gpu"])])
            seen.append((await api.runs.events(made.run_id)).items[0].type)

    await FakeHost().emit(Worker(), message("go"))
    assert seen == ["completed", None, "message.completed"]
