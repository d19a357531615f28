"""The running plugins follow the installed ones: started in parallel, upgraded without a gap, removed, announced."""

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

from .fakes import Behaviour, FakeLauncher, NoActions, NoReaper, answer, now


class MemoryPluginStore:
    """A plugin store in memory."""

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
async def store(tmp_path: Path) -> MemoryPluginStore:
    return MemoryPluginStore(tmp_path)


@pytest.fixture
async def announcements() -> list[str]:
    """Announcements of discovered versions and removed plugins."""
    return []


@pytest.fixture
async def runtime(
    store: MemoryPluginStore, launcher: FakeLauncher, announcements: list[str], tmp_path: Path
) -> AsyncIterator[EmbeddedRuntime]:
    async def prepare(plugin: InstalledVersion) -> LaunchSpec:
        return LaunchSpec(plugin.plugin_id, plugin.folder, tmp_path)

    def discovered(plugin: InstalledVersion, offer: PluginManifestReport) -> None:
        announcements.append(f"{plugin.plugin_id} {plugin.version}")

    runtime = EmbeddedRuntime(
        cast(PluginStore, store),
        launcher,
        prepare,
        "0",
        discovered,
        lambda plugin_id: announcements.append(f"{plugin_id} removed"),
        PluginStatusFile(tmp_path / "plugins.json"),
        lambda plugin_id: LogBuffer(Redactor()),
        NoReaper(),
        SupervisionPolicy(
            concurrent_starts=2, resource_limits=ResourceLimits(data_check_seconds=10**6)
        ),  # disk access does not follow virtual time
    )
    runtime.serve(NoActions())
    yield runtime
    await runtime.close()
    assert all(process.ended for process in launcher.processes)


async def ask(runtime: EmbeddedRuntime, name: str) -> list[str]:
    return await answer(runtime.run_agent(f"test/{name}", {"text": "hello"}))


async def test_installed_plugins_are_started_and_a_bad_one_delays_no_other(
    runtime: EmbeddedRuntime, store: MemoryPluginStore, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(greets=False)]
    for name in ("bad", "one", "two", "three"):
        store.put(name)
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


async def test_the_number_of_concurrent_starts_is_limited(
    runtime: EmbeddedRuntime, store: MemoryPluginStore, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(greets=False)] * 4
    for number in range(4):
        store.put(f"slow{number}")
    refreshing = asyncio.create_task(runtime.refresh())

    await asyncio.sleep(9)
    assert len(launcher.processes) == 2
    await refreshing

    assert now() == 40


async def test_plugins_that_hang_at_their_start_delay_other_plugins_for_a_third_of_the_start_time(
    runtime: EmbeddedRuntime, store: MemoryPluginStore, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(greets=False)] * 2
    for name in ("hanging", "hanging too", "good"):
        store.put(name)
    refreshing = asyncio.create_task(runtime.refresh())

    await asyncio.sleep(10.1)
    assert {name: each.status for name, each in runtime.supervisors().items()} == {
        "test/hanging": "starting",
        "test/hanging too": "starting",
        "test/good": "ready",
    }
    await refreshing


async def test_a_status_file_that_can_not_be_written_does_not_prevent_restarts(
    runtime: EmbeddedRuntime, store: MemoryPluginStore, launcher: FakeLauncher, tmp_path: Path
) -> None:
    store.put("here")
    await runtime.refresh()
    (tmp_path / "plugins.new").mkdir()  # blocks the path of the next status file
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


async def test_a_plugin_that_is_no_longer_installed_is_stopped_and_removed(
    runtime: EmbeddedRuntime, store: MemoryPluginStore, launcher: FakeLauncher, announcements: list[str], tmp_path: Path
) -> None:
    store.put("here")
    store.put("gone")
    await runtime.refresh()
    del store.plugins["test/gone"]

    await runtime.refresh()

    assert announcements == ["test/here 1", "test/gone 1", "test/gone removed"]
    assert [process.ended for process in launcher.processes] == [False, True]
    assert set(json.loads((tmp_path / "plugins.json").read_text())["plugins"]) == {"test/here"}
    with pytest.raises(PluginUnavailable, match="not installed"):
        await ask(runtime, "gone")


async def test_an_unchanged_plugin_is_not_restarted(
    runtime: EmbeddedRuntime, store: MemoryPluginStore, launcher: FakeLauncher
) -> None:
    store.put("same")
    await runtime.refresh()

    await runtime.refresh()

    assert len(launcher.processes) == 1


