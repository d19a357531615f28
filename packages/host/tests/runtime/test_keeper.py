"""What the records say is made true in a runtime; here the runtime is a list of what it was told."""

import asyncio
import contextlib
import errno
import fcntl
import os
import shutil
import threading
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from parlour.core.identity import SystemClock
from parlour.core.journal import StorageFailed
from parlour.core.plugins import Forget, PluginProblem
from parlour.core.ports import PluginUnavailable
from parlour.runtime.environments.builds import Builds
from parlour.runtime.environments.environment import MARKER, UNUSED_SECONDS, EnvironmentRules, Environments, key
from parlour.runtime.installed import data
from parlour.runtime.installed.folder import Installed, PluginFolder
from parlour.runtime.installed.installing import Installer
from parlour.runtime.installed.keeper import Keeper
from parlour.runtime.installed.settling import Settler
from parlour.runtime.packages.requirements import Requirements
from parlour.runtime.packages.sources import PackageRules
from parlour.runtime.process.sandbox import SandboxState

from .plugin_files import deep, names, write_plugin, write_zip

HELLO = "acme/hello"
ASKS = "{network: [a.example, b.example], storage: [plugin]}"


@dataclass
class Running:
    plugin: Installed
    status: str = "ready"
    reason: str = ""


class RecordedRuntime:
    """Runs what is installed, by name only. Versions in `unfit` don't start."""

    def __init__(self, folder: PluginFolder) -> None:
        self._folder = folder
        self.running: dict[str, Running] = {}
        self.unfit: dict[str, str] = {}
        self.slow: dict[str, asyncio.Event] = {}
        """Versions that start when they are let."""
        self.begun: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.restarted: list[str] = []
        self.finishing: Path | None = None
        """The code of a process that only finishes its runs."""

    async def settle(self, plugin_id: str, plugin: Installed | None) -> None:
        if plugin is None:
            self.running.pop(plugin_id, None)
        elif plugin_id not in self.running or self.running[plugin_id].plugin != plugin:
            await self._start(plugin)
            reason = self.unfit.get(plugin.version, "")
            self.running[plugin_id] = Running(plugin, "failed" if reason else "ready", reason)

    async def _start(self, plugin: Installed) -> None:
        self.begun[plugin.version].set()
        if plugin.version in self.slow:
            await self.slow[plugin.version].wait()

    async def replace(self, plugin: Installed) -> None:
        await self._start(plugin)
        if plugin.version in self.unfit:
            raise PluginUnavailable(self.unfit[plugin.version])
        self.running[plugin.plugin_id] = Running(plugin)

    async def restart(self, plugin_id: str) -> None:
        self.restarted.append(plugin_id)

    def supervisors(self) -> Mapping[str, Running]:
        return self.running

    def log(self, plugin_id: str) -> list[str]:
        return ["one", "two", "three"]

    def folders_in_use(self) -> frozenset[Path]:
        return frozenset(each.plugin.folder for each in self.running.values()) | {*filter(None, [self.finishing])}


