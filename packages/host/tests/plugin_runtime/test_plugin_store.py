"""Installed plugins: a version is stored completely or not at all, and running versions keep their files."""

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
from parlour.plugin_runtime.store import RECORD_FILE, PluginStore
from parlour_sdk.plugin import PluginInvalid

from .plugin_files import names, write_plugin

HELLO = "acme/hello"


@pytest.fixture
def plugins(tmp_path: Path) -> PluginStore:
    return PluginStore(tmp_path / "plugins")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "plugins"


def add(
    plugins: PluginStore, version: str = "1.0", at: int = 1, permissions: str = "{}", **granted: list[str]
) -> Version:
    with plugins.staging() as staging:
        code = write_plugin(staging / "code", version=version, permissions=permissions)
        facts = Version(version=version, folder="", source="a test", sha256="0", installed_at=at, granted=dict(granted))
        return plugins.add(HELLO, code, facts)


def candidate(plugins: PluginStore) -> Version | None:
    record = plugins.record(HELLO)
    return record.candidate if record else None


def test_an_installed_plugin_is_found_by_its_identity(plugins: PluginStore) -> None:
    assert plugins.all_desired() == {}

    add(plugins, at=7)

    [found] = plugins.all_desired().values()
    assert (found.plugin_id, found.version, found.stamp) == (HELLO, "1.0", 7)
    assert names(found.folder) == {"manifest.yaml", "runner.yaml", "runner.py"}


def test_a_plugin_that_is_being_prepared_is_not_listed(plugins: PluginStore) -> None:
    add(plugins)
    with plugins.staging() as staging:
        (staging / RECORD_FILE).write_text("half a record")
        assert set(plugins.records()) == {HELLO}
        assert plugins.unusable() == {}


def test_a_new_version_waits_beside_the_old_one_until_it_is_promoted(plugins: PluginStore, root: Path) -> None:
    old = add(plugins, "1.0")
    new = add(plugins, "2.0")
    assert plugins.all_desired()[HELLO].version == "1.0"
    assert candidate(plugins) == new
    assert {old.folder, new.folder} <= {path.name for path in (root / HELLO).iterdir()}

    plugins.edit(HELLO, lambda record: record.with_promoted(new))
    plugins.delete_unused()

    assert plugins.all_desired()[HELLO].version == "2.0"
    assert candidate(plugins) is None
    assert {path.name for path in (root / HELLO).iterdir()} == {new.folder, RECORD_FILE}


def test_a_refused_version_leaves_the_old_one_and_the_reason(plugins: PluginStore, root: Path) -> None:
    old = add(plugins, "1.0")
    new = add(plugins, "2.0")

    plugins.edit(HELLO, lambda record: record.with_rejected(new, "it fell over", 5))
    plugins.delete_unused()

    record = plugins.record(HELLO)
    assert record is not None
    assert record.refused is not None
    assert (record.refused.version, record.refused.reason, record.refused.at) == ("2.0", "it fell over", 5)
    assert plugins.all_desired()[HELLO].version == "1.0"
    assert {path.name for path in (root / HELLO).iterdir()} == {old.folder, RECORD_FILE}


def test_a_version_promoted_while_a_newer_one_waits_stays_if_that_is_rejected(plugins: PluginStore) -> None:
    add(plugins, "1.0")
    second = add(plugins, "2.0")
    third = add(plugins, "3.0")

    plugins.edit(HELLO, lambda record: record.with_promoted(second))
    assert candidate(plugins) == third
    plugins.edit(HELLO, lambda record: record.with_rejected(third, "no", 5))

    assert plugins.all_desired()[HELLO].version == "2.0"
    assert candidate(plugins) is None


def test_a_version_that_fails_while_a_newer_one_waits_leaves_it_waiting(plugins: PluginStore) -> None:
    add(plugins, "1.0")
    second = add(plugins, "2.0")
    third = add(plugins, "3.0")

    plugins.edit(HELLO, lambda record: record.with_rejected(second, "no", 5))

    record = plugins.record(HELLO)
    assert record is not None
    assert (record.current.version, record.candidate) == ("1.0", third)
    assert record.refused is not None
    assert record.refused.version == "2.0"


