"""Installed plugins: a version is there wholly or not at all, and what runs keeps its files."""

import fcntl
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from parlour.plugin_runtime import records
from parlour.plugin_runtime import store as folder_module
from parlour.plugin_runtime.packages import file_tree
from parlour.plugin_runtime.records import Version
from parlour.plugin_runtime.store import RECORD, PluginFolder
from parlour_sdk.plugin import PluginInvalid

from .plugin_files import names, write_plugin

HELLO = "acme/hello"


@pytest.fixture
def plugins(tmp_path: Path) -> PluginFolder:
    return PluginFolder(tmp_path / "plugins")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "plugins"


def add(
    plugins: PluginFolder, version: str = "1.0", at: int = 1, permissions: str = "{}", **granted: list[str]
) -> Version:
    with plugins.staging() as staging:
        code = write_plugin(staging / "code", version=version, permissions=permissions)
        facts = Version(version=version, folder="", source="a test", sha256="0", installed_at=at, granted=dict(granted))
        return plugins.add(HELLO, code, facts)


def candidate(plugins: PluginFolder) -> Version | None:
    record = plugins.record(HELLO)
    return record.candidate if record else None


def test_an_installed_plugin_is_found_by_its_identity(plugins: PluginFolder) -> None:
    assert plugins.installed() == {}

    add(plugins, at=7)

    [found] = plugins.installed().values()
    assert (found.plugin_id, found.version, found.stamp) == (HELLO, "1.0", 7)
    assert names(found.folder) == {"manifest.yaml", "runner.yaml", "runner.py"}


def test_a_new_version_waits_beside_the_old_one_until_it_is_promoted(plugins: PluginFolder, root: Path) -> None:
    old = add(plugins, "1.0")
    new = add(plugins, "2.0")
    assert plugins.installed()[HELLO].version == "1.0"
    assert candidate(plugins) == new
    assert {old.folder, new.folder} <= {path.name for path in (root / HELLO).iterdir()}

    plugins.edit(HELLO, lambda record: record.promoting(new))
    plugins.sweep()

    assert plugins.installed()[HELLO].version == "2.0"
    assert candidate(plugins) is None
    assert {path.name for path in (root / HELLO).iterdir()} == {new.folder, RECORD}


def test_a_refused_version_leaves_the_old_one_and_the_reason(plugins: PluginFolder, root: Path) -> None:
    old = add(plugins, "1.0")
    new = add(plugins, "2.0")

    plugins.edit(HELLO, lambda record: record.refusing(new, "it fell over", 5))
    plugins.sweep()

    record = plugins.record(HELLO)
    assert record is not None
    assert record.refused is not None
    assert (record.refused.version, record.refused.reason, record.refused.at) == ("2.0", "it fell over", 5)
    assert plugins.installed()[HELLO].version == "1.0"
    assert {path.name for path in (root / HELLO).iterdir()} == {old.folder, RECORD}


def test_a_version_that_starts_while_a_newer_one_waits_is_what_there_is_until_then(plugins: PluginFolder) -> None:
    add(plugins, "1.0")
    second = add(plugins, "2.0")
    third = add(plugins, "3.0")

    plugins.edit(HELLO, lambda record: record.promoting(second))
    assert candidate(plugins) == third
    plugins.edit(HELLO, lambda record: record.refusing(third, "no", 5))

    assert plugins.installed()[HELLO].version == "2.0"
    assert candidate(plugins) is None


def test_a_version_that_fails_while_a_newer_one_waits_leaves_it_waiting(plugins: PluginFolder) -> None:
    add(plugins, "1.0")
    second = add(plugins, "2.0")
    third = add(plugins, "3.0")

    plugins.edit(HELLO, lambda record: record.refusing(second, "no", 5))

    record = plugins.record(HELLO)
    assert record is not None
    assert (record.current.version, record.candidate) == ("1.0", third)
    assert record.refused is not None
    assert record.refused.version == "2.0"


