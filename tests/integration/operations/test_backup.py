"""Tests that a backup under load holds all accepted events, and that a restored Host answers pending ones once."""

import io
import os
import tarfile
import threading
from pathlib import Path

import pytest

from tests.integration.conftest import MakeHost
from tests.support.commands import parlour, refusal
from tests.support.harness import ECHO_PLUGIN, Host, eventually


def test_a_restored_host_has_the_same_events_and_runs_a_pending_one_again_once(
    make_host: MakeHost, tmp_path: Path
) -> None:
    host = make_host(ECHO_PLUGIN).start()
    agent = host.agent(config={"hold_ms": 600_000})
    quick = host.agent()
    answered = [host.ask(quick, f"message {number}")["event_id"] for number in range(10)]
    pending = host.send(agent, "still pending")["event_id"]
    eventually(lambda: host.items("/runs", status="running"), "the pending event is being answered")
    stop = threading.Event()
    load = threading.Thread(target=lambda: [host.ask(quick, "more") for _ in iter(stop.is_set, True)])
    load.start()

    made = parlour("backup", tmp_path / "one.backup", "--data", host.data)
    stop.set()
    load.join()
    assert made.returncode == 0, made.stderr
    host.kill()

    brought = parlour("restore", tmp_path / "one.backup", "--data", tmp_path / "brought back" / "data")
    assert brought.returncode == 0, brought.stderr
    again = Host(tmp_path / "brought back").start()
    try:
        events = {event["event_id"] for event in again.items("/events", limit=100)}
        runs = eventually(lambda: _runs_of(again, pending, 2), "the pending event is run again")
        assert set(answered) <= events
        assert sorted(run["status"] for run in runs) == ["failed", "running"]
    finally:
        again.kill()


def _runs_of(host: Host, event_id: str, count: int) -> list[dict[str, object]]:
    runs = [run for run in host.items("/runs", limit=100) if run["event_id"] == event_id]
    return runs if len(runs) == count else []


@pytest.fixture(scope="module")
def backup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("backups")
    assert parlour("keys", "create", "--name", "one", "--data", folder / "data").returncode == 0
    assert parlour("backup", folder / "one.backup", "--data", folder / "data").returncode == 0
    return folder / "one.backup"


def test_a_backup_is_readable_by_its_owner_only(backup: Path) -> None:
    assert backup.stat().st_mode & 0o077 == 0
    assert [path.name for path in backup.parent.iterdir() if path.name.startswith(".")] == []


def test_an_existing_backup_or_data_directory_is_not_overwritten(backup: Path) -> None:
    written = refusal("backup", backup, "--data", backup.parent / "data")
    brought = refusal("restore", backup, "--data", backup.parent / "data")

    assert written.endswith("exists already; name another file, or move it away")
    assert brought.endswith("is not empty; name another folder with --data, or move it away")


