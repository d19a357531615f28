"""The folder store passes the contract suite, stays within its folder, and has no partial objects after a crash."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from parlour.core.journal import StorageFailed
from parlour.core.store.objects import ObjectMissing, ObjectStore
from parlour.stores.objects.folder import INCOMING, FolderObjects
from parlour.testing.objects_contract import FOREVER, HELLO, ObjectStoreContract, content, names, put

KILLED_WHILE_WRITING = """
import asyncio, os, signal, sys
from pathlib import Path
from parlour.stores.objects.folder import FolderObjects

async def main():
    writing = await FolderObjects(Path(sys.argv[1])).open_writer()
    await writing.write(b"hello")
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "a b" / "artifacts"


@pytest.fixture
def objects(root: Path) -> Iterator[FolderObjects]:
    objects = FolderObjects(root)
    yield objects
    objects.close()


def files(root: Path) -> list[Path]:
    return [path.relative_to(root) for path in sorted(root.rglob("*")) if not path.is_dir()]


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def place(root: Path) -> Path:
    return root / HELLO[:2] / HELLO[2:4] / HELLO


class TestFolderObjects(ObjectStoreContract):
    @pytest.fixture
    def objects(self, root: Path) -> Iterator[ObjectStore]:
        objects = FolderObjects(root)
        yield objects
        objects.close()


async def test_an_object_is_one_file_that_only_its_owner_can_read(objects: FolderObjects, root: Path) -> None:
    await put(objects, b"hello")
    assert files(root) == [place(root).relative_to(root)]
    assert (mode(place(root)), mode(root)) == (0o600, 0o700)


async def test_an_object_is_still_there_after_a_restart(objects: FolderObjects, root: Path) -> None:
    await put(objects, b"hello")
    again = FolderObjects(root)
    assert await content(again, HELLO) == b"hello"
    again.close()


def test_a_process_killed_while_it_writes_leaves_no_object_and_no_partial_file(root: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED_WHILE_WRITING, str(root)], timeout=30)
    assert killed.returncode == -signal.SIGKILL
    assert [path.parts[0] for path in files(root)] == [INCOMING]
    FolderObjects(root).close()
    assert files(root) == []


async def test_nothing_is_stored_on_a_full_disk_and_a_retry_with_room_succeeds(
    objects: FolderObjects, root: Path
) -> None:
    writing = await objects.open_writer()
    previous = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3, previous[1]))
    try:
        with pytest.raises(StorageFailed) as failure:
            await writing.write(b"hello")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, previous)
    writing.abort()
    assert failure.value.code == "storage_full"
    assert str(root) not in failure.value.message
    assert files(root) == []
    await put(objects, b"hello")
    assert await content(objects, HELLO) == b"hello"


async def test_an_object_that_was_replaced_by_a_link_is_neither_read_nor_followed(
    objects: FolderObjects, root: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"outside")
    await put(objects, b"hello")
    place(root).unlink()
    place(root).symlink_to(secret)
    with pytest.raises(StorageFailed) as failure:
        await content(objects, HELLO)
    assert failure.value.code == "storage_corrupt"
    assert await objects.size(HELLO) is None
    assert await names(objects) == []
    await put(objects, b"hello")
    assert await content(objects, HELLO) == b"hello"
    assert secret.read_bytes() == b"outside"


@pytest.mark.parametrize("level", [0, 1], ids=["upper folder", "lower folder"])
async def test_a_folder_that_is_a_link_is_refused(
    objects: FolderObjects, root: Path, tmp_path: Path, level: int
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    linked = place(root).parents[1 - level]
    linked.parent.mkdir(exist_ok=True)
    linked.symlink_to(outside)
    with pytest.raises(StorageFailed) as failure:
        await put(objects, b"hello")
    assert failure.value.code == "storage_corrupt"
    with pytest.raises(StorageFailed):
        await content(objects, HELLO)
    assert list(outside.iterdir()) == []
    assert [path for path in files(root) if path.parts[0] == INCOMING] == []


async def test_a_foreign_file_in_the_folder_is_not_an_object(objects: FolderObjects, root: Path) -> None:
    (root / "README").write_text("mine")
    await put(objects, b"hello")
    (place(root).parent / "notes.txt").write_text("mine")
    assert await names(objects) == [HELLO]
    assert await objects.delete(HELLO, FOREVER)
    assert len(files(root)) == 2


async def test_an_object_deleted_while_it_is_read_is_read_to_its_end(objects: FolderObjects) -> None:
    whole = os.urandom(600_000)
    stored = await put(objects, whole)
    reading = objects.stream(stored.sha256, 0, len(whole))
    read = [await anext(reading)]
    assert await objects.delete(stored.sha256, FOREVER)
    read += [piece async for piece in reading]
    assert b"".join(read) == whole
    with pytest.raises(ObjectMissing):
        await content(objects, stored.sha256)


async def test_no_files_stay_open(objects: FolderObjects) -> None:
    before = open_files()
    for number in range(20):
        stored = await put(objects, b"%d" % number)
        reading = objects.stream(stored.sha256, 0, 1)
        await anext(reading)
        await reading.aclose()
        (await objects.open_writer()).abort()
    assert open_files() == before
