"""Tests that only their owner can read the files of the data directory, whatever the mode of the directory itself."""

import stat
from pathlib import Path

from tests.integration.conftest import MakeHost
from tests.support.commands import parlour
from tests.support.harness import ECHO_PLUGIN


def public(folder: Path) -> list[str]:
    """Returns the paths that other users could read or write in a folder that they can enter."""
    found = []
    for path in folder.iterdir():
        mode = path.lstat().st_mode
        if mode & 0o077 and not stat.S_ISLNK(mode):
            found.append(path.name)
        elif stat.S_ISDIR(mode) and mode & 0o011:
            found += public(path)
    return sorted(found)


def new_files(folder: Path) -> list[str]:
    """Returns the regular files below the folder with rights for other users, as a default umask would create them."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(str(path.relative_to(folder)) for path in files if path.stat().st_mode & 0o077)


def test_a_host_in_a_folder_that_all_users_can_enter_keeps_its_files_private(make_host: MakeHost) -> None:
    host = make_host()
    host.data.mkdir(exist_ok=True)
    host.data.chmod(0o755)
    host.install(ECHO_PLUGIN)
    old = host.data / "config.yaml"
    old.write_text("{}")
    old.chmod(0o644)
    (host.data / "artifacts").mkdir(exist_ok=True)
    (host.data / "artifacts").chmod(0o755)

    host.start()
    host.ask(host.agent(), "hello")
    host.key("viewer")

    assert host.data.stat().st_mode & 0o777 == 0o755, "its operator chose this"
    assert public(host.data) == []
    assert new_files(host.data) == []


def test_doctor_names_files_that_other_users_can_read(tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert parlour("keys", "create", "--name", "n", "--data", data).returncode == 0
    assert "other users can't read" in parlour("doctor", "--data", data, "--port", "0").stdout
    (data / "parlour.db").chmod(0o644)

    output = parlour("doctor", "--data", data, "--port", "0").stdout

    assert "other users may read or write parlour.db" in output
    assert "chmod -R go=" in output
    assert (data / "parlour.db").stat().st_mode & 0o777 == 0o644, "doctor changes nothing"
