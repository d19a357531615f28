"""Tests the data directory: one Host at a time uses it, and an unusable one is reported with the remedy."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from parlour.app.data_directory import DataDirectory, DataDirectoryInUse, DataDirectoryUnusable

HOLDER = """
import sys
from parlour.app.data_directory import DataDirectory
with DataDirectory(sys.argv[1]).lock():
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def directory(tmp_path: Path) -> DataDirectory:
    return DataDirectory(tmp_path / "a b" / "data")


@pytest.fixture
def holder(directory: DataDirectory) -> Iterator["subprocess.Popen[bytes]"]:
    """Provides another process that holds the lock."""
    command = [sys.executable, "-c", HOLDER, str(directory.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """Provides a folder that the test can read but not write, and runs the test without root privileges."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        path.chmod(0o755)
        original_uid = os.geteuid()
        if original_uid == 0:
            os.seteuid(65534)
        else:
            path.chmod(0o555)
        yield path
        os.seteuid(original_uid)
        path.chmod(0o755)


def test_no_folder_is_created_before_it_is_needed(directory: DataDirectory) -> None:
    assert directory.database == directory.path / "parlour.db"
    assert directory.serving_pid() is None
    assert not directory.path.exists()


def test_only_the_owner_can_read_the_folders(directory: DataDirectory) -> None:
    for folder in (directory.plugins, directory.logs, directory.path):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert directory.plugins == directory.path / "plugins"
    assert directory.logs == directory.path / "logs"


def test_the_lock_names_its_holder_until_it_is_released(directory: DataDirectory) -> None:
    with directory.lock():
        assert directory.serving_pid() == os.getpid()
        assert directory.lock_file.read_text().strip() == str(os.getpid())
    assert directory.serving_pid() is None
    with directory.lock():
        pass


def test_a_second_host_is_refused_with_the_pid_of_the_first(
    directory: DataDirectory, holder: "subprocess.Popen[bytes]"
) -> None:
    assert directory.serving_pid() == holder.pid
    with pytest.raises(DataDirectoryInUse) as failure, directory.lock():
        pass
    assert failure.value.pid == holder.pid
    assert str(holder.pid) in str(failure.value)
    assert str(directory.path) in str(failure.value)
    assert directory.serving_pid() == holder.pid


def test_a_killed_host_leaves_no_lock(directory: DataDirectory, holder: "subprocess.Popen[bytes]") -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert directory.lock_file.read_text().strip() == str(holder.pid)
    assert directory.serving_pid() is None
    with directory.lock():
        assert directory.serving_pid() == os.getpid()


def test_a_child_does_not_inherit_the_lock(directory: DataDirectory) -> None:
    with directory.lock():
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, close_fds=False)
    with child, directory.lock():
        assert child.poll() is None
        child.kill()


def test_reading_the_serving_pid_does_not_block_a_start(directory: DataDirectory) -> None:
    reader = "import sys\nfrom parlour.app.data_directory import DataDirectory\nd = DataDirectory(sys.argv[1])\n"
    reader += "print(flush=True)\nwhile True: d.serving_pid()"
    with directory.lock():
        pass
    with subprocess.Popen([sys.executable, "-c", reader, str(directory.path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        for _ in range(500):
            with directory.lock():
                pass
        process.kill()


@pytest.mark.parametrize("below", ["file", "file/data"])
def test_a_file_at_the_path_of_the_folder_is_refused(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataDirectoryUnusable, match="choose another data directory") as failure:
        DataDirectory(tmp_path / below).create()
    assert failure.value.code == "data_directory_not_a_folder"


def test_a_folder_that_can_not_be_created_is_refused(unprivileged: Path) -> None:
    with pytest.raises(DataDirectoryUnusable, match="can't be created") as failure:
        DataDirectory(unprivileged / "data").create()
    assert failure.value.code == "data_directory_not_created"


def test_a_folder_that_can_not_be_written_is_refused(unprivileged: Path) -> None:
    with pytest.raises(DataDirectoryUnusable, match="can't be written") as failure, DataDirectory(unprivileged).lock():
        pass
    assert failure.value.code == "data_directory_not_writable"