def test_an_old_version_of_a_reinstalled_plugin_changes_nothing(plugins: PluginStore) -> None:
    add(plugins, "1.0")
    second = add(plugins, "2.0")
    plugins.mark_for_removal(HELLO, "keep")
    add(plugins, "3.0")

    plugins.edit(HELLO, lambda record: record.with_promoted(second))
    plugins.edit(HELLO, lambda record: record.with_rejected(second, "no", 5))
    plugins.delete(HELLO, "keep")

    assert plugins.all_desired()[HELLO].version == "3.0"


def test_a_disabled_plugin_keeps_its_version_beside_the_new_one_and_stays_disabled(plugins: PluginStore) -> None:
    add(plugins, "1.0")
    plugins.edit(HELLO, lambda record: record.model_copy(update={"enabled": False}))
    new = add(plugins, "2.0")

    record = plugins.record(HELLO)
    assert record is not None
    assert (record.current.version, record.candidate, record.enabled) == ("1.0", new, False)
    assert plugins.all_desired() == {}


def test_a_plugin_being_removed_does_not_run_and_its_replacement_starts_after_it(
    plugins: PluginStore, root: Path
) -> None:
    add(plugins, "1.0")
    plugins.mark_for_removal(HELLO, "delete")
    assert plugins.all_desired() == {}

    new = add(plugins, "2.0")
    assert plugins.all_desired() == {}

    plugins.delete(HELLO, "delete")
    plugins.delete_unused()
    assert plugins.all_desired()[HELLO].version == "2.0"
    assert {path.name for path in (root / HELLO).iterdir()} == {"record.json", new.folder}


def test_a_plugin_is_deleted_only_in_the_requested_way(plugins: PluginStore) -> None:
    add(plugins)
    plugins.delete(HELLO, "keep")
    assert HELLO in plugins.all_desired()

    plugins.mark_for_removal(HELLO, "delete")
    plugins.delete(HELLO, "keep")
    assert HELLO in plugins.records(), "its data is still there"

    plugins.delete(HELLO, "delete")
    assert plugins.records() == {}


def test_a_replacement_of_a_removed_plugin_is_deleted_by_the_next_removal(plugins: PluginStore) -> None:
    add(plugins, "1.0")
    plugins.mark_for_removal(HELLO, "delete")
    add(plugins, "2.0")

    plugins.mark_for_removal(HELLO, "delete")
    plugins.delete(HELLO, "delete")

    assert plugins.records() == {}


def test_only_requested_permissions_are_granted(plugins: PluginStore) -> None:
    asks = "{network: [a.example, b.example], models: [invoke]}"
    add(plugins, permissions=asks, network=["b.example", "evil.example"], storage=["plugin"])

    granted = plugins.all_desired()[HELLO].granted

    assert granted.network == ["b.example"]
    assert (granted.models, granted.storage) == ([], [])


def test_permissions_granted_while_a_new_version_waits_apply_to_it(plugins: PluginStore) -> None:
    add(plugins, "1.0", permissions="{network: [a.example], storage: [plugin]}")
    add(plugins, "2.0", permissions="{network: [a.example, b.example]}")

    plugins.edit(HELLO, lambda record: record.with_permissions({"network": ["a.example"], "storage": ["plugin"]}))

    assert plugins.all_desired()[HELLO].granted.storage == ["plugin"]
    waiting = candidate(plugins)
    assert waiting is not None
    granted = plugins.installed_version(HELLO, waiting).granted
    assert (granted.network, granted.storage) == (["a.example"], [])


def test_code_that_is_in_use_is_not_deleted(plugins: PluginStore, root: Path) -> None:
    old = add(plugins, "1.0")
    new = add(plugins, "2.0")
    plugins.edit(HELLO, lambda record: record.with_promoted(new))

    plugins.delete_unused(frozenset([root / HELLO / old.folder]))
    assert (root / HELLO / old.folder).exists()

    plugins.delete_unused()
    assert not (root / HELLO / old.folder).exists()


