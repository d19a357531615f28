"""Installed versions run one after the other, and no plugin waits for another plugin."""

import asyncio
from pathlib import Path

import pytest

from parlour.core.model.plugin_manager import PluginError

from ..plugin_files import write_plugin
from .manager_world import HELLO, World


async def test_a_plugin_is_installed_and_upgraded(world: World, tmp_path: Path) -> None:
    assert await world.install(write_plugin(tmp_path / "one")) == "1.0 ready"
    assert await world.install(write_plugin(tmp_path / "two", version="2.0")) == "2.0 ready"

    assert world.version() == "2.0"
    assert len([path for path in (world.root / HELLO).iterdir() if path.is_dir()]) == 1


async def test_a_version_that_does_not_start_is_reported_and_the_old_one_stays(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    world.runtime.start_failures["2.0"] = "it fell over"

    with pytest.raises(PluginError, match=r"2\.0 could not be started, and 1\.0 goes on: it fell over") as refused:
        await world.install(write_plugin(tmp_path / "two", version="2.0"))

    assert refused.value.code == "plugin_not_started"
    assert world.version() == "1.0"
    [facts] = world.manager.all()
    assert (facts.version, facts.status) == ("1.0", "ready")
    assert "2.0 could not be started" in facts.reason
    assert await world.install(write_plugin(tmp_path / "three", version="3.0")) == "3.0 ready"
    assert world.manager.all()[0].reason == ""


async def test_a_first_version_that_does_not_start_is_installed_as_failed(world: World, tmp_path: Path) -> None:
    world.runtime.start_failures["1.0"] = "it fell over"

    assert await world.install(write_plugin(tmp_path / "one")) == "1.0 failed"
    assert world.manager.all()[0].reason == "it fell over"


async def test_a_version_installed_while_no_host_ran_is_tried_at_the_next_refresh(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    world.runtime.start_failures["2.0"] = "it fell over"
    other = World(tmp_path)
    async with other.manager._installer.package(str(write_plugin(tmp_path / "two", version="2.0"))) as package:
        await other.manager._installer.add(package, {})

    await world.manager.refresh()

    assert world.version() == "1.0"
    assert "it fell over" in world.manager.all()[0].reason


async def test_concurrent_installs_of_one_plugin_run_in_order_with_their_own_outcomes(
    world: World, tmp_path: Path
) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    world.runtime.start_gates["2.0"] = asyncio.Event()
    world.runtime.start_failures["3.0"] = "it fell over"
    second = asyncio.create_task(world.install(write_plugin(tmp_path / "two", version="2.0")))
    await world.runtime.starting["2.0"].wait()
    third = asyncio.create_task(world.install(write_plugin(tmp_path / "three", version="3.0")))
    fourth = asyncio.create_task(world.install(write_plugin(tmp_path / "four", version="4.0")))
    await world.reconciler.wait_for_lock_requests("acme/hello", 4)
    assert not world.runtime.starting["3.0"].is_set()
    assert not world.runtime.starting["4.0"].is_set()

    world.runtime.start_gates["2.0"].set()

    assert await second == "2.0 ready"
    with pytest.raises(PluginError, match=r"3\.0 could not be started"):
        await third
    assert await fourth == "4.0 ready"
    assert world.version() == "4.0"


async def test_a_version_replaced_during_its_installation_is_reported_as_not_activated(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    other = World(tmp_path)
    settle = world.reconciler.reconcile

    async def reconcile_after_other_install(plugin_id: str) -> None:
        async with other.installer.package(str(write_plugin(tmp_path / "three", version="3.0"))) as package:
            await other.installer.add(package, {})
        await settle(plugin_id)

    monkeypatch.setattr(world.reconciler, "reconcile", reconcile_after_other_install)
    with pytest.raises(PluginError, match=r"acme/hello 2\.0 was not taken, since another version was installed mean"):
        await world.install(write_plugin(tmp_path / "two", version="2.0"))
    assert world.version() == "3.0"


async def test_a_plugin_that_hangs_at_its_start_delays_no_other(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "good", name="good", version="1.1"))
    world.runtime.start_gates["9.0"] = asyncio.Event()
    hanging = asyncio.create_task(world.install(write_plugin(tmp_path / "one", version="9.0")))
    await world.runtime.starting["9.0"].wait()

    async with asyncio.timeout(10):
        assert await world.install(write_plugin(tmp_path / "other", name="other")) == "1.0 ready"
        assert (await world.manager.change("acme/good", None, False)).status == "disabled"
        await world.manager.remove("acme/other", True)
    refreshing = asyncio.create_task(world.manager.refresh())
    world.folder.edit("acme/good", lambda record: record.model_copy(update={"enabled": True}))
    world.runtime.starting["1.1"].clear()
    async with asyncio.timeout(10):
        await world.runtime.starting["1.1"].wait()

    assert not hanging.done()
    world.runtime.start_gates["9.0"].set()
    assert await hanging == "9.0 ready"
    await refreshing


async def test_a_plugin_removed_while_it_is_upgraded_is_gone_afterwards(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    world.runtime.start_gates["2.0"] = asyncio.Event()
    upgrading = asyncio.create_task(world.install(write_plugin(tmp_path / "two", version="2.0")))
    await world.runtime.starting["2.0"].wait()
    removing = asyncio.create_task(world.manager.remove(HELLO, False))

    world.runtime.start_gates["2.0"].set()

    assert await upgrading == "2.0 ready"
    await removing
    assert world.manager.all() == []
    assert world.runtime.running == {}


async def test_a_failure_of_one_plugin_does_not_prevent_the_start_of_another(world: World, tmp_path: Path) -> None:
    for name in ("hello", "other"):
        await world.install(write_plugin(tmp_path / name, name=name))
    world.folder.edit(HELLO, lambda record: record.model_copy(update={"removing": "delete"}))
    later = World(tmp_path)
    later.database_is_unavailable = True

    await later.manager.refresh()

    assert set(later.runtime.running) == {"acme/other"}
