"""What runs is made equal to what is installed: started side by side, upgraded without a gap, removed, told."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest

from parlour.core.model.plugin_manager import PluginManifestReport
from parlour.core.model.ports import PluginDisconnected, PluginUnavailable
from parlour.core.redaction import Redactor
from parlour.plugin_runtime.process.launcher import LaunchSpec
from parlour.plugin_runtime.process.log_buffer import LogBuffer
from parlour.plugin_runtime.store import InstalledVersion, PluginStore
from parlour.plugin_runtime.supervision.local_runtime import EmbeddedRuntime
from parlour.plugin_runtime.supervision.policy import ResourceLimits, SupervisionPolicy
from parlour.plugin_runtime.supervision.status import PluginStatusFile

from .fakes import Behaviour, FakeLauncher, NoActions, NoGuardian, answer, now


class Shelf:
    """What is installed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.plugins: dict[str, InstalledVersion] = {}

    def put(self, name: str, version: str = "1") -> InstalledVersion:
        plugin_id = f"test/{name}"
        self.plugins[plugin_id] = InstalledVersion(plugin_id, version, self._folder / name / version, int(version))
        return self.plugins[plugin_id]

    def all_desired(self) -> dict[str, InstalledVersion]:
        return dict(self.plugins)


@pytest.fixture
async def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


@pytest.fixture
async def told() -> list[str]:
    """Versions that were discovered, and plugins that were removed."""
    return []


@pytest.fixture
async def runtime(
    shelf: Shelf, launcher: FakeLauncher, told: list[str], tmp_path: Path
) -> AsyncIterator[EmbeddedRuntime]:
    async def prepare(plugin: InstalledVersion) -> LaunchSpec:
        return LaunchSpec(plugin.plugin_id, plugin.folder, tmp_path)

    def discovered(plugin: InstalledVersion, offer: PluginManifestReport) -> None:
        told.append(f"{plugin.plugin_id} {plugin.version}")

    runtime = EmbeddedRuntime(
        cast(PluginStore, shelf),
        launcher,
        prepare,
        "0",
        discovered,
        lambda plugin_id: told.append(f"{plugin_id} removed"),
        PluginStatusFile(tmp_path / "plugins.json"),
        lambda plugin_id: LogBuffer(Redactor()),
        NoGuardian(),
        SupervisionPolicy(
            concurrent_starts=2, resource_limits=ResourceLimits(data_check_seconds=10**6)
        ),  # real disks know no virtual time
    )
    runtime.serve(NoActions())
    yield runtime
    await runtime.close()
    assert all(process.ended for process in launcher.processes)


async def ask(runtime: EmbeddedRuntime, name: str) -> list[str]:
    return await answer(runtime.run_agent(f"test/{name}", {"text": "hello"}))


async def test_what_is_installed_is_started_and_a_bad_one_holds_up_nobody(
    runtime: EmbeddedRuntime, shelf: Shelf, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(greets=False)]
    for name in ("bad", "one", "two", "three"):
        shelf.put(name)
    refreshing = asyncio.create_task(runtime.refresh())
    await asyncio.sleep(1)

    assert {name: each.status for name, each in runtime.supervisors().items()} == {
        "test/bad": "starting",
        "test/one": "ready",
        "test/two": "ready",
        "test/three": "ready",
    }
    await refreshing
    assert now() == 30


async def test_no_more_start_at_once_than_set(runtime: EmbeddedRuntime, shelf: Shelf, launcher: FakeLauncher) -> None:
    launcher.script = [Behaviour(greets=False)] * 4
    for number in range(4):
        shelf.put(f"slow{number}")
    refreshing = asyncio.create_task(runtime.refresh())

    await asyncio.sleep(9)
    assert len(launcher.processes) == 2
    await refreshing

    assert now() == 40


async def test_plugins_that_hang_at_their_start_hold_up_the_others_for_a_third_of_its_time(
    runtime: EmbeddedRuntime, shelf: Shelf, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(greets=False)] * 2
    for name in ("hanging", "hanging too", "good"):
        shelf.put(name)
    refreshing = asyncio.create_task(runtime.refresh())

    await asyncio.sleep(10.1)
    assert {name: each.status for name, each in runtime.supervisors().items()} == {
        "test/hanging": "starting",
        "test/hanging too": "starting",
        "test/good": "ready",
    }
    await refreshing


async def test_a_disk_that_takes_no_status_keeps_no_plugin_from_starting_again(
    runtime: EmbeddedRuntime, shelf: Shelf, launcher: FakeLauncher, tmp_path: Path
) -> None:
    shelf.put("here")
    await runtime.refresh()
    (tmp_path / "plugins.new").mkdir()  # where the next status would be written
    launcher.processes[0].exit(1)
    await asyncio.sleep(5)

    assert runtime.supervisors()["test/here"].status == "ready"
    assert await ask(runtime, "here") == ["hello by 2"]
    (tmp_path / "plugins.new").rmdir()
    launcher.processes[1].exit(1)
    await asyncio.sleep(5)

    assert json.loads((tmp_path / "plugins.json").read_text())["plugins"]["test/here"]["status"] == "ready"


async def test_a_plugin_that_is_not_installed_is_unavailable(runtime: EmbeddedRuntime) -> None:
    with pytest.raises(PluginUnavailable, match="test/absent is not installed"):
        await ask(runtime, "absent")