def test_a_version_whose_plugin_was_installed_anew_meanwhile_changes_nothing(plugins: PluginFolder) -> None:
    add(plugins, "1.0")
    second = add(plugins, "2.0")
    plugins.give_up(HELLO, "keep")
    add(plugins, "3.0")

    plugins.edit(HELLO, lambda record: record.promoting(second))
    plugins.edit(HELLO, lambda record: record.refusing(second, "no", 5))
    plugins.forget(HELLO, "keep")

    assert plugins.installed()[HELLO].version == "3.0"


def test_a_disabled_plugin_keeps_its_version_beside_the_new_one_and_stays_disabled(plugins: PluginFolder) -> None:
    add(plugins, "1.0")
    plugins.edit(HELLO, lambda record: record.model_copy(update={"enabled": False}))
    new = add(plugins, "2.0")

    record = plugins.record(HELLO)
    assert record is not None
    assert (record.current.version, record.candidate, record.enabled) == ("1.0", new, False)
    assert plugins.installed() == {}


def test_a_plugin_that_is_being_removed_should_not_run_and_one_installed_in_its_place_comes_after_it(
    plugins: PluginFolder, root: Path
) -> None:
    add(plugins, "1.0")
    plugins.give_up(HELLO, "delete")
    assert plugins.installed() == {}

    new = add(plugins, "2.0")
    assert plugins.installed() == {}

    plugins.forget(HELLO, "delete")
    plugins.sweep()
    assert plugins.installed()[HELLO].version == "2.0"
    assert {path.name for path in (root / HELLO).iterdir()} == {"record.json", new.folder}


def test_a_plugin_is_forgotten_only_as_it_was_asked_for(plugins: PluginFolder) -> None:
    add(plugins)
    plugins.forget(HELLO, "keep")
    assert HELLO in plugins.installed()

    plugins.give_up(HELLO, "delete")
    plugins.forget(HELLO, "keep")
    assert HELLO in plugins.records(), "its data is still there"

    plugins.forget(HELLO, "delete")
    assert plugins.records() == {}


def test_what_was_installed_in_place_of_a_removed_plugin_goes_with_the_next_removal(plugins: PluginFolder) -> None:
    add(plugins, "1.0")
    plugins.give_up(HELLO, "delete")
    add(plugins, "2.0")

    plugins.give_up(HELLO, "delete")
    plugins.forget(HELLO, "delete")

    assert plugins.records() == {}


def test_granted_is_what_was_given_of_what_is_asked(plugins: PluginFolder) -> None:
    asks = "{network: [a.example, b.example], models: [invoke]}"
    add(plugins, permissions=asks, network=["b.example", "evil.example"], storage=["plugin"])

    granted = plugins.installed()[HELLO].granted

    assert granted.network == ["b.example"]
    assert (granted.models, granted.storage) == ([], [])


def test_what_is_granted_while_a_new_version_waits_is_granted_to_it_too(plugins: PluginFolder) -> None:
    add(plugins, "1.0", permissions="{network: [a.example], storage: [plugin]}")
    add(plugins, "2.0", permissions="{network: [a.example, b.example]}")

    plugins.edit(HELLO, lambda record: record.granting({"network": ["a.example"], "storage": ["plugin"]}))

    assert plugins.installed()[HELLO].granted.storage == ["plugin"]
    waiting = candidate(plugins)
    assert waiting is not None
    granted = plugins.version(HELLO, waiting).granted
    assert (granted.network, granted.storage) == (["a.example"], [])


def test_code_that_is_in_use_is_not_swept_away(plugins: PluginFolder, root: Path) -> None:
    old = add(plugins, "1.0")
    new = add(plugins, "2.0")
    plugins.edit(HELLO, lambda record: record.promoting(new))

    plugins.sweep(frozenset([root / HELLO / old.folder]))
    assert (root / HELLO / old.folder).exists()

    plugins.sweep()
    assert not (root / HELLO / old.folder).exists()


