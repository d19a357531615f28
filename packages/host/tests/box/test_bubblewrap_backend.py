"""The bubblewrap backend with real sandboxes: isolation, limits, files, and what is left when it ends."""

import asyncio
import base64
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from parlour.box.backend import Fields, SandboxFolders
from parlour.box.bubblewrap_backend import BubblewrapBackend, BubblewrapSandbox
from parlour.box.errors import BoxError
from parlour.core.box.messages import SessionSpec
from parlour.isolation import resource_group

WRITE_EVERYTHING = """
import os
opened = []
for folder, folders, files in os.walk("/proc/sys"):
    for name in files:
        try:
            os.close(os.open(os.path.join(folder, name), os.O_WRONLY))
            opened.append(name)
        except OSError:
            pass
for path in ("/proc/sysrq-trigger", "/proc/acpi/alarm", "/sys/kernel/uevent_helper", "/usr/x", "/etc/x", "/run/x"):
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
        opened.append(path)
    except OSError:
        pass
print(opened)
"""

FORK_BOMB = """
import os, time
for _ in range(500):
    try:
        os.fork()
    except OSError:
        break
time.sleep(3)
"""


def spec(**fields: Any) -> SessionSpec:
    return SessionSpec(session_id="test", **{"cpus": 1, "memory_mb": 128, "processes": 48, **fields})


@contextlib.asynccontextmanager
async def started(backend: BubblewrapBackend, folder: Path, **fields: Any) -> AsyncIterator[BubblewrapSandbox]:
    sandbox = await backend.start(spec(**fields), SandboxFolders(folder), lambda event: None)
    try:
        yield sandbox
    finally:
        await sandbox.close()


@pytest.fixture
async def backend() -> BubblewrapBackend:
    backend = BubblewrapBackend(None, (), "advisory")
    await backend.probe()
    return backend


async def run(sandbox: BubblewrapSandbox, command: str, timeout: float = 60) -> tuple[str, Fields]:
    result = await sandbox.request("exec", {"command": command, "timeout": timeout})
    return base64.b64decode(result["stdout"]["data"]).decode(errors="replace"), result


async def python(sandbox: BubblewrapSandbox, code: str) -> tuple[str, Fields]:
    await sandbox.request("write", {"path": "code.py", "data": base64.b64encode(code.encode()).decode()})
    return await run(sandbox, "python3 code.py")


async def test_nothing_of_the_machine_can_be_opened_for_writing(backend: BubblewrapBackend, tmp_path: Path) -> None:
    async with started(backend, tmp_path) as sandbox:
        output, _ = await python(sandbox, WRITE_EVERYTHING)
    assert output == "[]\n"


