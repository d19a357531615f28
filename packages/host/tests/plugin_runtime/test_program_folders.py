"""Tests which folders of programs are deleted, and when."""

import os
import time
from pathlib import Path

import pytest

from parlour.core.model.ids import PluginId
from parlour.plugin_runtime.programs.folders import ProgramFolders, locked

PLUGIN = PluginId("test/agent")
DAY_SECONDS = 86_400


@pytest.fixture
def folders(tmp_path: Path) -> ProgramFolders:
    return ProgramFolders(tmp_path, ())


def aged(path: Path, days: float) -> Path:
    when = time.time() - days * DAY_SECONDS
    os.utime(path, (when, when))
    return path


def test_a_working_directory_is_deleted_when_it_was_not_used_for_long(folders: ProgramFolders) -> None:
    old, used, busy, young = (folders.workspace(PLUGIN, name) for name in ("old", "used", "busy", "young"))
    for each in (old, used, busy):
        with locked(each):
            (each / "file").write_text("x")
        aged(each / ".parlour" / "lock", 31)
        aged(each, 31)
    with locked(used):
        pass
    with locked(busy):
        aged(busy / ".parlour" / "lock", 31)
        assert folders.delete_unused(30) == 1

    assert not old.exists()
    assert all(each.is_dir() for each in (used, busy, young))


def test_a_home_is_deleted_when_no_program_was_started_with_it_for_long(folders: ProgramFolders) -> None:
    old, again, running = (folders.home(PLUGIN, name) for name in ("old", "again", "running"))
    (old / "rules.json").write_text("{}")
    for each in (old, again, running):
        aged(each, 181)
    folders.home(PLUGIN, "again")

    assert folders.delete_unused_homes(180, {running}) == 1

    assert not old.exists()
    assert again.is_dir()
    assert running.is_dir()


def test_the_folders_of_a_conversation_are_those_whose_name_begins_with_its_id(folders: ProgramFolders) -> None:
    mine, other, longer = (folders.workspace(PLUGIN, name) for name in ("c1-a", "c2-a", "c11-a"))
    cache = mine / "cache"
    cache.mkdir()
    (cache / "file").write_text("x")
    cache.chmod(0o500)

    folders.delete_of_conversation("c1")
    folders.delete_of_conversation("*")

    assert not mine.exists()
    assert other.is_dir()
    assert longer.is_dir()
