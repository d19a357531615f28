"""A Host receives the status of all plugins first, then changes, with a revision at the end of each batch."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

from parlour.core.model.plugin_manager import PluginInfo, PluginManifestReport
from parlour.plugin_runtime.remote.messages import StatusUpdate
from parlour.plugin_runtime.standalone.status_broadcast import MAX_FACTS_BYTES, StatusBroadcast, StatusChanges
from parlour.plugin_runtime.store import InstalledVersion

FACTS = PluginInfo("a/one", "0.1.0", "ready", "", None, None, {}, {}, True, "folder", "", 1, ())


async def read_batch(parts: AsyncGenerator[dict[str, Any], None]) -> list[dict[str, Any]]:
    """Reads parts up to the next revision."""
    found = []
    async for part in parts:
        found.append(part)
        if "revision" in part:
            break
    return found


async def test_a_host_receives_everything_then_only_changes() -> None:
    plugins = [FACTS, replace(FACTS, plugin_id="a/two")]
    board = StatusBroadcast(StatusChanges(), lambda: plugins, dict)
    async with aclosing(board.watch()) as parts:
        first = await read_batch(parts)
        plugins[1:] = [replace(plugins[1], status="waiting", reason="it fell")]
        second_revision = board.announce_change()
        second = await read_batch(parts)
        del plugins[0]
        board.announce_change()
        third = await read_batch(parts)

    assert [part["told"]["plugin"]["plugin_id"] for part in first[:-1]] == ["a/one", "a/two"]
    assert [part["told"]["plugin"]["reason"] for part in second[:-1]] == ["it fell"]
    assert second[-1] == {"revision": second_revision}
    assert third[:-1] == [{"gone": "a/one"}]


async def test_a_status_update_can_be_parsed_by_the_host() -> None:
    facts = replace(FACTS, asked={"network": ["example.org"]}, components=({"kind": "Tool", "name": "t"},))
    board = StatusBroadcast(StatusChanges(), lambda: [facts], dict)
    async with aclosing(board.watch()) as parts:
        [part, _] = await read_batch(parts)

    read = StatusUpdate.model_validate(part["told"])
    assert (read.plugin, read.running, read.generation) == (facts, False, 0)


async def test_each_ready_process_is_a_new_generation_also_after_a_removal() -> None:
    changes = StatusChanges()
    board = StatusBroadcast(changes, list, dict)
    plugin = InstalledVersion("a/one", "0.1.0", Path("folder"), 1)
    changes.on_discovered(plugin, PluginManifestReport(["runner"], ["tool"]))
    changes.on_removed("a/one")
    assert board.runners("a/one")["runners"] == board.components("a/one")["components"] == []
    changes.on_discovered(plugin, PluginManifestReport(["runner"], ["tool"]))

    assert board.runners("a/one") == {"version": "0.1.0", "generation": 2, "runners": ["runner"]}
    assert board.components("a/one") == {"components": ["tool"]}


async def test_a_description_that_is_too_long_is_left_out_with_a_warning() -> None:
    long = replace(FACTS, description={"en": "x" * 2 * MAX_FACTS_BYTES}, reason="y" * 10_000)
    board = StatusBroadcast(StatusChanges(), lambda: [long, replace(FACTS, plugin_id="a/two")], dict)
    async with aclosing(board.watch()) as parts:
        [cut, whole, _] = await read_batch(parts)

    assert cut["told"]["plugin"]["description"] is None
    assert "not shown" in cut["told"]["plugin"]["warnings"][0]
    assert whole["told"]["plugin"]["plugin_id"] == "a/two"
