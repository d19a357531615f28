"""What a Host is told of plugins: everything at first, then what changed, and when that was all."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

from parlour.core.model.plugin_manager import PluginInfo, PluginManifestReport
from parlour.plugin_runtime.remote.messages import StatusUpdate
from parlour.plugin_runtime.standalone.status_broadcast import MAX_FACTS_BYTES, StatusBroadcast
from parlour.plugin_runtime.store import InstalledVersion

FACTS = PluginInfo("a/one", "0.1.0", "ready", "", None, None, {}, {}, True, "folder", "", 1, ())


async def told(parts: AsyncGenerator[dict[str, Any], None]) -> list[dict[str, Any]]:
    """Up to the number."""
    found = []
    async for part in parts:
        found.append(part)
        if "revision" in part:
            break
    return found


async def test_a_host_is_told_everything_then_only_what_changed() -> None:
    plugins = [FACTS, replace(FACTS, plugin_id="a/two")]
    board = StatusBroadcast(lambda: plugins, dict)
    async with aclosing(board.watch()) as parts:
        first = await told(parts)
        plugins[1:] = [replace(plugins[1], status="waiting", reason="it fell")]
        second_revision = board.announce_change()
        second = await told(parts)
        del plugins[0]
        board.announce_change()
        third = await told(parts)

    assert [part["told"]["plugin"]["plugin_id"] for part in first[:-1]] == ["a/one", "a/two"]
    assert [part["told"]["plugin"]["reason"] for part in second[:-1]] == ["it fell"]
    assert second[-1] == {"revision": second_revision}
    assert third[:-1] == [{"gone": "a/one"}]


async def test_what_is_told_can_be_read_on_the_other_side() -> None:
    facts = replace(FACTS, asked={"network": ["example.org"]}, components=({"kind": "Tool", "name": "t"},))
    board = StatusBroadcast(lambda: [facts], dict)
    async with aclosing(board.watch()) as parts:
        [part, _] = await told(parts)

    read = StatusUpdate.model_validate(part["told"])
    assert (read.plugin, read.running, read.generation) == (facts, False, 0)


async def test_each_process_that_got_ready_is_a_new_generation_also_after_a_removal() -> None:
    board = StatusBroadcast(list, dict)
    plugin = InstalledVersion("a/one", "0.1.0", Path("folder"), 1)
    board.on_discovered(plugin, PluginManifestReport(["runner"], ["tool"]))
    board.on_removed("a/one")
    assert board.runners("a/one")["runners"] == board.components("a/one")["components"] == []
    board.on_discovered(plugin, PluginManifestReport(["runner"], ["tool"]))

    assert board.runners("a/one") == {"version": "0.1.0", "generation": 2, "runners": ["runner"]}
    assert board.components("a/one") == {"components": ["tool"]}


async def test_an_endless_description_is_cut_and_said_to_be() -> None:
    long = replace(FACTS, description={"en": "x" * 2 * MAX_FACTS_BYTES}, reason="y" * 10_000)
    board = StatusBroadcast(lambda: [long, replace(FACTS, plugin_id="a/two")], dict)
    async with aclosing(board.watch()) as parts:
        [cut, whole, _] = await told(parts)

    assert cut["told"]["plugin"]["description"] is None
    assert "not shown" in cut["told"]["plugin"]["warnings"][0]
    assert whole["told"]["plugin"]["plugin_id"] == "a/two"