async def test_another_version_replaces_the_running_one(
    runtime: EmbeddedRuntime, store: MemoryPluginStore, launcher: FakeLauncher, announcements: list[str]
) -> None:
    store.put("renewed")
    await runtime.refresh()
    store.put("renewed", "2")

    await runtime.refresh()

    assert await ask(runtime, "renewed") == ["hello by 2"]
    assert announcements == ["test/renewed 1", "test/renewed 2"]


async def test_another_version_that_does_not_start_leaves_the_previous_one_in_service(
    runtime: EmbeddedRuntime, store: MemoryPluginStore, launcher: FakeLauncher, tmp_path: Path
) -> None:
    store.put("renewed")
    await runtime.refresh()
    launcher.script = [Behaviour(ends_at_start=True)]

    with pytest.raises(PluginUnavailable, match=r"test/renewed is not ready: its process ended \(exit status 3\)"):
        await runtime.replace(store.put("renewed", "2"))

    assert await ask(runtime, "renewed") == ["hello by 1"]
    assert json.loads((tmp_path / "plugins.json").read_text())["plugins"]["test/renewed"]["stamp"] == 1


async def test_a_first_version_that_does_not_start_has_a_reason(
    runtime: EmbeddedRuntime, store: MemoryPluginStore, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(ends_at_start=True, last_words="no luck today\n")]

    with pytest.raises(PluginUnavailable, match="no luck today"):
        await runtime.replace(store.put("first"))


async def test_the_installed_version_is_tried_when_no_version_serves(
    runtime: EmbeddedRuntime, store: MemoryPluginStore, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(ends_at_start=True), Behaviour(ends_at_start=True)]
    store.put("repaired")
    await runtime.refresh()
    store.put("repaired", "2")

    await runtime.refresh()

    assert await ask(runtime, "repaired") == ["hello by 3"]
    assert launcher.latest.start.folder.name == "2"


async def test_a_restart_starts_a_new_process(
    runtime: EmbeddedRuntime, store: MemoryPluginStore, launcher: FakeLauncher
) -> None:
    store.put("tired")
    await runtime.refresh()

    await runtime.restart("test/tired")

    assert await ask(runtime, "tired") == ["hello by 2"]
    with pytest.raises(PluginUnavailable, match="not installed"):
        await runtime.restart("test/absent")


async def test_code_is_in_use_until_the_last_run_of_its_version_has_ended(
    runtime: EmbeddedRuntime, store: MemoryPluginStore, launcher: FakeLauncher
) -> None:
    old = store.put("renewed")
    await runtime.refresh()
    answering = asyncio.create_task(answer(runtime.run_agent("test/renewed", {"text": "wait"})))
    await launcher.latest.run_started.wait()
    new = store.put("renewed", "2")

    await runtime.refresh()

    assert runtime.folders_in_use() == {old.folder, new.folder}
    launcher.processes[0].finish_run("wait")
    assert await answering == ["wait by 1"]
    await asyncio.sleep(1)
    assert runtime.folders_in_use() == {new.folder}


async def test_a_removed_plugin_gets_no_new_runs_and_finishes_its_own(
    runtime: EmbeddedRuntime, store: MemoryPluginStore, launcher: FakeLauncher, announcements: list[str]
) -> None:
    store.put("leaving")
    await runtime.refresh()
    answering = asyncio.create_task(answer(runtime.run_agent("test/leaving", {"text": "wait"})))
    await launcher.latest.run_started.wait()
    del store.plugins["test/leaving"]
    removing = asyncio.create_task(runtime.refresh())
    await asyncio.sleep(1)

    assert announcements[-1] == "test/leaving removed"
    with pytest.raises(PluginUnavailable, match="finishes its runs: 1"):
        await ask(runtime, "leaving")
    launcher.latest.finish_run("wait")
    assert await answering == ["wait by 1"]
    await removing
    assert launcher.latest.ended
    assert runtime.supervisors() == {}


async def test_a_run_that_does_not_end_delays_a_removal_for_a_bounded_time(
    runtime: EmbeddedRuntime, store: MemoryPluginStore, launcher: FakeLauncher
) -> None:
    store.put("leaving")
    await runtime.refresh()
    answering = asyncio.create_task(answer(runtime.run_agent("test/leaving", {"text": "wait"})))
    await launcher.latest.run_started.wait()
    del store.plugins["test/leaving"]
    started_at = now()

    await runtime.refresh()

    assert now() - started_at == pytest.approx(SupervisionPolicy().drain_seconds, abs=2)
    with pytest.raises(PluginDisconnected):
        await answering