async def test_commands_have_no_capability_no_new_privileges_and_a_filter(
    backend: BubblewrapBackend, tmp_path: Path
) -> None:
    async with started(backend, tmp_path) as sandbox:
        output, _ = await run(sandbox, "cat /proc/self/status")
        users, _ = await run(sandbox, "unshare -Ur true || echo refused")
    fields = dict(line.split(":\t", 1) for line in output.splitlines() if ":\t" in line)
    assert {fields[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert (fields["NoNewPrivs"], fields["Seccomp"], fields["Uid"].split()[0]) == ("1", "2", "1000")
    assert users.strip() == "refused"


async def test_without_network_only_the_own_loopback_is_there(backend: BubblewrapBackend, tmp_path: Path) -> None:
    code = "import socket; s = socket.socket(); s.settimeout(5); print(s.connect_ex(('192.0.2.1', 80)))"
    async with started(backend, tmp_path) as sandbox:
        interfaces, _ = await run(sandbox, "cut -d: -f1 /proc/net/dev | tail -n +3")
        connected, _ = await python(sandbox, code)
    assert interfaces.split() == ["lo"]
    assert connected.strip() != "0"


async def test_other_processes_and_files_of_the_machine_are_not_seen(
    backend: BubblewrapBackend, tmp_path: Path
) -> None:
    async with started(backend, tmp_path) as sandbox:
        numbers, _ = await run(sandbox, "ls -d /proc/[0-9]* | wc -l")
        root, _ = await run(sandbox, "ls -A / /root /home 2>/dev/null; env")
    assert int(numbers) < 10
    assert str(tmp_path) not in root
    assert "PARLOUR" not in root


async def test_memory_of_a_session_is_limited(backend: BubblewrapBackend, tmp_path: Path) -> None:
    async with started(backend, tmp_path) as sandbox:
        _, result = await python(sandbox, "x = bytearray(400 * 1024 * 1024)")
        reason = sandbox.death_reason()
        alive, _ = await run(sandbox, "echo alive")
    assert result["code"] != 0
    assert reason == "memory" or result["code"] == 1
    assert alive == "alive\n"


async def test_fork_bomb_stays_within_the_number_of_processes(backend: BubblewrapBackend, tmp_path: Path) -> None:
    async with started(backend, tmp_path) as sandbox:
        task = asyncio.create_task(python(sandbox, FORK_BOMB))
        most = 0
        while not task.done():
            most = max(most, len(sandbox._process.tree.alive()))
            await asyncio.wait({task}, timeout=0.1)
    assert 10 < most <= 60


async def test_time_out_kills_the_command(backend: BubblewrapBackend, tmp_path: Path) -> None:
    async with started(backend, tmp_path) as sandbox:
        _, result = await run(sandbox, "sleep 100", timeout=0.2)
    assert result["status"] == "timed_out"


async def test_everything_ends_with_the_sandbox(backend: BubblewrapBackend, tmp_path: Path) -> None:
    async with started(backend, tmp_path) as sandbox:
        await run(sandbox, "setsid nohup sleep 1000 > /dev/null 2>&1 & echo started")
        pids = [process.pid for process in sandbox._process.tree.alive()]
        assert len(pids) >= 4
    assert not [pid for pid in pids if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"]
    home = resource_group.find_home()
    for folder in home.folders if home is not None else ():
        assert not list(folder.glob(f"{resource_group.PREFIX}{os.getpid()}-*"))


@pytest.mark.parametrize("path", ["/etc/passwd", "../../etc/passwd", "a/../../x", "/workspace/../etc/passwd", "\0", ""])
async def test_paths_outside_the_workspace_are_refused(backend: BubblewrapBackend, tmp_path: Path, path: str) -> None:
    async with started(backend, tmp_path) as sandbox:
        with pytest.raises(BoxError) as refused:
            await sandbox.request("read", {"path": path})
    assert refused.value.code == "path_refused"


async def test_links_are_followed_inside_the_workspace_and_refused_out_of_it(
    backend: BubblewrapBackend, tmp_path: Path
) -> None:
    async with started(backend, tmp_path) as sandbox:
        await run(sandbox, "echo in > real; ln -s real inside; ln -s /etc/passwd outside; ln -s / root; mkfifo pipe")
        inside = await sandbox.request("read", {"path": "inside"})
        assert base64.b64decode(inside["data"]) == b"in\n"
        for path in ("outside", "root/etc/passwd", "pipe"):
            with pytest.raises(BoxError) as refused:
                await sandbox.request("read", {"path": path})
            assert refused.value.code == "path_refused", path
        with pytest.raises(BoxError):
            await sandbox.request("write", {"path": "outside", "data": ""})


async def test_read_only_workspace_can_be_read_and_not_written(backend: BubblewrapBackend, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("there")
    async with started(backend, tmp_path, read_only=True) as sandbox:
        _, result = await run(sandbox, "touch /workspace/new")
        found = await sandbox.request("read", {"path": "there"})
        with pytest.raises(BoxError):
            await sandbox.request("write", {"path": "new", "data": ""})
    assert result["code"] != 0
    assert base64.b64decode(found["data"]) == b"there"
    assert os.listdir(tmp_path) == ["there"]


async def test_slow_pattern_delays_no_command(backend: BubblewrapBackend, tmp_path: Path) -> None:
    async with started(backend, tmp_path) as sandbox:
        await run(sandbox, f"echo {'a' * 40}b > evil.txt")
        search = asyncio.create_task(sandbox.request("grep", {"pattern": "(a+)+c"}))
        beside, _ = await run(sandbox, "echo beside")
        assert (beside, search.done()) == ("beside\n", False)
        search.cancel()


async def test_long_output_keeps_beginning_and_end(backend: BubblewrapBackend, tmp_path: Path) -> None:
    async with started(backend, tmp_path) as sandbox:
        _, result = await run(sandbox, "echo first; head -c 2000000 /dev/zero | tr '\\0' x; echo last")
    output = result["stdout"]
    kept = base64.b64decode(output["data"])
    assert output["bytes"] == 2_000_011
    assert kept.startswith(b"first\n")
    assert kept.endswith(b"xlast\n")
    assert len(kept) < 600_000


async def test_probe_removes_the_groups_of_processes_that_are_gone(backend: BubblewrapBackend) -> None:
    home = resource_group.find_home()
    if home is None:
        return  # without control groups there is nothing that could be left
    stale = [folder / f"{resource_group.PREFIX}4194304-1" for folder in home.folders]
    for folder in stale:
        folder.mkdir()
    await backend.probe()
    assert not any(folder.exists() for folder in stale)