async def test_a_plugin_that_is_not_installed_any_more_is_stopped_and_forgotten(
    runtime: EmbeddedRuntime, shelf: Shelf, launcher: FakeLauncher, told: list[str], tmp_path: Path
) -> None:
    shelf.put("here")
    shelf.put("gone")
    await runtime.refresh()
    del shelf.plugins["test/gone"]

    await runtime.refresh()

    assert told == ["test/here 1", "test/gone 1", "test/gone removed"]
    assert [process.ended for process in launcher.processes] == [False, True]
    assert set(json.loads((tmp_path / "plugins.json").read_text())["plugins"]) == {"test/here"}
    with pytest.raises(PluginUnavailable, match="not installed"):
        await ask(runtime, "gone")


async def test_what_has_not_changed_is_left_alone(
    runtime: EmbeddedRuntime, shelf: Shelf, launcher: FakeLauncher
) -> None:
    shelf.put("same")
    await runtime.refresh()

    await runtime.refresh()

    assert len(launcher.processes) == 1


async def test_another_version_takes_over(
    runtime: EmbeddedRuntime, shelf: Shelf, launcher: FakeLauncher, told: list[str]
) -> None:
    shelf.put("renewed")
    await runtime.refresh()
    shelf.put("renewed", "2")

    await runtime.refresh()

    assert await ask(runtime, "renewed") == ["hello by 2"]
    assert told == ["test/renewed 1", "test/renewed 2"]


async def test_another_version_that_does_not_start_leaves_the_one_before_in_service(
    runtime: EmbeddedRuntime, shelf: Shelf, launcher: FakeLauncher, tmp_path: Path
) -> None:
    shelf.put("renewed")
    await runtime.refresh()
    launcher.script = [Behaviour(ends_at_start=True)]

    with pytest.raises(PluginUnavailable, match=r"test/renewed is not ready: its process ended \(exit status 3\)"):
        await runtime.replace(shelf.put("renewed", "2"))

    assert await ask(runtime, "renewed") == ["hello by 1"]
    assert json.loads((tmp_path / "plugins.json").read_text())["plugins"]["test/renewed"]["stamp"] == 1


async def test_a_first_version_that_does_not_start_says_why(
    runtime: EmbeddedRuntime, shelf: Shelf, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(ends_at_start=True, last_words="no luck today\n")]

    with pytest.raises(PluginUnavailable, match="no luck today"):
        await runtime.replace(shelf.put("first"))


async def test_what_is_installed_is_tried_when_nothing_serves(
    runtime: EmbeddedRuntime, shelf: Shelf, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(ends_at_start=True), Behaviour(ends_at_start=True)]
    shelf.put("repaired")
    await runtime.refresh()
    shelf.put("repaired", "2")

    await runtime.refresh()

    assert await ask(runtime, "repaired") == ["hello by 3"]
    assert launcher.latest.start.folder.name == "2"


async def test_a_restart_brings_a_fresh_process(runtime: EmbeddedRuntime, shelf: Shelf, launcher: FakeLauncher) -> None:
    shelf.put("tired")
    await runtime.refresh()

    await runtime.restart("test/tired")

    assert await ask(runtime, "tired") == ["hello by 2"]
    with pytest.raises(PluginUnavailable, match="not installed"):
        await runtime.restart("test/absent")


async def test_code_is_in_use_until_the_last_run_of_its_version_has_ended(
    runtime: EmbeddedRuntime, shelf: Shelf, launcher: FakeLauncher
) -> None:
    old = shelf.put("renewed")
    await runtime.refresh()
    answering = asyncio.create_task(answer(runtime.run_agent("test/renewed", {"text": "wait"})))
    await launcher.latest.took.wait()
    new = shelf.put("renewed", "2")

    await runtime.refresh()

    assert runtime.folders_in_use() == {old.folder, new.folder}
    launcher.processes[0].let_go("wait")
    assert await answering == ["wait by 1"]
    await asyncio.sleep(1)
    assert runtime.folders_in_use() == {new.folder}


async def test_a_plugin_that_is_removed_takes_no_new_runs_and_finishes_its_own(
    runtime: EmbeddedRuntime, shelf: Shelf, launcher: FakeLauncher, told: list[str]
) -> None:
    shelf.put("leaving")
    await runtime.refresh()
    answering = asyncio.create_task(answer(runtime.run_agent("test/leaving", {"text": "wait"})))
    await launcher.latest.took.wait()
    del shelf.plugins["test/leaving"]
    removing = asyncio.create_task(runtime.refresh())
    await asyncio.sleep(1)

    assert told[-1] == "test/leaving removed"
    with pytest.raises(PluginUnavailable, match="finishes its runs: 1"):
        await ask(runtime, "leaving")
    launcher.latest.let_go("wait")
    assert await answering == ["wait by 1"]
    await removing
    assert launcher.latest.ended
    assert runtime.supervisors() == {}


async def test_a_run_that_does_not_end_holds_a_removal_up_for_a_bounded_time(
    runtime: EmbeddedRuntime, shelf: Shelf, launcher: FakeLauncher
) -> None:
    shelf.put("leaving")
    await runtime.refresh()
    answering = asyncio.create_task(answer(runtime.run_agent("test/leaving", {"text": "wait"})))
    await launcher.latest.took.wait()
    del shelf.plugins["test/leaving"]
    begun = now()

    await runtime.refresh()

    assert now() - begun == pytest.approx(SupervisionPolicy().drain_seconds, abs=2)
    with pytest.raises(PluginDisconnected):
        await answering
