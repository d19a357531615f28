"""What a process in the sandbox can see, read and write, asked from inside."""

import os
import sys
import tempfile
from pathlib import Path

import pytest

from parlour.plugin_runtime.process.launcher import DATA_VARIABLE
from parlour_sdk.protocol.manifest import PluginLimits

from .boxes import make_start, told

READ = "tell([attempt(lambda path: open(path).read(), path) for path in sys.argv[1:]])"
WRITE = "tell([attempt(lambda path: open(path, 'a').write('x'), path) for path in sys.argv[1:]])"
OPEN_TO_WRITE = "tell([attempt(lambda path: open(path, 'a').close(), path) for path in sys.argv[1:]])"
ACCOUNT = {"HOME", "LOGNAME", "PATH", "PWD", "TMPDIR", "USER"}
LANGUAGE = {"LANG", "LC_ALL", "LC_CTYPE", "TZ"}
REAL_PYTHON = Path(os.path.realpath(sys.executable))


async def test_its_code_is_to_be_read_and_its_data_to_be_written(tmp_path: Path) -> None:
    start = make_start(tmp_path)
    (start.folder / "main.py").write_text("code")

    assert await told(start, READ, start.folder / "main.py") == ["code"]
    assert await told(start, WRITE, start.folder / "main.py", start.data / "new") == ["OSError", 1]

    assert (start.folder / "main.py").read_text() == "code"
    assert (start.data / "new").read_text() == "x"


async def test_nothing_of_other_folders_is_there(tmp_path: Path) -> None:
    start = make_start(tmp_path)
    (tmp_path / "neighbour").write_text("secret")
    hidden = [tmp_path / "neighbour", Path.home() / ".profile", "/etc/shadow", "/var/log", "/sys/kernel", "/run"]

    assert await told(start, READ, *hidden) == ["FileNotFoundError"] * len(hidden)
    assert await told(start, "tell(sorted(os.listdir(sys.argv[1])))", tmp_path) == ["its code", "its data"]


@pytest.mark.parametrize("place", ["/new", "/etc/new", "/dev/new", "/usr/new", "/proc/sys/kernel/panic", "/etc/passwd"])
async def test_nothing_of_the_machine_can_be_written(tmp_path: Path, place: str) -> None:
    assert await told(make_start(tmp_path), OPEN_TO_WRITE, place) in (["OSError"], ["PermissionError"])


async def test_temporary_files_are_private_and_no_more_than_its_memory_limit(tmp_path: Path) -> None:
    start = make_start(tmp_path, limits=PluginLimits(memory_mb=32))
    fill = """
with tempfile.TemporaryFile() as file:
    written = [attempt(file.write, bytes(1024 * 1024)) for _ in range(40)]
tell([tempfile.gettempdir(), attempt(os.stat, sys.argv[1]), written.count(1024 * 1024)])
"""
    with tempfile.NamedTemporaryFile(dir="/tmp") as somebodys:
        place, seen, count = await told(start, fill, somebodys.name)

    assert (place, seen) == ("/tmp", "FileNotFoundError")
    assert 25 < count <= 32


async def test_it_has_an_account_a_home_and_none_of_the_hosts_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARLOUR__SECRET", "secret")
    monkeypatch.setenv("LANG", "C.UTF-8")
    start = make_start(tmp_path)

    account, environment = await told(start, "tell([pwd.getpwuid(os.getuid()).pw_name, dict(os.environ)])")

    assert account == "plugin"
    assert environment["HOME"] == str(start.data)
    assert environment["LANG"] == "C.UTF-8"
    assert set(environment) <= ACCOUNT | LANGUAGE | {"PYTHONUNBUFFERED", DATA_VARIABLE}


async def test_it_has_no_capability_and_makes_no_namespace_of_its_own(tmp_path: Path) -> None:
    asked = """
with open("/proc/self/status") as file:
    capabilities = [int(line.split()[1], 16) for line in file if line.startswith("Cap")]
new_user_namespace = 0x10000000
tell([capabilities, ctypes.CDLL(None).unshare(new_user_namespace)])
"""
    assert await told(make_start(tmp_path), asked) == [[0] * 5, -1]


async def test_it_sees_no_process_but_its_own(tmp_path: Path) -> None:
    asked = "tell([[int(name) for name in os.listdir('/proc') if name.isdigit()], os.getpid(), os.getppid()])"

    seen, own, parent = await told(make_start(tmp_path), asked)

    assert (parent, sorted(seen)) == (1, [1, own])


async def test_a_data_directory_in_a_folder_that_it_may_read_shows_only_the_plugins_own(tmp_path: Path) -> None:
    """Somebody may keep it below `/usr/local`, or in the environment's folder."""
    environment = link_environment(tmp_path / "environment")
    data = tmp_path / "environment" / "share" / "data directory"
    data.mkdir(parents=True)
    (data / "parlour.db").write_text("secret")
    start = make_start(data, python=environment)

    assert await told(start, READ, data / "parlour.db") == ["secret"]
    assert await told(start, READ, data / "parlour.db", hidden=[data]) == ["FileNotFoundError"]
    assert await told(start, WRITE, start.data / "new", data / "new", hidden=[data]) == [1, "OSError"]


async def test_an_interpreter_is_found_through_links_in_other_folders(tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "python").symlink_to(REAL_PYTHON)
    environment = link_environment(tmp_path / "environment", tmp_path / "links" / "python")

    assert await told(make_start(tmp_path, python=environment), "tell(sys.executable)") == str(environment)


async def test_a_link_in_its_environment_opens_no_other_folder(tmp_path: Path) -> None:
    environment = link_environment(tmp_path / "environment")
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "key").write_text("secret")
    (tmp_path / "environment" / "share").symlink_to(tmp_path / "private")
    start = make_start(tmp_path, python=environment)

    assert await told(start, READ, tmp_path / "environment" / "share" / "key") == ["FileNotFoundError"]


async def test_without_a_grant_there_is_no_network_and_names_still_resolve(tmp_path: Path) -> None:
    asked = """
interfaces = [name for _, name in socket.if_nameindex()]
tell([interfaces, socket.gethostbyname("localhost"), socket.gethostbyname(socket.gethostname())])
"""
    assert await told(make_start(tmp_path), asked) == [["lo"], "127.0.0.1", "127.0.0.1"]


async def test_with_a_grant_it_has_the_machines_own_network(tmp_path: Path) -> None:
    start = make_start(tmp_path, network=("api.example.org",))

    assert await told(start, "tell(os.readlink('/proc/self/ns/net'))") == os.readlink("/proc/self/ns/net")


def link_environment(folder: Path, python: Path = REAL_PYTHON) -> Path:
    """An environment as `venv` makes it, as far as an interpreter needs it."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(python)
    (folder / "pyvenv.cfg").write_text(f"home = {REAL_PYTHON.parent}\n")
    return folder / "bin" / "python"