def test_a_file_that_is_not_a_backup_is_refused_and_nothing_is_left(backup: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.backup"
    cut.write_bytes(backup.read_bytes()[: backup.stat().st_size // 2])
    foreign = tmp_path / "foreign.backup"
    foreign.write_text("hello")

    errors = [refusal("restore", file, "--data", tmp_path / "data") for file in (cut, foreign, tmp_path / "none")]

    assert "is no backup of Parlour, or it is not whole" in errors[0]
    assert "is no backup of Parlour, or it is not whole" in errors[1]
    assert errors[2].endswith(f"there is no file '{tmp_path / 'none'}'")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cut.backup", "foreign.backup"]


@pytest.mark.parametrize("name", ["../outside", "/etc/outside", "plugins/../../outside", "logs/host.log"])
def test_a_backup_with_paths_outside_the_data_directory_is_refused(backup: Path, tmp_path: Path, name: str) -> None:
    evil = tmp_path / "evil.backup"
    with tarfile.open(backup) as good, tarfile.open(evil, "w:gz") as bad:
        for entry in good:
            bad.addfile(entry, good.extractfile(entry))
        bad.addfile(tarfile.TarInfo(name))

    assert f"it holds '{name}', which no backup does" in refusal("restore", evil, "--data", tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_a_backup_of_a_newer_release_is_refused(backup: Path, tmp_path: Path) -> None:
    newer = tmp_path / "newer.backup"
    with tarfile.open(backup) as good, tarfile.open(newer, "w:gz") as bad:
        for entry in good:
            content = good.extractfile(entry)
            assert content is not None
            data = content.read().replace(b'"revision": "0', b'"revision": "9')
            if entry.name == "parlour-backup.json":
                entry.size = len(data)
            content.seek(0)
            bad.addfile(entry, io.BytesIO(data) if entry.name == "parlour-backup.json" else content)

    assert "was made by a newer Parlour" in refusal("restore", newer, "--data", tmp_path / "data")


def test_the_command_db_current_prints_the_revision(backup: Path, tmp_path: Path) -> None:
    before = parlour("db", "current", "--data", tmp_path / "data").stdout
    upgraded = parlour("db", "upgrade", "--data", tmp_path / "data").stdout
    after = parlour("db", "current", "--data", tmp_path / "data").stdout

    assert before == "there is no database yet; parlour serve makes it\n"
    assert upgraded.endswith("as this release needs it\n")
    assert after == upgraded


@pytest.fixture
def used(tmp_path: Path) -> Path:
    """Creates a data directory with a plugin's folder."""
    data = tmp_path / "data"
    assert parlour("keys", "create", "--name", "one", "--data", data).returncode == 0
    (data / "plugin-data" / "test" / "hostile").mkdir(parents=True)
    (data / "plugin-data" / "test" / "hostile" / "kept.txt").write_text("kept")
    return data


def contents(backup: Path) -> dict[str, bytes]:
    found = {}
    with tarfile.open(backup) as archive:
        for entry in archive:
            content = archive.extractfile(entry)
            found[entry.name] = content.read() if content is not None else b""
    return found


def test_links_and_other_special_files_stay_out_and_are_named(used: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret of the operator"
    secret.write_text("not for plugins")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inner").write_text("not for plugins")
    hostile = used / "plugin-data" / "test" / "hostile"
    (hostile / "link").symlink_to(secret)
    (hostile / "folder").symlink_to(tmp_path / "folder")
    os.mkfifo(hostile / "pipe")
    os.link(hostile / "kept.txt", hostile / "same.txt")
    (used / "runtime-tokens.json").symlink_to(secret)

    made = parlour("backup", tmp_path / "one.backup", "--data", used)

    assert made.returncode == 0, made.stderr
    stored = contents(tmp_path / "one.backup")
    assert not [name for name, content in stored.items() if b"not for plugins" in content]
    names = ["runtime-tokens.json", *(f"plugin-data/test/hostile/{name}" for name in ("folder", "link", "pipe"))]
    warned = [line for line in made.stderr.splitlines() if "not in the backup" in line]
    assert [line.split("'")[1] for line in warned] == names
    assert parlour("restore", tmp_path / "one.backup", "--data", tmp_path / "again").returncode == 0
    assert (tmp_path / "again" / "plugin-data" / "test" / "hostile" / "same.txt").read_text() == "kept"


def test_a_folder_that_a_plugin_swaps_for_a_link_adds_no_foreign_file_to_the_backup(used: Path, tmp_path: Path) -> None:
    """Swaps a folder for a link over and over, as a plugin could while the backup is made."""
    outside = tmp_path / "outside"
    outside.mkdir()
    for number in range(300):
        (outside / f"{number:03}").write_text("not for plugins")
    hostile = used / "plugin-data" / "test" / "hostile"
    real, link, swapped = hostile / "real", hostile / "link", hostile / "swapped"
    real.mkdir()
    for number in range(300):
        (real / f"{number:03}").write_text("its own")
    link.symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            real.rename(swapped)
            link.rename(real)
            real.rename(link)
            swapped.rename(real)

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        made = [parlour("backup", tmp_path / f"{number}.backup", "--data", used) for number in range(2)]
    finally:
        stop.set()
        swapping.join()

    assert [each.returncode for each in made] == [0] * 2, [each.stderr for each in made]
    for number in range(2):
        leaked = [name for name, text in contents(tmp_path / f"{number}.backup").items() if b"not for" in text]
        assert leaked == []


def test_folders_that_are_nested_too_deep_are_left_out_and_named(used: Path, tmp_path: Path) -> None:
    deep = used / "plugin-data" / "test" / "hostile"
    for _ in range(70):
        deep /= "d"
    deep.mkdir(parents=True)

    made = parlour("backup", tmp_path / "one.backup", "--data", used)

    assert made.returncode == 0, made.stderr
    assert "64 folders deep" in made.stderr
    assert contents(tmp_path / "one.backup")["plugin-data/test/hostile/kept.txt"] == b"kept"
