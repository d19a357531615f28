"""What a real sandbox gives a command: no rights, nothing of the machine that can be written, and no way back to more.

It holds for a Host that runs as root and for one that does not.
"""

import ast
import asyncio
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from parlour.box.backend import SandboxFolders
from parlour.box.bubblewrap_backend import BubblewrapBackend
from parlour.core.box.messages import SessionSpec

OTHER_USER = 65534
DEVICES = {f"/dev/{name}" for name in ("full", "null", "ptmx", "pts/ptmx", "random", "tty", "urandom", "zero")}
"""Devices without any state of the machine, which bubblewrap makes for every sandbox."""
OWN_MEMORY = "/dev/shm/new"
OPEN_EVERYTHING = """
import os
opened = []
tried = 0
for top in ("/proc", "/sys", "/dev", "/run", "/usr", "/etc"):
    for folder, folders, files in os.walk(top):
        if top == "/proc":  # files of the own processes are those of the command itself
            folders[:] = [each for each in folders if not each.isdigit() and each not in ("self", "thread-self")]
        for path in [os.path.join(folder, name) for name in files] + [os.path.join(folder, "new")]:
            tried += 1
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW))
                opened.append(path)
            except OSError:
                pass
print((sorted(opened), tried))
"""
DESCRIBE = """
import json
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status") if ":\\t" in line)
mounts = [line.split() for line in open("/proc/self/mountinfo")]
print(json.dumps({
    "status": {name: status[name].strip() for name in
               ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Uid", "Gid")},
    "mounts": {each[4]: each[5].split(",") for each in mounts},
}))
"""


async def run_inside(folder: Path, *scripts: str) -> list[str]:
    """Runs Python scripts in one sandbox and returns what they print."""
    backend = BubblewrapBackend(None, ())
    await backend.probe()
    spec = SessionSpec(session_id="hardened", cpus=1, memory_mb=256, processes=48)
    sandbox = await backend.start(spec, SandboxFolders(folder), lambda event: None)
    try:
        printed = []
        for script in scripts:
            data = base64.b64encode(script.encode()).decode()
            await sandbox.request("write", {"path": "script.py", "data": data})
            result = await sandbox.request("exec", {"command": "python3 script.py 2>&1", "timeout": 60})
            printed.append(base64.b64decode(result["stdout"]["data"]).decode())
        return printed
    finally:
        await sandbox.close()


def run_as(user: int, folder: Path, *scripts: str) -> list[str]:
    """Does so in a process of another user."""
    path = os.pathsep.join(each for each in sys.path if each)
    finished = subprocess.run(
        [sys.executable, __file__, str(folder)],
        input=json.dumps(scripts),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        user=user,
        group=user,
        extra_groups=(),
        env={**os.environ, "PYTHONPATH": path, "HOME": str(folder)},
    )
    assert finished.returncode == 0, finished.stderr
    printed: list[str] = json.loads(finished.stdout)
    return printed


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that every user can reach."""
    folder = Path(tempfile.mkdtemp(prefix="parlour-hardened-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(params=["as this user", pytest.param("as another user", marks=pytest.mark.long)])
def described(request: pytest.FixtureRequest, shared: Path) -> tuple[list[str], dict[str, Any]]:
    """The files that could be opened for writing, and what the processes and mounts of the sandbox are."""
    if request.param == "as another user" and os.geteuid() == 0:
        opened, facts = run_as(OTHER_USER, shared, OPEN_EVERYTHING, DESCRIBE)
    else:
        opened, facts = asyncio.run(run_inside(shared, OPEN_EVERYTHING, DESCRIBE))
    paths, tried = ast.literal_eval(opened)
    assert tried > 1000, "the walk has seen the files of /proc/sys"
    return paths, json.loads(facts)


def test_s6_no_file_of_the_machine_opens_for_writing_and_commands_have_no_rights(
    described: tuple[list[str], dict[str, Any]],
) -> None:
    opened, facts = described
    assert set(opened) <= DEVICES | {OWN_MEMORY}
    status, mounts = facts["status"], facts["mounts"]
    assert {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    assert set(status["Uid"].split() + status["Gid"].split()) == {"1000"}
    assert "ro" in mounts["/proc"]
    assert [path for path, options in mounts.items() if "nosuid" not in options] == []
    writable = {path for path, options in mounts.items() if "ro" not in options and not path.startswith("/dev/")}
    assert writable == {"/workspace", "/tmp"}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run_inside(Path(sys.argv[1]), *json.loads(sys.stdin.read())))))  # noqa: T201