def test_the_lock_is_free_while_unused_code_is_deleted(
    plugins: PluginStore, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(plugins)
    plugins.mark_for_removal(HELLO, "keep")
    plugins.delete(HELLO, "keep")
    deleted: list[Path] = []

    def delete(path: Path) -> None:
        with (root / ".lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises if the lock is in use
        file_tree.delete(path)
        deleted.append(path)

    monkeypatch.setattr(folder_module, "delete", delete)
    plugins.delete_unused()

    assert [path.parent for path in deleted] == [root / HELLO]
    assert names(root) == {".lock"}


def test_a_plugin_added_during_a_cleanup_is_kept(
    plugins: PluginStore, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock = fcntl.flock

    def flock_after_cleanup(descriptor: int, operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", flock)
        PluginStore(root).delete_unused()
        flock(descriptor, operation)

    with plugins.staging() as staging:
        code = write_plugin(staging / "code")
        monkeypatch.setattr(fcntl, "flock", flock_after_cleanup)
        version = Version(version="1.0", folder="", source="a test", sha256="0", installed_at=1)
        plugins.add(HELLO, code, version)

    assert HELLO in plugins.all_desired()


def test_nothing_is_left_of_a_deleted_plugin(plugins: PluginStore, root: Path) -> None:
    add(plugins)
    plugins.mark_for_removal(HELLO, "keep")
    plugins.delete(HELLO, "keep")
    plugins.delete_unused()

    assert plugins.records() == {}
    assert names(root) == {".lock"}


def test_leftovers_of_a_killed_installation_are_deleted_and_an_active_one_is_not(
    plugins: PluginStore, root: Path
) -> None:
    code = (
        "import os, pathlib, sys; from parlour.plugin_runtime.store import PluginStore\n"
        "with PluginStore(pathlib.Path(sys.argv[1])).staging() as staging:\n"
        "    (staging / 'file').write_text('half'); os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(root)], check=False)
    [left] = (root / ".staging").iterdir()

    with plugins.staging() as staging:
        PluginStore(root).delete_unused()
        assert (left.exists(), staging.exists()) == (False, True)

    assert names(root) == {".lock"}


def test_a_failed_write_of_the_record_leaves_the_old_record(
    plugins: PluginStore, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(plugins, "1.0")
    before, files = plugins.all_desired(), names(root)

    def failing(file: Path, record: records.PluginRecord) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(records, "write", failing)
    with pytest.raises(OSError, match="No space left"):
        add(plugins, "2.0")

    assert plugins.all_desired() == before
    assert names(root) == files


@pytest.mark.parametrize("part", ["..", ".hidden", "a/b", "", "a b", "a\\b", "na\0me", "x" * 101])
def test_an_identity_that_could_leave_its_folder_is_refused(plugins: PluginStore, root: Path, part: str) -> None:
    for plugin_id in (f"acme/{part}", f"{part}/hello" if "/" not in part else "/hello"):
        with pytest.raises(PluginInvalid):
            plugins.record(plugin_id)
    assert not root.exists()


def test_a_plugin_that_was_damaged_after_its_installation_is_still_found(plugins: PluginStore, root: Path) -> None:
    version = add(plugins, network=["a.example"], permissions="{network: [a.example]}")
    (root / HELLO / version.folder / "manifest.yaml").write_text("]")

    found = PluginStore(root).all_desired()[HELLO]

    assert found.version == "1.0"
    assert found.granted.network == []


def test_a_damaged_record_affects_no_other_plugin_and_is_repaired_by_installing_again(
    plugins: PluginStore, root: Path
) -> None:
    add(plugins)
    other = root / "acme" / "other"
    other.mkdir()
    (other / RECORD_FILE).write_text("{")
    assert set(plugins.all_desired()) == {HELLO}

    (root / HELLO / RECORD_FILE).write_text("{}")
    assert plugins.all_desired() == {}
    add(plugins, "2.0")
    assert plugins.all_desired()[HELLO].version == "2.0"


def test_concurrent_changes_are_all_kept(root: Path) -> None:
    add(PluginStore(root), permissions="{events: [a]}")

    def grant(name: str) -> None:
        def change(record: records.PluginRecord) -> records.PluginRecord:
            granted = {**record.current.granted, name: ["x"]}
            return record.model_copy(update={"current": record.current.model_copy(update={"granted": granted})})

        PluginStore(root).edit(HELLO, change)

    threads = [threading.Thread(target=grant, args=(f"key{number}",)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    record = PluginStore(root).record(HELLO)
    assert record is not None
    assert set(record.current.granted) == {f"key{number}" for number in range(16)}
