"""Disabling and removing plugins, also during concurrent changes."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from parlour.core.journal import StorageFailed
from parlour.core.model.plugin_manager import PluginError
from parlour.plugin_runtime import plugin_data
from parlour.plugin_runtime.environments.environment import MARKER, UNUSED_ENVIRONMENT_SECONDS, environment_key
from parlour.plugin_runtime.packages.requirements import Requirements

from ..plugin_files import deep, names, write_plugin
from .manager_world import HELLO, World


async def test_a_disabled_plugin_does_not_run_until_it_is_enabled(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one"))

    assert (await world.manager.change(HELLO, None, False)).status == "disabled"
    assert world.runtime.running == {}
    with pytest.raises(PluginError, match="enable it first"):
        await world.manager.restart(HELLO)

    assert (await world.manager.change(HELLO, None, True)).status == "ready"
    await world.manager.restart(HELLO)
    assert world.runtime.restarted == [HELLO]


async def test_the_version_of_a_disabled_plugin_is_kept_until_the_new_one_has_started(
    world: World, tmp_path: Path
) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    await world.manager.change(HELLO, None, False)
    world.runtime.start_failures["2.0"] = "it fell over"

    assert await world.install(write_plugin(tmp_path / "two", version="2.0")) == "1.0 disabled"
    [facts] = world.manager.all()
    assert facts.reason == "version 2.0 takes its place once it is enabled and has started"
    assert not world.runtime.starting["2.0"].is_set()

    facts = await world.manager.change(HELLO, None, True)
    assert (facts.version, facts.status) == ("1.0", "ready")
    assert facts.reason == "version 2.0 could not be started: it fell over"
    await world.manager.change(HELLO, None, False)
    await world.install(write_plugin(tmp_path / "three", version="3.0"))
    facts = await world.manager.change(HELLO, None, True)
    assert (facts.version, facts.status, facts.reason) == ("3.0", "ready", "")


@pytest.mark.parametrize("delete", [True, False])
async def test_a_removed_plugin_is_gone_and_its_data_is_kept_or_deleted(
    world: World, tmp_path: Path, delete: bool
) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    data_file = world.data / HELLO / "kept.txt"
    data_file.parent.mkdir(parents=True)
    data_file.write_text("mine")

    await world.manager.remove(HELLO, delete)

    assert world.runtime.running == {}
    assert world.manager.all() == []
    assert names(world.root) == {".lock"}
    assert data_file.exists() != delete
    assert world.forgotten == ([f"{HELLO} 0"] if delete else [])


async def test_data_in_very_deep_folders_is_deleted(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    (world.data / HELLO).mkdir(parents=True)
    deep(world.data / HELLO, 1200)

    await world.manager.remove(HELLO, True)

    assert world.manager.all() == []
    assert not (world.data / HELLO).exists()


async def test_a_plugin_whose_data_can_not_be_deleted_is_not_reported_as_removed(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    (world.data / HELLO).mkdir(parents=True)
    monkeypatch.setattr(plugin_data, "delete", lambda folder: None)

    with pytest.raises(PluginError, match=f"what it keeps in {world.data / HELLO} can't be deleted; delete that"):
        await world.manager.remove(HELLO, True)

    [facts] = world.manager.all()
    assert (facts.status, facts.reason) == ("stopped", "it is about to be removed, and its data deleted")
    monkeypatch.undo()
    await world.manager.remove(HELLO, True)
    assert world.manager.all() == []


async def test_a_version_installed_during_a_removal_is_started_after_it(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    (world.data / HELLO).mkdir(parents=True)
    other = World(tmp_path)

    async def install_second_version(plugin_id: str) -> None:
        async with other.installer.package(str(write_plugin(tmp_path / "two", version="2.0"))) as package:
            await other.installer.add(package, {})

    world.on_forget = install_second_version
    await world.manager.remove(HELLO, True)

    assert world.version() == "2.0"
    assert not (world.data / HELLO).exists()


async def test_a_plugin_removed_while_it_starts_keeps_its_data_until_it_has_ended(world: World, tmp_path: Path) -> None:
    world.runtime.start_gates["1.0"] = asyncio.Event()
    installing = asyncio.create_task(world.install(write_plugin(tmp_path / "one")))
    await world.runtime.starting["1.0"].wait()
    world.folder.mark_for_removal(HELLO, "delete")

    world.runtime.start_gates["1.0"].set()
    await installing
    assert world.forgotten == []

    await world.manager.refresh()
    assert world.forgotten == [f"{HELLO} 0"]
    assert world.manager.all() == []


async def test_an_environment_of_a_draining_process_is_not_deleted(world: World, tmp_path: Path) -> None:
    requirements = Requirements(("six",))
    environment = tmp_path / "environments" / environment_key(requirements)
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").touch()
    (environment / MARKER).write_text("{}")
    await world.install(write_plugin(tmp_path / "one", requirements="six"))
    world.runtime.draining_folder = world.runtime.running[HELLO].plugin.folder
    long_ago = time.time() - UNUSED_ENVIRONMENT_SECONDS - 60
    os.utime(environment / MARKER, (long_ago, long_ago))

    await world.install(write_plugin(tmp_path / "two", version="2.0"))
    assert environment.exists()

    world.runtime.draining_folder = None
    await world.manager.refresh()
    assert not environment.exists()


async def test_a_removal_without_the_database_is_finished_when_it_is_available(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    world.database_is_unavailable = True

    with pytest.raises(StorageFailed):
        await world.manager.remove(HELLO, True)
    world.database_is_unavailable = False
    await world.manager.refresh()

    assert world.forgotten == [f"{HELLO} 0"]
    assert names(world.root) == {".lock"}
