"""Tests plugins from folders and files with a fake Host: manifests, configuration and warnings."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from parlour_sdk.testing import FakeHost, PluginWarning

ECHO = Path(__file__).parents[4] / "plugins" / "echo-agent"


async def test_a_folder_is_run_with_its_manifest_and_defaults() -> None:
    run = await FakeHost().run(ECHO, "a b", runner="default")
    assert (run.text, run.deltas) == ("a b", ["a", " b"])
    assert run.context.config == {"delay_ms": 0, "hold_ms": 0, "remember": False}
    assert run.session.runner_id == "plugin:parlour/echo-agent/default"
    assert not run.context.context.available_apis.history_page


def test_a_refused_run_leaves_no_history_and_no_calls() -> None:
    host = FakeHost()
    with pytest.raises(ValueError, match="unknown"):
        host.start(ECHO, "a", config={"delay": 1})
    assert (host.history, host.calls) == ([], [])


async def test_an_instance_has_the_manifest_of_its_plugin(tmp_path: Path) -> None:
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
async def test_a_configuration_that_does_not_match_the_form_is_refused(config: dict[str, Any], reason: str) -> None:
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


async def test_an_ambiguous_or_unknown_component_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "both.py").write_text(WHOLE_PLUGIN)
    with pytest.raises(LookupError, match="which tool is meant; this plugin has triple, halve"):
        await FakeHost().call_tool(tmp_path / "both.py", {"n": 3})
    with pytest.raises(LookupError, match="no runner 'other'; it has default"):
        await FakeHost().run(ECHO, "a", runner="other")


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


async def test_a_fake_host_gives_the_warnings_of_the_workers_log(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(ODD_PLUGIN)
    with pytest.warns(PluginWarning) as warned:
        run = await FakeHost().run(tmp_path / "odd.py", "hi", config={"tools": ["greet"]})
    messages = [str(each.message) for each in warned]
    assert run.text == "Hello Ann"
    assert any("add it to the plugin's permissions.events" in each for each in messages)
    assert any("'greet', which no Host has; did you mean test/odd.greet?" in each for each in messages)


async def test_a_plugins_own_tool_has_the_same_id_as_in_a_host(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(ODD_PLUGIN)
    run = await FakeHost().run(tmp_path / "odd.py", "hi", config={"tools": ["test/odd.greet"]})
    assert run.text == "Hello Ann"


async def test_an_engine_receives_the_defaults_of_its_form(tmp_path: Path) -> None:
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
