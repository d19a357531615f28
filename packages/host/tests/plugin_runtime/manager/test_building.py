"""The status of a plugin while its environment is built, and after a failed build."""

import asyncio
import os
from pathlib import Path

import pytest

from parlour.core.model.plugin_manager import PluginError
from parlour.plugin_runtime.packages.requirements import Requirements

from ..plugin_files import names, write_plugin
from .manager_world import HELLO, World


async def test_the_last_lines_of_the_log_are_returned(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one"))

    assert await world.manager.log(HELLO, 2) == ["two", "three"]


async def test_a_plugin_is_shown_as_building_while_its_environment_is_built(tmp_path: Path) -> None:
    gate, start_marker = tmp_path / "gate", tmp_path / "begun"
    os.mkfifo(gate)
    failing = tmp_path / "uv"
    failing.write_text(f'#!/bin/sh\necho > "{start_marker}"; read line < "{gate}"; echo "error: no luck"; exit 1\n')
    failing.chmod(0o755)
    world = World(tmp_path, uv=failing)
    installing = asyncio.create_task(world.install(write_plugin(tmp_path / "one", requirements="six\n")))
    async with asyncio.timeout(10):
        while not world.manager.all():  # noqa: ASYNC110 - there is no notification
            await asyncio.sleep(0.01)
    assert [(each.version, each.status) for each in world.manager.all()] == [("1.0", "building")]

    await asyncio.to_thread(gate.write_text, "go\n")

    with pytest.raises(PluginError, match=r"its requirements \(six\) can't be installed: no luck; nothing was changed"):
        await installing
    assert [(each.version, each.status) for each in world.manager.all()] == [("1.0", "failed")]


def refusing_uv(folder: Path) -> Path:
    program = folder / "uv"
    program.write_text('#!/bin/sh\necho "error: no luck"; exit 1\n')
    program.chmod(0o755)
    return program


async def test_a_failed_installation_is_shown_until_a_later_one_succeeds(
    tmp_path: Path,
) -> None:
    world = World(tmp_path, uv=refusing_uv(tmp_path))
    source = write_plugin(tmp_path / "one", requirements="six\n")
    with pytest.raises(PluginError, match="no luck"):
        await world.install(source)

    await world.manager.refresh()

    [facts] = World(tmp_path).manager.all()
    assert (facts.version, facts.status, facts.source) == ("1.0", "failed", str(source))
    assert facts.reason == "its requirements (six) can't be installed: no luck"
    assert names(world.root) == {".lock", "acme", "acme/hello", "acme/hello/failure.json"}, "none of its code is kept"
    assert world.runtime.running == {}
    with pytest.raises(PluginError, match="no luck"):
        await world.manager.restart(HELLO)

    assert await world.install(write_plugin(tmp_path / "two", version="1.1")) == "1.1 ready"
    assert not (world.root / HELLO / "failure.json").exists()


async def test_a_plugin_that_failed_to_install_can_be_removed(tmp_path: Path) -> None:
    world = World(tmp_path, uv=refusing_uv(tmp_path))
    with pytest.raises(PluginError, match="no luck"):
        await world.install(write_plugin(tmp_path / "one", requirements="six\n"))

    await world.manager.remove(HELLO, False)

    assert world.manager.all() == []
    assert names(world.root) == {".lock"}


async def test_the_latest_failed_upgrade_is_the_reason_that_is_shown(tmp_path: Path) -> None:
    world = World(tmp_path, uv=refusing_uv(tmp_path))
    await world.install(write_plugin(tmp_path / "one"))
    world.runtime.start_failures["2.0"] = "it fell over"
    with pytest.raises(PluginError):
        await world.install(write_plugin(tmp_path / "two", version="2.0"))

    with pytest.raises(PluginError, match="no luck"):
        await world.install(write_plugin(tmp_path / "three", version="3.0", requirements="six\n"))

    [facts] = world.manager.all()
    assert (facts.version, facts.status) == ("1.0", "ready")
    assert facts.reason == "version 3.0 could not be installed: its requirements (six) can't be installed: no luck"


async def test_a_failed_upgrade_reports_that_the_old_version_has_failed_too(world: World, tmp_path: Path) -> None:
    world.runtime.start_failures = {"1.0": "it fell over", "2.0": "it fell over too"}
    await world.install(write_plugin(tmp_path / "one"))

    message = r"2\.0 could not be started, and 1\.0 stays, which is failed itself: it fell over too"
    with pytest.raises(PluginError, match=message):
        await world.install(write_plugin(tmp_path / "two", version="2.0"))


async def test_a_start_that_waits_for_an_environment_is_shown_as_building(tmp_path: Path) -> None:
    start_marker = tmp_path / "begun"
    hanging = tmp_path / "uv"
    hanging.write_text(f'#!/bin/sh\necho > "{start_marker}"; exec sleep 60\n')
    hanging.chmod(0o755)
    world = World(tmp_path, uv=hanging)
    await world.install(write_plugin(tmp_path / "one"))
    world.runtime.running[HELLO].status = "starting"
    assert world.manager.all()[0].status == "starting"

    building = asyncio.create_task(world.manager._builds.ensure_environment(HELLO, Requirements(("six",))))
    async with asyncio.timeout(10):
        while not start_marker.exists():  # noqa: ASYNC110 - a file has no notification
            await asyncio.sleep(0.01)

    assert world.manager.all()[0].status == "building"
    building.cancel()
    await asyncio.wait([building])
    assert world.manager.all()[0].status == "starting"
