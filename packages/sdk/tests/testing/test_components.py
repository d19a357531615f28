"""Components outside runs: listeners, tools, commands, engines and parsers, and every way to hand one over."""

import importlib.util
import sys
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
from parlour_sdk.testing import GROUP, USER, FakeHost, HandlerFailed, PluginWarning, event, failure, message
from parlour_sdk.wire import WireError

ECHO = Path(__file__).parents[4] / "plugins" / "echo-agent"


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


async def test_a_listener_answers_changes_and_stops() -> None:
    host = FakeHost()
    outcome = await host.emit(Moderator(), message("spam!", group=GROUP), variables={"seen": 1})
    assert (outcome.handled, outcome.stop_propagation, outcome.variables) == (True, True, {"spam": True})
    assert [(sent.text, bool(sent.event_id)) for sent in host.sent] == [("no spam please", True)]
    assert [call.action for call in host.calls] == ["delete_message", "reply_message"]
    assert not (await host.emit(Moderator(), message("hello"))).stop_propagation


async def test_any_action_is_answered_as_the_test_says() -> None:
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


async def test_a_bot_that_lacks_an_api_refuses_it() -> None:
    bot = BotCapabilities(bot_id="bot-1", adapter="small", apis=["send_message"])
    with pytest.raises(HandlerFailed) as failed:
        await FakeHost(bots=[bot]).emit(Moderator(), event(MemberJoined))
    assert failed.value.__cause__.code == "not_supported"  # type: ignore[union-attr]


async def test_a_handler_that_raises_fails_the_test_with_what_it_raised() -> None:
    with pytest.raises(HandlerFailed, match=r"fail failed on message\.edited") as failed:
        await FakeHost().emit(Moderator(), event(MessageEdited, new_content=[]))
    assert isinstance(failed.value.__cause__, KeyError)


@pytest.mark.parametrize("kind", EVENTS.values(), ids=lambda kind: kind.__name__)
def test_any_event_can_be_made_with_the_least_of_words(kind: type[PlatformEvent]) -> None:
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
    }
    made = event(kind, **{name: value for name, value in more.items() if name in kind.model_fields})
    assert (made.bot_id, made.event_id != event(kind, **made.model_dump(exclude={"event_id"})).event_id) == (
        "bot-1",
        True,
    )


def test_what_an_event_can_not_do_without_is_named() -> None:
    with pytest.raises(TypeError, match=r"event\(PlatformSpecific\) also needs type, action"):
        event(PlatformSpecific)


class Weather(Tool):
    async def call(self, parameters: dict[str, Any], ctx: Any) -> Any:
        version = await ctx.api.host.version()
        return f"{parameters['city']} {version.protocol} {ctx.actor.actor_id}"


async def test_a_tool_is_called_with_its_own_way_to_the_host() -> None:
    outcome = await FakeHost().call_tool(Weather(), {"city": "Oslo"})
    assert (outcome.content[0].text, outcome.is_error) == ("Oslo 1 user-1", False)  # type: ignore[union-attr]


class Count(Command):
    async def run(self, ctx: Any) -> AsyncGenerator[str, None]:
        for each in ctx.arguments:
            yield f"{ctx.command} {each}"


async def test_a_command_replies() -> None:
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


async def test_a_decorated_function_has_what_its_decorator_declares() -> None:
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


async def test_a_class_is_as_good_as_its_instance() -> None:
    assert (await FakeHost().run(Talker)).text == "hi"


async def test_a_folder_is_run_with_its_manifest_and_defaults() -> None:
    run = await FakeHost().run(ECHO, "a b", runner="default")
    assert (run.text, run.deltas) == ("a b", ["a", " b"])
    assert run.context.config == {"delay_ms": 0, "hold_ms": 0, "remember": False}
    assert run.session.runner_id == "plugin:parlour/echo-agent/default"
    assert not run.context.context.available_apis.history_page


def test_a_run_that_is_refused_leaves_nothing_behind() -> None:
    host = FakeHost()
    with pytest.raises(ValueError, match="unknown"):
        host.start(ECHO, "a", config={"delay": 1})
    assert (host.history, host.calls) == ([], [])