def test_nobody_waits_while_unused_code_is_deleted(
    plugins: PluginFolder, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(plugins)
    plugins.give_up(HELLO, "keep")
    plugins.forget(HELLO, "keep")
    deleted: list[Path] = []

    def delete(path: Path) -> None:
        with (root / ".lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises when somebody has it
        file_tree.delete(path)
        deleted.append(path)

    monkeypatch.setattr(folder_module, "delete", delete)
    plugins.sweep()

    assert [path.parent for path in deleted] == [root / HELLO]
    assert names(root) == {".lock"}


def test_a_plugin_that_comes_while_another_sweeps_has_its_place(
    plugins: PluginFolder, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock = fcntl.flock

    def swept_before(descriptor: int, operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", flock)
        PluginFolder(root).sweep()
        flock(descriptor, operation)

    with plugins.staging() as staging:
        code = write_plugin(staging / "code")
        monkeypatch.setattr(fcntl, "flock", swept_before)
        version = Version(version="1.0", folder="", source="a test", sha256="0", installed_at=1)
        plugins.add(HELLO, code, version)

    assert HELLO in plugins.installed()


def test_of_a_forgotten_plugin_nothing_is_left(plugins: PluginFolder, root: Path) -> None:
    add(plugins)
    plugins.give_up(HELLO, "keep")
    plugins.forget(HELLO, "keep")
    plugins.sweep()

    assert plugins.records() == {}
    assert names(root) == {".lock"}


def test_what_a_killed_installation_left_is_swept_and_one_that_goes_on_is_not(
    plugins: PluginFolder, root: Path
) -> None:
    code = (
        "import os, pathlib, sys; from parlour.plugin_runtime.store import PluginFolder\n"
        "with PluginFolder(pathlib.Path(sys.argv[1])).staging() as staging:\n"
        "    (staging / 'file').write_text('half'); os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(root)], check=False)
    [left] = (root / ".staging").iterdir()

    with plugins.staging() as staging:
        PluginFolder(root).sweep()
        assert (left.exists(), staging.exists()) == (False, True)

    assert names(root) == {".lock"}


def test_a_failed_write_of_the_record_leaves_what_was_there(
    plugins: PluginFolder, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(plugins, "1.0")
    before, files = plugins.installed(), names(root)

    def failing(file: Path, record: records.Record) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(records, "write", failing)
    with pytest.raises(OSError, match="No space left"):
        add(plugins, "2.0")

    assert plugins.installed() == before
    assert names(root) == files


@pytest.mark.parametrize("part", ["..", ".hidden", "a/b", "", "a b", "a\\b", "na\0me", "x" * 101])
def test_an_identity_that_could_leave_its_folder_is_refused(plugins: PluginFolder, root: Path, part: str) -> None:
    for plugin_id in (f"acme/{part}", f"{part}/hello" if "/" not in part else "/hello"):
        with pytest.raises(PluginInvalid):
            plugins.record(plugin_id)
    assert not root.exists()


def test_a_plugin_that_was_spoiled_after_its_installation_is_still_found(plugins: PluginFolder, root: Path) -> None:
    version = add(plugins, network=["a.example"], permissions="{network: [a.example]}")
    (root / HELLO / version.folder / "manifest.yaml").write_text("]")

    found = PluginFolder(root).installed()[HELLO]

    assert found.version == "1.0"
    assert found.granted.network == []


def test_a_damaged_record_harms_no_other_plugin_and_is_mended_by_installing_again(
    plugins: PluginFolder, root: Path
) -> None:
    add(plugins)
    other = root / "acme" / "other"
    other.mkdir()
    (other / RECORD).write_text("{")
    assert set(plugins.installed()) == {HELLO}

    (root / HELLO / RECORD).write_text("{}")
    assert plugins.installed() == {}
    add(plugins, "2.0")
    assert plugins.installed()[HELLO].version == "2.0"


def test_changes_from_several_sides_at_once_are_all_kept(root: Path) -> None:
    add(PluginFolder(root), permissions="{events: [a]}")

    def grant(name: str) -> None:
        def change(record: records.Record) -> records.Record:
            granted = {**record.current.granted, name: ["x"]}
            return record.model_copy(update={"current": record.current.model_copy(update={"granted": granted})})

        PluginFolder(root).edit(HELLO, change)

    threads = [threading.Thread(target=grant, args=(f"key{number}",)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    record = PluginFolder(root).record(HELLO)
    assert record is not None
    assert set(record.current.granted) == {f"key{number}" for number in range(16)}
