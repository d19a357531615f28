"""A database is copied before it is upgraded, and network file systems are refused."""

import os
import shutil
import stat
import tarfile
from collections import namedtuple
from pathlib import Path

import pytest

from parlour.core.journal import StorageFailed
from parlour.stores import migrate, upgrade_copies
from parlour.stores.network_filesystems import network_type

FIXTURE = Path(__file__).parents[4] / "tests" / "fixtures" / "upgrades" / "first-schema.tar.gz"
OLD = "0001"


def old_database(folder: Path) -> Path:
    """Returns a database of an earlier revision."""
    with tarfile.open(FIXTURE) as archive:
        archive.extract("parlour.db", folder)
    return folder / "parlour.db"


def test_the_copy_is_private_and_the_newest_three_are_kept(tmp_path: Path) -> None:
    database = old_database(tmp_path)
    folder = tmp_path / upgrade_copies.FOLDER
    folder.mkdir()
    for year in range(2020, 2024):
        (folder / f"parlour-0007-{year}0101T000000Z.db").touch()
    (folder / "notes.txt").touch()

    migrate.ensure(database)

    newest, *others = upgrade_copies.copies(database)
    assert migrate.current_revision(newest) == OLD
    assert stat.S_IMODE(newest.stat().st_mode) == 0o600
    assert [path.name for path in others] == [f"parlour-0007-{year}0101T000000Z.db" for year in (2023, 2022)]
    assert {path.name for path in folder.iterdir()} == {*(path.name for path in (newest, *others)), "notes.txt"}


def test_a_new_and_a_current_database_are_not_copied(tmp_path: Path) -> None:
    database = tmp_path / "parlour.db"
    migrate.ensure(database)
    migrate.ensure(database)

    assert upgrade_copies.copies(database) == []


def test_an_upgrade_without_a_copy_makes_none(tmp_path: Path) -> None:
    database = old_database(tmp_path)
    migrate.ensure(database, copy=False)

    assert migrate.current_revision(database) == migrate.HEAD
    assert upgrade_copies.copies(database) == []


def test_a_disk_without_room_for_the_copy_leaves_the_database_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = old_database(tmp_path)
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(100, 99, 1024 * 1024))

    with pytest.raises(StorageFailed) as failure:
        migrate.ensure(database)

    assert failure.value.code == "storage_full"
    assert "--without-copy" in failure.value.message
    assert migrate.current_revision(database) == OLD
    assert upgrade_copies.copies(database) == []


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs", "9p"])
def test_a_mount_of_a_network_file_system_is_recognized_by_its_device(kind: str, tmp_path: Path) -> None:
    device = os.stat(tmp_path).st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "21 1 0:19 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
        f"36 35 {number} / /mnt/with\\040space rw,relatime shared:1 master:2 - {kind} server:/export rw\n"
    )

    assert network_type(tmp_path, mounts) == kind


def test_a_local_file_system_and_other_mounts_are_not_network_file_systems(tmp_path: Path) -> None:
    device = os.stat(tmp_path).st_dev
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        f"36 35 {os.major(device)}:{os.minor(device)} / / rw - ext4 /dev/vda rw\n"
        "37 35 0:999999 / /elsewhere rw - nfs4 server:/export rw\nmalformed\n"
    )

    assert network_type(tmp_path, mounts) == ""
    assert network_type(tmp_path / "missing", mounts) == ""
    assert network_type(tmp_path, tmp_path / "no such file") == ""


def test_a_database_on_a_network_file_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate, "network_type", lambda folder: "nfs4")

    with pytest.raises(StorageFailed) as failure:
        migrate.ensure(tmp_path / "parlour.db")

    assert failure.value.code == "storage_network_filesystem"
    assert "nfs4" in failure.value.message
    assert not (tmp_path / "parlour.db").exists()