async def test_an_instance_has_the_manifest_of_the_plugin_that_its_class_is_in(tmp_path: Path) -> None:
    (tmp_path / "manifest.yaml").write_text(
        "apiVersion: parlour/v1\nkind: Plugin\nmetadata: {author: acme, name: own, version: 0.1.0}\n"
        "spec: {components: [runner.yaml]}\n"
    )
    (tmp_path / "runner.yaml").write_text(
        "apiVersion: parlour/v1\nkind: AgentRunner\nmetadata: {name: reader}\n"
        "spec: {permissions: {history: [search]}}\nexecution: {python: {path: code.py, attr: Reader}}\n"
    )
    (tmp_path / "code.py").write_text(
        "from parlour_sdk import AgentRunner, results\n\n\nclass Reader(AgentRunner):\n"
        "    async def run(self, ctx, api):\n        await api.history.page()\n        yield results.silent()\n"
    )
    spec = importlib.util.spec_from_file_location("code_of_own", tmp_path / "code.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["code_of_own"] = module
    try:
        spec.loader.exec_module(module)
        run = await FakeHost().run(module.Reader(), "hi")
    finally:
        del sys.modules["code_of_own"]
    assert run.session.runner_id == "plugin:acme/own/reader"
    assert run.failed_with("unauthorized")
    assert "history:page" in str(run.error)


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"delay": 1}, "'delay' is unknown; this runner takes delay_ms, hold_ms, remember"),
        ({"delay_ms": "1"}, "'delay_ms' must be of type integer, not str"),
        ({"delay_ms": True}, "'delay_ms' must be of type integer, not bool"),
    ],
)
async def test_a_configuration_that_the_form_does_not_take_is_refused(config: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        await FakeHost().run(ECHO, "a", config=config)


WHOLE_PLUGIN = '''
from parlour_sdk import command, on, plugin, results, runner, tool

plugin("acme/both", version="0.1.0", permissions={"storage": ["plugin"]})


@runner(capabilities=["tool_calling"], permissions={"tools": ["call"]})
async def default(ctx, api):
    outcome = await api.tools.call("triple", {"n": 3})
    yield results.completed(str(outcome.content[0].value))


@tool
async def triple(n: int, ctx=None) -> int:
    """Three times as much."""
    return n * 3


@tool
async def halve(n: int) -> float:
    """Half as much."""
    return n / 2
'''


async def test_a_plugins_runner_can_call_the_plugins_own_tools(tmp_path: Path) -> None:
    (tmp_path / "both.py").write_text(WHOLE_PLUGIN)
    assert (await FakeHost().run(tmp_path / "both.py", "hi")).text == "9"
    assert (await FakeHost().call_tool(tmp_path / "both.py", {"n": 3}, name="halve")).content[0].value == 1.5  # type: ignore[union-attr]


async def test_which_component_is_meant_must_be_clear(tmp_path: Path) -> None:
    (tmp_path / "both.py").write_text(WHOLE_PLUGIN)
    with pytest.raises(LookupError, match="which tool is meant; this plugin has triple, halve"):
        await FakeHost().call_tool(tmp_path / "both.py", {"n": 3})
    with pytest.raises(LookupError, match="no runner 'other'; it has default"):
        await FakeHost().run(ECHO, "a", runner="other")


async def test_what_is_no_component_is_refused_with_what_is() -> None:
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


async def test_what_a_plugin_does_not_serve_is_refused() -> None:
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


ODD_PLUGIN = """\
from parlour_sdk import on, plugin, results, runner, tool

plugin("test/odd", version="1.0")


@tool
async def greet(name: str):
    \"\"\"Greets.\"\"\"
    return f"Hello {name}"


@on("group.member_joined")
async def welcome(event, ctx):
    await ctx.reply("welcome")


@runner(
    capabilities=["tool_calling"],
    permissions={"tools": ["call"]},
    config=[{"name": "tools", "type": "tool-multi-selector"}],
)
async def agent(ctx, api):
    outcome = await api.tools.call(ctx.config["tools"][0], {"name": "Ann"})
    yield results.completed(outcome.content[0].text)
    yield results.finished()
"""


async def test_a_fake_host_warns_in_the_words_of_the_workers_log(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(ODD_PLUGIN)
    with pytest.warns(PluginWarning) as told:
        run = await FakeHost().run(tmp_path / "odd.py", "hi", config={"tools": ["greet"]})
    sentences = [str(each.message) for each in told]
    assert run.text == "Hello Ann"
    assert any("add it to the plugin's permissions.events" in each for each in sentences)
    assert any("'greet', which no Host has; did you mean test/odd.greet?" in each for each in sentences)


async def test_a_plugins_own_tool_has_the_id_that_it_has_in_a_host(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(ODD_PLUGIN)
    run = await FakeHost().run(tmp_path / "odd.py", "hi", config={"tools": ["test/odd.greet"]})
    assert run.text == "Hello Ann"


async def test_an_engine_gets_the_defaults_of_its_form(tmp_path: Path) -> None:
    folder = tmp_path / "engine-plugin"
    folder.mkdir()
    (folder / "manifest.yaml").write_text(
        "apiVersion: parlour/v1\nkind: Plugin\nmetadata: {author: test, name: e, version: '1'}\n"
        "spec: {components: [engine.yaml]}\nexecution: {}\n"
    )
    (folder / "engine.yaml").write_text(
        "apiVersion: parlour/v1\nkind: KnowledgeEngine\nmetadata: {name: engine}\n"
        "spec: {config_schema: [{name: size, label: {en_US: Size}, type: integer, default: 7}]}\n"
        "execution: {python: {path: own_engine.py, attr: Engine}}\n"
    )
    (folder / "own_engine.py").write_text(
        "from parlour_sdk import KnowledgeEngine\n\n\n"
        "class Engine(KnowledgeEngine):\n"
        "    async def ingest(self, kb_id, file, ctx):\n        return ctx.config['size']\n\n"
        "    async def retrieve(self, kb_id, query, top_k, filters, ctx):\n        return []\n\n"
        "    async def delete(self, kb_id, file_id, ctx):\n        return None\n"
    )
    assert (await FakeHost().ingest(folder, "text")).chunks == 7
    with pytest.raises(ValueError, match="'depth' is unknown; this knowledge engine takes size"):
        await FakeHost().ingest(folder, "text", config={"depth": 1})