class WatchedSettler(Settler):
    """Tells how often a plugin's turn was asked for."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._asked: Counter[str] = Counter()
        self._news = asyncio.Condition()

    @contextlib.asynccontextmanager
    async def turn(self, plugin_id: str) -> AsyncIterator[None]:
        self._asked[plugin_id] += 1
        async with self._news:
            self._news.notify_all()
        async with super().turn(plugin_id):
            yield

    async def asked(self, plugin_id: str, times: int) -> None:
        async with asyncio.timeout(10), self._news:
            await self._news.wait_for(lambda: self._asked[plugin_id] >= times)


class World:
    def __init__(self, path: Path, uv: Path | None = None) -> None:
        self.root = path / "plugins"
        self.data = path / "plugin-data"
        self.folder = PluginFolder(self.root)
        self.runtime = RecordedRuntime(self.folder)
        environments = Environments(path / "environments", EnvironmentRules(uv=uv))
        builds = Builds(environments)
        self.installer = Installer(self.folder, builds, PackageRules(), SystemClock())
        self.settler = WatchedSettler(self.folder, environments, self.runtime, self.data, self._forget, SystemClock())
        self.keeper = Keeper(
            self.folder,
            builds,
            self.installer,
            self.runtime,
            self.settler,
            SandboxState("none"),
        )
        self.forgotten: list[str] = []
        """Plugins whose stored data was deleted, each with what ran of them then."""
        self.database_is_away = False
        self.on_forget: Forget | None = None

    async def _forget(self, plugin_id: str) -> None:
        if self.database_is_away:
            raise StorageFailed("storage_failed", "the database is away")
        self.forgotten.append(f"{plugin_id} {len(self.runtime.running)}")
        if self.on_forget is not None:
            await self.on_forget(plugin_id)

    async def install(self, source: Path, granted: list[str] | None = None, upgrade: str | None = None) -> str:
        facts = await self.keeper.install(str(source), None, granted, upgrade)
        return f"{facts.version} {facts.status}"

    def version(self) -> str:
        return self.runtime.running[HELLO].plugin.version


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def test_a_plugin_is_installed_and_upgraded(world: World, tmp_path: Path) -> None:
    assert await world.install(write_plugin(tmp_path / "one")) == "1.0 ready"
    assert await world.install(write_plugin(tmp_path / "two", version="2.0")) == "2.0 ready"

    assert world.version() == "2.0"
    assert len([path for path in (world.root / HELLO).iterdir() if path.is_dir()]) == 1


async def test_a_version_that_does_not_start_leaves_the_old_one_and_says_so(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    world.runtime.unfit["2.0"] = "it fell over"

    with pytest.raises(PluginProblem, match=r"2\.0 could not be started, and 1\.0 goes on: it fell over") as refused:
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
    with pytest.raises(PluginProblem, match=r"3\.0 could not be started"):
        await third
    assert await fourth == "4.0 ready"
    assert world.version() == "4.0"


async def test_a_version_over_which_a_command_installed_another_is_not_said_to_be_taken(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    other = World(tmp_path)
    settle = world.settler.settle

    async def overtaken(plugin_id: str) -> None:
        async with other.installer.package(str(write_plugin(tmp_path / "three", version="3.0"))) as package:
            await other.installer.add(package, {})
        await settle(plugin_id)

    monkeypatch.setattr(world.settler, "settle", overtaken)
    with pytest.raises(PluginProblem, match=r"acme/hello 2\.0 was not taken, since another version was installed mean"):
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


async def test_what_a_plugin_asks_for_has_to_be_granted_in_words_the_first_time(world: World, tmp_path: Path) -> None:
    source = write_plugin(tmp_path / "one", permissions=ASKS)

    with pytest.raises(PluginProblem) as refused:
        await world.install(source)
    assert refused.value.code == "grants_required"
    assert refused.value.details["asked"]["network"] == ["a.example", "b.example"]
    assert world.keeper.all() == []

    await world.install(source, granted=["network:b.example"])

    [facts] = world.keeper.all()
    assert facts.granted == {"network": ["b.example"]}
    assert facts.ungranted == {"network": ["a.example"], "storage": ["plugin"]}
    assert world.runtime.running[HELLO].plugin.granted.network == ["b.example"]


async def test_an_upgrade_keeps_what_was_granted_and_gets_nothing_new_silently(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one", permissions=ASKS), granted=["network", "storage"])

    wants = "{network: [b.example, c.example], models: [invoke]}"
    await world.install(write_plugin(tmp_path / "two", version="2.0", permissions=wants))

    [facts] = world.keeper.all()
    assert facts.granted == {"network": ["b.example"]}
    assert facts.ungranted == {"network": ["c.example"], "models": ["invoke"]}

    facts = await world.keeper.change(HELLO, ["network", "models"], None)
    assert facts.ungranted == {}
    assert world.runtime.running[HELLO].plugin.granted.network == ["b.example", "c.example"]


@pytest.mark.parametrize("granted", [["models"], ["network:evil.example"]])
async def test_what_is_not_asked_for_can_not_be_granted(world: World, tmp_path: Path, granted: list[str]) -> None:
    source = write_plugin(tmp_path / "one", permissions=ASKS)
    with pytest.raises(PluginProblem, match="can't be granted"):
        await world.install(source, granted=granted)
    await world.install(source, granted=[])

    with pytest.raises(PluginProblem, match="can't be granted"):
        await world.keeper.change(HELLO, granted, None)

    assert world.keeper.all()[0].granted == {}


async def test_an_upgrade_of_a_named_plugin_takes_no_other(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one"))

    with pytest.raises(PluginProblem, match="this is acme/other and can't replace acme/hello"):
        await world.install(write_plugin(tmp_path / "two", name="other"), upgrade=HELLO)
    with pytest.raises(PluginProblem, match="acme/other is not installed"):
        await world.install(tmp_path / "two", upgrade="acme/other")
    assert await world.install(write_plugin(tmp_path / "three", version="2.0"), upgrade=HELLO) == "2.0 ready"

    assert [each.plugin_id for each in world.keeper.all()] == [HELLO]


async def test_another_plugin_of_the_same_name_and_version_is_refused_whatever_its_file_is_called(
    world: World, tmp_path: Path
) -> None:
    mine = write_zip(tmp_path / "mine.zip", write_plugin(tmp_path / "mine"))
    theirs = write_plugin(tmp_path / "theirs")
    (theirs / "runner.py").write_text("VERSION = 'theirs'\n")
    theirs = write_zip(tmp_path / "theirs.zip", theirs)

    async def upload(file: Path, upgrade: str | None = None) -> str:
        return (await world.keeper.install(str(file), "plugin.zip", None, upgrade)).sha256

    first = await upload(mine)
    with pytest.raises(PluginProblem, match=r"acme/hello 1\.0 is installed already, from plugin\.zip") as refused:
        await upload(theirs)
    assert refused.value.code == "identity_taken"
    assert await upload(mine) == first, "the same content is the same plugin"
    assert await upload(theirs, upgrade=HELLO) != first


async def test_a_version_that_waits_for_its_host_is_not_replaced_by_another_of_its_name(
    world: World, tmp_path: Path
) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    installer = world.keeper._installer
    async with installer.package(str(write_plugin(tmp_path / "two", version="2.0"))) as package:
        await installer.add(package, {})
    other = write_plugin(tmp_path / "other", version="2.0")
    (other / "runner.py").write_text("VERSION = 'other'\n")

    with pytest.raises(PluginProblem, match=r"2\.0 is installed already"):
        await world.install(other)


async def test_a_plugin_is_installed_from_its_folder_as_often_as_its_author_changes_it(
    world: World, tmp_path: Path
) -> None:
    folder = write_plugin(tmp_path / "one")
    await world.install(folder)
    (folder / "runner.py").write_text("VERSION = 'changed'\n")

    assert await world.install(folder) == "1.0 ready"


async def test_a_disabled_plugin_does_not_run_until_it_is_enabled(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one"))

    assert (await world.keeper.change(HELLO, None, False)).status == "disabled"
    assert world.runtime.running == {}
    with pytest.raises(PluginProblem, match="enable it first"):
        await world.keeper.restart(HELLO)

    assert (await world.keeper.change(HELLO, None, True)).status == "ready"
    await world.keeper.restart(HELLO)
    assert world.runtime.restarted == [HELLO]


async def test_the_version_of_a_disabled_plugin_is_kept_until_the_new_one_has_started(
    world: World, tmp_path: Path
) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    await world.keeper.change(HELLO, None, False)
    world.runtime.unfit["2.0"] = "it fell over"

    assert await world.install(write_plugin(tmp_path / "two", version="2.0")) == "1.0 disabled"
    [facts] = world.keeper.all()
    assert facts.reason == "version 2.0 takes its place once it is enabled and has started"
    assert not world.runtime.begun["2.0"].is_set()

    facts = await world.keeper.change(HELLO, None, True)
    assert (facts.version, facts.status) == ("1.0", "ready")
    assert facts.reason == "version 2.0 could not be started: it fell over"
    await world.keeper.change(HELLO, None, False)
    await world.install(write_plugin(tmp_path / "three", version="3.0"))
    facts = await world.keeper.change(HELLO, None, True)
    assert (facts.version, facts.status, facts.reason) == ("3.0", "ready", "")


@pytest.mark.parametrize("delete", [True, False])
async def test_a_removed_plugin_is_gone_and_its_data_as_asked(world: World, tmp_path: Path, delete: bool) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    kept = world.data / HELLO / "kept.txt"
    kept.parent.mkdir(parents=True)
    kept.write_text("mine")

    await world.keeper.remove(HELLO, delete)

    assert world.runtime.running == {}
    assert world.keeper.all() == []
    assert names(world.root) == {".lock"}
    assert kept.exists() != delete
    assert world.forgotten == ([f"{HELLO} 0"] if delete else [])


async def test_data_that_lies_too_deep_to_follow_is_deleted_too(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    (world.data / HELLO).mkdir(parents=True)
    deep(world.data / HELLO, 1200)

    await world.keeper.remove(HELLO, True)

    assert world.keeper.all() == []
    assert not (world.data / HELLO).exists()


async def test_a_plugin_whose_data_can_not_be_deleted_is_not_said_to_be_removed(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    (world.data / HELLO).mkdir(parents=True)
    monkeypatch.setattr(data, "delete", lambda folder: None)

    with pytest.raises(PluginProblem, match=f"what it keeps in {world.data / HELLO} can't be deleted; delete that"):
        await world.keeper.remove(HELLO, True)

    [facts] = world.keeper.all()
    assert (facts.status, facts.reason) == ("stopped", "it is about to be removed, and its data deleted")
    monkeypatch.undo()
    await world.keeper.remove(HELLO, True)
    assert world.keeper.all() == []


async def test_what_a_command_installs_while_a_removal_is_ended_is_started_after_it(
    world: World, tmp_path: Path
) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    (world.data / HELLO).mkdir(parents=True)
    other = World(tmp_path)

    async def meanwhile(plugin_id: str) -> None:
        async with other.installer.package(str(write_plugin(tmp_path / "two", version="2.0"))) as package:
            await other.installer.add(package, {})

    world.on_forget = meanwhile
    await world.keeper.remove(HELLO, True)

    assert world.version() == "2.0"
    assert not (world.data / HELLO).exists()


async def test_what_a_command_removes_while_it_starts_keeps_its_data_until_it_has_ended(
    world: World, tmp_path: Path
) -> None:
    world.runtime.slow["1.0"] = asyncio.Event()
    installing = asyncio.create_task(world.install(write_plugin(tmp_path / "one")))
    await world.runtime.begun["1.0"].wait()
    world.folder.give_up(HELLO, "delete")

    world.runtime.slow["1.0"].set()
    await installing
    assert world.forgotten == []

    await world.keeper.refresh()
    assert world.forgotten == [f"{HELLO} 0"]
    assert world.keeper.all() == []


async def test_an_environment_in_which_runs_are_finished_is_not_deleted(world: World, tmp_path: Path) -> None:
    requirements = Requirements(("six",))
    environment = tmp_path / "environments" / key(requirements)
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").touch()
    (environment / MARKER).write_text("{}")
    await world.install(write_plugin(tmp_path / "one", requirements="six"))
    world.runtime.finishing = world.runtime.running[HELLO].plugin.folder
    long_ago = time.time() - UNUSED_SECONDS - 60
    os.utime(environment / MARKER, (long_ago, long_ago))

    await world.install(write_plugin(tmp_path / "two", version="2.0"))
    assert environment.exists()

    world.runtime.finishing = None
    await world.keeper.refresh()
    assert not environment.exists()


async def test_a_removal_without_the_database_is_finished_when_it_is_back(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    world.database_is_away = True

    with pytest.raises(StorageFailed):
        await world.keeper.remove(HELLO, True)
    world.database_is_away = False
    await world.keeper.refresh()

    assert world.forgotten == [f"{HELLO} 0"]
    assert names(world.root) == {".lock"}


async def damaged(world: World, tmp_path: Path) -> Path:
    """An installed plugin whose record was damaged."""
    source = write_plugin(tmp_path / "one", permissions="{storage: [plugin]}")
    await world.install(source, granted=["storage"])
    (world.root / HELLO / "record.json").write_text('{"current":')
    return source


async def test_a_plugin_with_a_damaged_record_is_shown_as_failed_and_can_not_be_changed(
    world: World, tmp_path: Path
) -> None:
    await damaged(world, tmp_path)

    await world.keeper.refresh()

    [facts] = world.keeper.all()
    assert (facts.plugin_id, facts.status) == (HELLO, "failed")
    assert facts.reason == "its record (record.json) is damaged; install the plugin again, or remove it"
    assert facts.granted == {}
    assert world.runtime.running == {}
    for act in (lambda: world.keeper.restart(HELLO), lambda: world.keeper.change(HELLO, None, True)):
        with pytest.raises(PluginProblem, match="install the plugin again") as refused:
            await act()
        assert refused.value.code == "plugin_unusable"


@pytest.mark.parametrize("upgrade", [None, HELLO])
async def test_a_damaged_record_is_mended_by_installing_again(
    world: World, tmp_path: Path, upgrade: str | None
) -> None:
    source = await damaged(world, tmp_path)
    with pytest.raises(PluginProblem) as refused:
        await world.install(source, upgrade=upgrade)
    assert refused.value.code == "grants_required", "what was granted is not known any more"

    assert await world.install(source, granted=["storage"], upgrade=upgrade) == "1.0 ready"

    assert len([path for path in (world.root / HELLO).iterdir() if path.is_dir()]) == 1


@pytest.mark.parametrize("delete", [True, False])
async def test_a_plugin_with_a_damaged_record_is_removed_and_its_data_as_asked(
    world: World, tmp_path: Path, delete: bool
) -> None:
    await damaged(world, tmp_path)
    (world.data / HELLO).mkdir(parents=True)

    await world.keeper.remove(HELLO, delete)

    assert world.keeper.all() == []
    assert names(world.root) == {".lock"}
    assert (world.data / HELLO).exists() != delete
    assert world.forgotten == ([f"{HELLO} 0"] if delete else [])


async def test_a_removal_that_was_cut_off_is_finished_at_the_next_refresh(world: World, tmp_path: Path) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    world.folder.edit(HELLO, lambda record: record.model_copy(update={"removing": "delete"}))

    await World(tmp_path).keeper.refresh()

    assert names(world.root) == {".lock"}


@pytest.mark.parametrize("plugin_id", ["acme/other", "../..", "acme/"])
async def test_what_is_not_installed_is_not_found(world: World, plugin_id: str) -> None:
    for act in (
        lambda: world.keeper.remove(plugin_id, True),
        lambda: world.keeper.restart(plugin_id),
        lambda: world.keeper.change(plugin_id, [], None),
    ):
        with pytest.raises(PluginProblem) as refused:
            await act()
        assert refused.value.code == "not_found"
    with pytest.raises(PluginProblem):
        await world.keeper.log(plugin_id, 10)


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

    with pytest.raises(
        PluginProblem, match=r"its requirements \(six\) can't be installed: no luck; nothing was changed"
    ):
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
    with pytest.raises(PluginProblem, match="no luck"):
        await world.install(wanting)

    await world.keeper.refresh()

    [facts] = World(tmp_path).keeper.all()
    assert (facts.version, facts.status, facts.source) == ("1.0", "failed", str(wanting))
    assert facts.reason == "its requirements (six) can't be installed: no luck"
    assert names(world.root) == {".lock", "acme", "acme/hello", "acme/hello/failure.json"}, "none of its code is kept"
    assert world.runtime.running == {}
    with pytest.raises(PluginProblem, match="no luck"):
        await world.keeper.restart(HELLO)

    assert await world.install(write_plugin(tmp_path / "two", version="1.1")) == "1.1 ready"
    assert not (world.root / HELLO / "failure.json").exists()


async def test_a_plugin_that_could_not_be_installed_is_removed_like_any_other(tmp_path: Path) -> None:
    world = World(tmp_path, uv=refusing_uv(tmp_path))
    with pytest.raises(PluginProblem, match="no luck"):
        await world.install(write_plugin(tmp_path / "one", requirements="six\n"))

    await world.keeper.remove(HELLO, False)

    assert world.keeper.all() == []
    assert names(world.root) == {".lock"}


async def test_an_upgrade_that_could_not_be_installed_is_the_refusal_that_is_shown(tmp_path: Path) -> None:
    world = World(tmp_path, uv=refusing_uv(tmp_path))
    await world.install(write_plugin(tmp_path / "one"))
    world.runtime.unfit["2.0"] = "it fell over"
    with pytest.raises(PluginProblem):
        await world.install(write_plugin(tmp_path / "two", version="2.0"))

    with pytest.raises(PluginProblem, match="no luck"):
        await world.install(write_plugin(tmp_path / "three", version="3.0", requirements="six\n"))

    [facts] = world.keeper.all()
    assert (facts.version, facts.status) == ("1.0", "ready")
    assert facts.reason == "version 3.0 could not be installed: its requirements (six) can't be installed: no luck"


async def test_a_version_that_did_not_run_is_not_said_to_go_on(world: World, tmp_path: Path) -> None:
    world.runtime.unfit = {"1.0": "it fell over", "2.0": "it fell over too"}
    await world.install(write_plugin(tmp_path / "one"))

    words = r"2\.0 could not be started, and 1\.0 stays, which is failed itself: it fell over too"
    with pytest.raises(PluginProblem, match=words):
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

    building = asyncio.create_task(world.keeper._builds.python(HELLO, Requirements(("six",))))
    async with asyncio.timeout(10):
        while not begun.exists():  # noqa: ASYNC110 - a file tells nobody
            await asyncio.sleep(0.01)

    assert world.keeper.all()[0].status == "building"
    building.cancel()
    await asyncio.wait([building])
    assert world.keeper.all()[0].status == "starting"


async def test_nobody_waits_for_the_disk_while_plugins_are_changed(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def aside(function: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any, **options: Any) -> Any:
            used.append(threading.current_thread() is not threading.main_thread())
            return function(*arguments, **options)

        return watched

    used: list[bool] = []
    for module, name in ((os, "fsync"), (os, "rename"), (fcntl, "flock"), (shutil, "rmtree"), (shutil, "copy")):
        monkeypatch.setattr(module, name, aside(getattr(module, name)))
    world.runtime.unfit["3.0"] = "it is broken"
    await world.install(write_zip(tmp_path / "one.zip", write_plugin(tmp_path / "one")))
    await world.install(write_plugin(tmp_path / "two", version="2.0"))
    for source in (write_plugin(tmp_path / "three", version="3.0"), write_zip(tmp_path / "bad.zip", tmp_path)):
        with pytest.raises(PluginProblem):
            await world.install(source)
    await world.keeper.change(HELLO, None, False)
    await world.keeper.remove(HELLO, True)

    assert len(used) > 20
    assert all(used)


@pytest.mark.parametrize("kind", ["folder", "zip"])
async def test_a_full_disk_is_one_sentence_and_leaves_the_old_version(
    world: World, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    before = names(world.root)
    source = write_plugin(tmp_path / "two", version="2.0")
    source = write_zip(tmp_path / "two.zip", source) if kind == "zip" else source

    def full(*arguments: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for name in ("copyfile", "copyfileobj"):
        monkeypatch.setattr(shutil, name, full)
    words = "the plugin could not be copied: No space left on device; nothing was changed; make room on the disk"
    with pytest.raises(PluginProblem, match=words) as no:
        await world.install(source)

    assert no.value.code == "storage_full"
    assert names(world.root) == before
    assert world.version() == "1.0"


async def test_a_full_disk_refuses_every_change_with_the_remedy_and_leaves_all_as_it_was(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.install(write_plugin(tmp_path / "one"))
    before = world.keeper.all()

    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async def restart(plugin_id: str) -> None:
        full()

    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr(world.runtime, "restart", restart)
    for act in (
        lambda: world.keeper.change(HELLO, None, False),
        lambda: world.keeper.restart(HELLO),
        lambda: world.keeper.remove(HELLO, False),
    ):
        with pytest.raises(PluginProblem, match="No space left on device; make room on the disk of") as no:
            await act()
        assert no.value.code == "storage_full"

    assert world.keeper.all() == before


async def test_a_disk_that_may_not_be_written_is_another_refusal(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.install(write_plugin(tmp_path / "one"))

    def denied(*arguments: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "fsync", denied)
    with pytest.raises(PluginProblem, match="Read-only file system; let the user that runs Parlour write to") as no:
        await world.keeper.remove(HELLO, False)
    assert no.value.code == "not_written"
