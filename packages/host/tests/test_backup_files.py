"""Tests the files of a backup: unreadable ones are left out and named, and changing ones do not damage the archive."""

import io
import os
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from parlour.operations.backup_files import ArchiveFailed, SkippedFile, add_all, add_file


@pytest.fixture
def root() -> Iterator[Path]:
    """Provides a folder that all users can read, and runs the test without root privileges."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "plugin-data" / "closed").mkdir(parents=True)
        (folder / "plugin-data" / "closed" / "inner").write_text("inner")
        for file in ("secret.key", "plugin-data/open", "plugin-data/private"):
            (folder / file).write_text(file)
            (folder / file).chmod(0o644)
        (folder / "secret.key").chmod(0)
        (folder / "plugin-data" / "private").chmod(0)
        (folder / "plugin-data" / "closed").chmod(0)
        original_uid = os.geteuid()
        if original_uid == 0:
            os.seteuid(65534)
        yield folder
        os.seteuid(original_uid)
        (folder / "plugin-data" / "closed").chmod(0o700)


def test_unreadable_files_are_left_out_and_named(root: Path) -> None:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        left_out = add_all(archive, root, ("secret.key", "config.yaml"), ("plugin-data", "artifacts"))

    names = ("secret.key", "plugin-data/closed", "plugin-data/private")
    assert left_out == [SkippedFile(name, "Permission denied") for name in names]
    written.seek(0)
    with tarfile.open(fileobj=written) as archive:
        assert archive.getnames() == ["plugin-data/open"]


class ShorterFile(io.BytesIO):
    """Has less content than the size of its file."""

    def __init__(self, promised: Path, content: bytes) -> None:
        super().__init__(content)
        self._promised = promised.open("rb")

    def fileno(self) -> int:
        return self._promised.fileno()

    def close(self) -> None:
        self._promised.close()
        super().close()


def test_a_file_that_becomes_shorter_is_padded_and_later_files_are_complete(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).write_bytes(b"x" * 1000)
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        with ShorterFile(tmp_path / "first", b"short") as first:
            assert not add_file(archive, "first", first)
        with (tmp_path / "second").open("rb") as second:
            assert add_file(archive, "second", second)

    written.seek(0)
    with tarfile.open(fileobj=written) as archive:
        contents = [file.read() for file in map(archive.extractfile, archive.getmembers()) if file is not None]
    assert contents == [b"short".ljust(1000, b"\0"), b"x" * 1000]


class FullDisk(io.BytesIO):
    def write(self, data: object) -> int:
        raise OSError(28, "No space left on device")


def test_a_full_disk_fails_the_backup(tmp_path: Path) -> None:
    (tmp_path / "plugin-data").mkdir()
    (tmp_path / "plugin-data" / "file").write_text("text")
    archive = tarfile.open(fileobj=FullDisk(), mode="w")  # noqa: SIM115 - closing it would write, too
    with pytest.raises(ArchiveFailed, match="No space left"):
        add_all(archive, tmp_path, (), ("plugin-data",))
