"""What is shown of a plugin while its environment is built, and when it can't be."""

import asyncio
import os
from pathlib import Path

import pytest

from parlour.core.model.plugin_manager import PluginError
from parlour.plugin_runtime.packages.requirements import Requirements

from ..plugin_files import names, write_plugin
from .kept import HELLO, World


async def test_the_last_lines_of_its_log_are_told(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one"))

    assert await world.keeper.log(HELLO, 2) == ["two", "three"]


async def test_a_plugin_whose_environment_is_being_built_is_shown_so(tmp_path: Path) -> None:
    gate, begun = tmp_path / "gate", tmp_path / "begun"
    os.mkfifo(gate)
    failing = tmp_path / "uv"
    failing.write_text(f'#!/bin/sh\necho > "{begun}"; read line < "{gate}"; echo "error: no luck"; exit 1\n')
    failing.chmod(0o755)
    world = World(tmp_path, uv=failing)
    installing = asyncio.create_task(world.install(write_plugin(tmp_path / "one", requirements="six\n")))
    async with asyncio.timeout(10):
        while not world.keeper.all():  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.01)
    assert [(each.version, each.status) for each in world.keeper.all()] == [("1.0", "building")]

    await asyncio.to_thread(gate.write_text, "go\n")

    with pytest.raises(PluginError, match=r"its requirements \(six\) can't be installed: no luck; nothing was changed"):
        await installing
    assert [(each.version, each.status) for each in world.keeper.all()] == [("1.0", "failed")]


def refusing_uv(folder: Path) -> Path:
    program = folder / "uv"
    program.write_text('#!/bin/sh\necho "error: no luck"; exit 1\n')
    program.chmod(0o755)
    return program


async def test_a_plugin_that_could_not_be_installed_is_shown_as_failed_until_it_is_installed_well(
    tmp_path: Path,
) -> None:
    world = World(tmp_path, uv=refusing_uv(tmp_path))
    wanting = write_plugin(tmp_path / "one", requirements="six\n")
    with pytest.raises(PluginError, match="no luck"):
        await world.install(wanting)

    await world.keeper.refresh()

    [facts] = World(tmp_path).keeper.all()
    assert (facts.version, facts.status, facts.source) == ("1.0", "failed", str(wanting))
    assert facts.reason == "its requirements (six) can't be installed: no luck"
    assert names(world.root) == {".lock", "acme", "acme/hello", "acme/hello/failure.json"}, "none of its code is kept"
    assert world.runtime.running == {}
    with pytest.raises(PluginError, match="no luck"):
        await world.keeper.restart(HELLO)

    assert await world.install(write_plugin(tmp_path / "two", version="1.1")) == "1.1 ready"
    assert not (world.root / HELLO / "failure.json").exists()


async def test_a_plugin_that_could_not_be_installed_is_removed_like_any_other(tmp_path: Path) -> None:
    world = World(tmp_path, uv=refusing_uv(tmp_path))
    with pytest.raises(PluginError, match="no luck"):
        await world.install(write_plugin(tmp_path / "one", requirements="six\n"))

    await world.keeper.remove(HELLO, False)

    assert world.keeper.all() == []
    assert names(world.root) == {".lock"}


async def test_an_upgrade_that_could_not_be_installed_is_the_refusal_that_is_shown(tmp_path: Path) -> None:
    world = World(tmp_path, uv=refusing_uv(tmp_path))
    await world.install(write_plugin(tmp_path / "one"))
    world.runtime.unfit["2.0"] = "it fell over"
    with pytest.raises(PluginError):
        await world.install(write_plugin(tmp_path / "two", version="2.0"))

    with pytest.raises(PluginError, match="no luck"):
        await world.install(write_plugin(tmp_path / "three", version="3.0", requirements="six\n"))

    [facts] = world.keeper.all()
    assert (facts.version, facts.status) == ("1.0", "ready")
    assert facts.reason == "version 3.0 could not be installed: its requirements (six) can't be installed: no luck"


async def test_a_version_that_did_not_run_is_not_said_to_go_on(world: World, tmp_path: Path) -> None:
    world.runtime.unfit = {"1.0": "it fell over", "2.0": "it fell over too"}
    await world.install(write_plugin(tmp_path / "one"))

    words = r"2\.0 could not be started, and 1\.0 stays, which is failed itself: it fell over too"
    with pytest.raises(PluginError, match=words):
        await world.install(write_plugin(tmp_path / "two", version="2.0"))


async def test_a_start_that_waits_for_an_environment_is_shown_as_building(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    hanging = tmp_path / "uv"
    hanging.write_text(f'#!/bin/sh\necho > "{begun}"; exec sleep 60\n')
    hanging.chmod(0o755)
    world = World(tmp_path, uv=hanging)
    await world.install(write_plugin(tmp_path / "one"))
    world.runtime.running[HELLO].status = "starting"
    assert world.keeper.all()[0].status == "starting"

    building = asyncio.create_task(world.keeper._builds.ensure_environment(HELLO, Requirements(("six",))))
    async with asyncio.timeout(10):
        while not begun.exists():  # noqa: ASYNC110 - a file tells nobody
            await asyncio.sleep(0.01)

    assert world.keeper.all()[0].status == "building"
    building.cancel()
    await asyncio.wait([building])
    assert world.keeper.all()[0].status == "starting"
