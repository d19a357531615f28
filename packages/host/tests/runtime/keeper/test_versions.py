"""What is installed runs, one version after the other, and no plugin waits for another."""

import asyncio
from pathlib import Path

import pytest

from parlour.core.model.plugin_manager import PluginError

from ..plugin_files import write_plugin
from .kept import HELLO, World


async def test_a_plugin_is_installed_and_upgraded(world: World, tmp_path: Path) -> None:
    assert await world.install(write_plugin(tmp_path / "one")) == "1.0 ready"
    assert await world.install(write_plugin(tmp_path / "two", version="2.0")) == "2.0 ready"

    assert world.version() == "2.0"
    assert len([path for path in (world.root / HELLO).iterdir() if path.is_dir()]) == 1


async def test_a_version_that_does_not_start_leaves_the_old_one_and_says_so(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    world.runtime.unfit["2.0"] = "it fell over"

    with pytest.raises(PluginError, match=r"2\.0 could not be started, and 1\.0 goes on: it fell over") as refused:
        await world.install(write_plugin(tmp_path / "two", version="2.0"))

    assert refused.value.code == "plugin_not_started"
    assert world.version() == "1.0"
    [facts] = world.keeper.all()
    assert (facts.version, facts.status) == ("1.0", "ready")
    assert "2.0 could not be started" in facts.reason
    assert await world.install(write_plugin(tmp_path / "three", version="3.0")) == "3.0 ready"
    assert world.keeper.all()[0].reason == ""


async def test_a_first_version_that_does_not_start_is_there_and_failed(world: World, tmp_path: Path) -> None:
    world.runtime.unfit["1.0"] = "it fell over"

    assert await world.install(write_plugin(tmp_path / "one")) == "1.0 failed"
    assert world.keeper.all()[0].reason == "it fell over"


async def test_a_version_installed_while_no_host_ran_is_tried_at_the_next_refresh(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    world.runtime.unfit["2.0"] = "it fell over"
    other = World(tmp_path)
    async with other.keeper._installer.package(str(write_plugin(tmp_path / "two", version="2.0"))) as package:
        await other.keeper._installer.add(package, {})

    await world.keeper.refresh()

    assert world.version() == "1.0"
    assert "it fell over" in world.keeper.all()[0].reason


async def test_installs_of_one_plugin_have_their_turns_and_each_is_told_what_became_of_it(
    world: World, tmp_path: Path
) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    world.runtime.slow["2.0"] = asyncio.Event()
    world.runtime.unfit["3.0"] = "it fell over"
    second = asyncio.create_task(world.install(write_plugin(tmp_path / "two", version="2.0")))
    await world.runtime.begun["2.0"].wait()
    third = asyncio.create_task(world.install(write_plugin(tmp_path / "three", version="3.0")))
    fourth = asyncio.create_task(world.install(write_plugin(tmp_path / "four", version="4.0")))
    await world.settler.asked("acme/hello", 4)
    assert not world.runtime.begun["3.0"].is_set()
    assert not world.runtime.begun["4.0"].is_set()

    world.runtime.slow["2.0"].set()

    assert await second == "2.0 ready"
    with pytest.raises(PluginError, match=r"3\.0 could not be started"):
        await third
    assert await fourth == "4.0 ready"
    assert world.version() == "4.0"


async def test_a_version_over_which_a_command_installed_another_is_not_said_to_be_taken(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    other = World(tmp_path)
    settle = world.settler.reconcile

    async def overtaken(plugin_id: str) -> None:
        async with other.installer.package(str(write_plugin(tmp_path / "three", version="3.0"))) as package:
            await other.installer.add(package, {})
        await settle(plugin_id)

    monkeypatch.setattr(world.settler, "reconcile", overtaken)
    with pytest.raises(PluginError, match=r"acme/hello 2\.0 was not taken, since another version was installed mean"):
        await world.install(write_plugin(tmp_path / "two", version="2.0"))
    assert world.version() == "3.0"


async def test_a_plugin_that_hangs_at_its_start_holds_up_no_other(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "good", name="good", version="1.1"))
    world.runtime.slow["9.0"] = asyncio.Event()
    hanging = asyncio.create_task(world.install(write_plugin(tmp_path / "one", version="9.0")))
    await world.runtime.begun["9.0"].wait()

    async with asyncio.timeout(10):
        assert await world.install(write_plugin(tmp_path / "other", name="other")) == "1.0 ready"
        assert (await world.keeper.change("acme/good", None, False)).status == "disabled"
        await world.keeper.remove("acme/other", True)
    refreshing = asyncio.create_task(world.keeper.refresh())
    world.folder.edit("acme/good", lambda record: record.model_copy(update={"enabled": True}))
    world.runtime.begun["1.1"].clear()
    async with asyncio.timeout(10):
        await world.runtime.begun["1.1"].wait()

    assert not hanging.done()
    world.runtime.slow["9.0"].set()
    assert await hanging == "9.0 ready"
    await refreshing


async def test_a_plugin_removed_while_it_is_upgraded_is_gone_afterwards(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    world.runtime.slow["2.0"] = asyncio.Event()
    upgrading = asyncio.create_task(world.install(write_plugin(tmp_path / "two", version="2.0")))
    await world.runtime.begun["2.0"].wait()
    removing = asyncio.create_task(world.keeper.remove(HELLO, False))

    world.runtime.slow["2.0"].set()

    assert await upgrading == "2.0 ready"
    await removing
    assert world.keeper.all() == []
    assert world.runtime.running == {}


async def test_what_goes_wrong_with_one_plugin_keeps_no_other_from_its_start(world: World, tmp_path: Path) -> None:
    for name in ("hello", "other"):
        await world.install(write_plugin(tmp_path / name, name=name))
    world.folder.edit(HELLO, lambda record: record.model_copy(update={"removing": "delete"}))
    later = World(tmp_path)
    later.database_is_away = True

    await later.keeper.refresh()

    assert set(later.runtime.running) == {"acme/other"}
