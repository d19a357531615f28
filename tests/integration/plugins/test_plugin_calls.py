"""Tests calls of the Host to a plugin outside runs, through a real process in the embedded and in a
standalone runtime.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from parlour.app.data_directory import DataDirectory
from parlour.app.plugins import open_plugins
from parlour.app.settings import HostSettings, PluginSettings, RuntimeSettings
from parlour.core.model.plugin_manager import PluginManifestReport
from parlour.core.model.ports import PluginCaller, PluginCallFailed, PluginDisconnected, PluginUnavailable
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.core.redaction import Redactor
from parlour.core.system import SystemClock
from tests.support.commands import parlour_here
from tests.support.harness import ROOT
from tests.support.standalone import Runtime

TOOLBOX = ROOT / "tests" / "fixtures" / "plugins" / "toolbox.py"
PLUGIN = "test/toolbox"
SECONDS = 30.0

pytestmark = pytest.mark.asyncio(loop_scope="module")


class NoActions:
    def streams(self, name: str) -> bool:
        return False

    async def call(self, plugin_id: str, name: str, data: Any) -> dict[str, Any]:
        raise AssertionError("the toolbox asks for nothing")

    def stream(self, plugin_id: str, name: str, data: Any) -> Any:
        raise AssertionError("the toolbox asks for nothing")


class Side:
    """Runs a plugin runtime with the toolbox and records the discovered components."""

    def __init__(self) -> None:
        self.components = ComponentRegistry()
        self.plugins: PluginCaller
        self.keeper: Any
        self.forgotten: list[str] = []

    def discovered(self, plugin_id: str, version: str, offer: PluginManifestReport) -> None:
        assert self.components.replace_plugin(plugin_id, version, offer.components) == []

    async def forget(self, plugin_id: str) -> None:
        self.forgotten.append(plugin_id)

    async def tool(self, name: str, **parameters: Any) -> str:
        call = {"tool_name": name, "parameters": parameters}
        answer = await self.plugins.call(PLUGIN, "call_tool", call, SECONDS)
        assert not answer.get("is_error"), answer
        return str(answer["content"][0]["text"])


def installed(data: Path) -> None:
    finished = parlour_here("plugin", "install", TOOLBOX, "--data", data)
    assert finished.returncode == 0, finished.stderr


@pytest.fixture(scope="module", params=["inside", "elsewhere"])
def settings(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder: Path = tmp_path_factory.mktemp(f"calls {request.param}")
    if request.param == "inside":
        installed(folder / "data")
        yield HostSettings(data=folder / "data", plugins=PluginSettings(first_restart_seconds=0.05))
        return
    runtime = Runtime(folder, PARLOUR__PLUGINS__FIRST_RESTART_SECONDS=0.05)
    installed(runtime.data)
    token = runtime.token()
    runtime.start()
    yield HostSettings(data=folder / "data", runtime=RuntimeSettings(url=runtime.url, token=token))
    runtime.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def side(settings: HostSettings) -> AsyncIterator[Side]:
    made = Side()
    directory = DataDirectory(settings.data)
    directory.path.mkdir(parents=True, exist_ok=True)
    opened = await open_plugins(
        settings, directory, SystemClock(), "0", Redactor(), made.discovered, made.components.remove_plugin, made.forget
    )
    opened.runtime.serve(NoActions())
    made.plugins, made.keeper = opened.runtime, opened.plugins
    await opened.plugins.refresh()
    yield made
    await opened.runtime.close()


async def test_the_components_of_a_plugin_are_known_when_it_is_ready(side: Side) -> None:
    tools = side.components.tools()
    assert [each.name for each in tools] == ["exit", "join", "wait", "waiting"]
    join = tools[1]
    assert (join.plugin_id, join.plugin_version, join.spec.read_only) == (PLUGIN, "0.1.0", True)
    assert join.spec.parameters["required"] == ["words"]
    [listener] = side.components.listeners()
    assert [(each.event, each.priority) for each in listener.spec.handlers] == [("bot.*", 3)]
    assert [(each.name, each.spec.aliases) for each in side.components.commands()] == [("count", ["c"])]


async def test_a_tool_a_listener_and_a_command_answer(side: Side) -> None:
    assert await side.tool("join", words=["a", "b"]) == "a b"
    event = {"type": "bot.renamed", "event_id": "e1", "timestamp": 1}
    outcome = await side.plugins.call(PLUGIN, "emit_event", {"event": event}, SECONDS)
    assert outcome["variables"] == {"seen": "e1"}
    replies = await side.plugins.stream(PLUGIN, "run_command", {"command": "c", "arguments": ["3"]})
    parts: list[Any] = []
    while batch := await replies.batch():
        parts += batch
    assert [part["text"] for part in parts] == ["1", "2", "3"]


async def test_a_late_or_cancelled_call_is_cancelled_in_the_plugin(side: Side) -> None:
    with pytest.raises(PluginCallFailed) as late:
        await side.plugins.call(PLUGIN, "call_tool", {"tool_name": "wait"}, 0.3)
    assert late.value.code == "deadline_exceeded"
    await until_waiting(side, "0")
    waiting = asyncio.create_task(side.tool("wait"))
    await until_waiting(side, "1")
    waiting.cancel()
    await until_waiting(side, "0")


async def until_waiting(side: Side, number: str) -> None:
    async with asyncio.timeout(SECONDS):
        while await side.tool("waiting") != number:
            await asyncio.sleep(0.01)


async def test_errors_say_why_a_call_failed(side: Side) -> None:
    with pytest.raises(PluginCallFailed, match="no tool 'nothing'") as refused:
        await side.tool("nothing")
    assert refused.value.code == "not_found"
    with pytest.raises(PluginUnavailable, match="test/nobody is not installed"):
        await side.plugins.call("test/nobody", "call_tool", {}, SECONDS)
    with pytest.raises(PluginDisconnected):
        await side.tool("exit")
    assert await side.tool("join", words=["back", "again"]) == "back again"


async def test_the_components_of_a_removed_plugin_are_gone(side: Side) -> None:
    await side.keeper.remove(PLUGIN, delete_data=True)
    assert side.forgotten == [PLUGIN]
    assert (side.components.tools(), side.components.commands(), side.components.listeners()) == ([], [], [])
    with pytest.raises(PluginUnavailable):
        await side.tool("join", words=[])
