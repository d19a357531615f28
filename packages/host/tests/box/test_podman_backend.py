"""The podman backend with real containers: the contract of backends, and what is left when a Box is killed."""

import asyncio
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from parlour.box.backend import BackendUnavailable
from parlour.box.bubblewrap_backend import BubblewrapBackend
from parlour.box.containers.backend import ContainerBackend
from parlour.box.errors import BoxError
from parlour.box.mount_policy import MountPolicy
from parlour.box.sessions import BoxSessions
from parlour.box.skill_store import SkillStore
from parlour.box.workspace_images import WorkspaceImages
from parlour.box.workspaces import Workspaces
from parlour.core.box.messages import ExecRequest, SessionSpec
from parlour.testing.box_backend_contract import IsolationContract, MakeBackend, run, started

from .podman_support import IMAGE, install_podman, podman

pytestmark = [pytest.mark.long, pytest.mark.root, pytest.mark.timeout(600)]

QUOTA_MB = 16

HOLD_A_CONTAINER = """
import asyncio, sys
from pathlib import Path
from parlour.box.backend import SandboxFolders
from parlour.box.containers.backend import ContainerBackend
from parlour.core.box.messages import SessionSpec

async def main():
    backend = ContainerBackend("podman", sys.argv[1], Path(sys.argv[2]))
    await backend.probe()
    spec = SessionSpec(session_id="held", cpus=1, memory_mb=128, processes=48)
    await backend.start(spec, SandboxFolders(Path(sys.argv[2]) / "held"), print)
    print("held", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture(autouse=True)
def on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{install_podman()}:{os.environ['PATH']}")


class TestPodman(IsolationContract):
    @pytest.fixture
    def make_backend(self, tmp_path_factory: pytest.TempPathFactory) -> MakeBackend:
        root = tmp_path_factory.mktemp("workspaces")
        return lambda: ContainerBackend("podman", IMAGE, root)


@pytest.fixture
async def backend(tmp_path: Path) -> ContainerBackend:
    shown = tmp_path / "shown"
    shown.mkdir()
    (shown / "file, with a comma").write_text("shown")
    backend = ContainerBackend("podman", IMAGE, tmp_path, mounts=MountPolicy([shown], []))
    await backend.probe()
    return backend


async def test_status_names_the_control_groups_that_limit_containers(backend: ContainerBackend) -> None:
    info = await backend.probe()
    assert (info.name, info.notice) == ("podman", "")
    assert info.limits in ("cgroup1", "cgroup2")


async def test_commands_find_no_socket_of_the_box(backend: ContainerBackend, tmp_path: Path) -> None:
    async with started(backend, tmp_path) as sandbox:
        output, _ = await run(sandbox, "ls -A /run/parlour-socket; touch /run/parlour-socket/x; echo $?")
    assert output == "1\n"
    assert os.listdir(tmp_path / ".sockets") == []


async def test_shown_files_are_checked_from_inside_before_the_first_command(
    backend: ContainerBackend, tmp_path: Path
) -> None:
    path = str(tmp_path / "shown" / "file, with a comma")
    async with started(backend, tmp_path, mounts=[path]) as sandbox:
        output, _ = await run(sandbox, f"cat '{path}'; echo x > '{path}' || echo refused")
    assert output == "shownrefused\n"
    with pytest.raises(BoxError) as refused:
        await started(backend, tmp_path, mounts=["/etc/passwd"]).__aenter__()
    assert refused.value.code == "mount_refused"


@contextmanager
def box_with_a_container(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Runs a process that has started a container, as a Box does."""
    (folder / "held").mkdir()
    arguments = [sys.executable, "-c", HOLD_A_CONTAINER, IMAGE, str(folder)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as box:
        assert box.stdout is not None
        assert box.stdout.readline() == "held\n"
        yield box
        box.kill()


async def test_next_box_removes_the_containers_of_a_killed_one(backend: ContainerBackend, tmp_path: Path) -> None:
    with box_with_a_container(tmp_path):
        [container] = mine(backend)
        podman("pause", container)  # so that its agent can't end by itself
    assert mine(backend) == [container]
    assert await backend.remove_orphans() == 1
    assert mine(backend) == []


async def test_container_ends_by_itself_when_its_box_is_killed(backend: ContainerBackend, tmp_path: Path) -> None:
    with box_with_a_container(tmp_path) as box:
        [container] = mine(backend)
        ended = await asyncio.create_subprocess_exec("podman", "wait", container, stdout=asyncio.subprocess.DEVNULL)
        box.send_signal(signal.SIGKILL)
        async with asyncio.timeout(60):
            await ended.wait()


async def test_workspace_of_another_backend_can_be_used(backend: ContainerBackend, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir(mode=0o700)
    other = BubblewrapBackend(None, ())
    await other.probe()
    async with started(other, workspace) as sandbox:
        await run(sandbox, "mkdir folder; echo one > folder/file; chmod 600 folder/file")
    async with started(backend, workspace) as sandbox:
        output, _ = await run(sandbox, "cat folder/file; echo two > folder/file; touch new && echo written")
    assert output == "one\nwritten\n"
    async with started(other, workspace) as sandbox:
        output, _ = await run(sandbox, "cat folder/file; echo three > folder/file && rm new && echo removed")
    assert output == "two\nremoved\n"


async def test_kernel_limits_the_workspace_of_a_container(backend: ContainerBackend, tmp_path: Path) -> None:
    images = WorkspaceImages(QUOTA_MB)
    assert images.problem(tmp_path) == ""
    workspaces = Workspaces(tmp_path, 7, QUOTA_MB, images)
    sessions = BoxSessions(backend, workspaces, SkillStore(tmp_path / "skills", 7), 300, 4, QUOTA_MB)
    spec = SessionSpec(session_id="full", cpus=1, memory_mb=128, processes=32)
    command = f"dd if=/dev/zero of=big bs=1M count={2 * QUOTA_MB}"
    try:
        result = await sessions.exec(ExecRequest(session=spec, command=command, timeout_seconds=60))
        assert (result["status"], result["code"], result["reason"]) == ("completed", 1, "quota")
        result = await sessions.exec(ExecRequest(session=spec, command="rm big; touch new", timeout_seconds=60))
        assert result["code"] == 0
    finally:
        await sessions.close()


async def test_commands_in_a_container_wait_for_no_engine(backend: ContainerBackend, tmp_path: Path) -> None:
    began = time.perf_counter()
    async with started(backend, tmp_path) as sandbox:
        start = (time.perf_counter() - began) * 1000
        taken = []
        for _ in range(100):
            began = time.perf_counter()
            await run(sandbox, "true")
            taken.append((time.perf_counter() - began) * 1000)
    p50 = statistics.median(taken)
    began = time.perf_counter()
    podman("info", "--format", "{{.Version.Version}}")
    engine = (time.perf_counter() - began) * 1000
    print(f"\npodman: start {start:.0f} ms, exec p50 {p50:.1f} ms, the engine alone {engine:.0f} ms")  # noqa: T201
    assert p50 < engine / 2


async def test_missing_image_is_named_with_the_command_that_fetches_it(tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable) as missing:
        await ContainerBackend("podman", "localhost/absent", tmp_path).probe()
    assert (missing.value.problem, missing.value.command) == ("no_image", "podman pull localhost/absent")


def mine(backend: ContainerBackend) -> list[str]:
    assert backend._engine is not None
    return podman("ps", "--all", "--quiet", f"--filter=label=parlour.box={backend._engine.owner}").split()
