"""Workspaces in image files, with real mounts: the kernel holds the quota, and a Box that is gone leaves nothing."""

import asyncio
import base64
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from parlour.box.bubblewrap_backend import BubblewrapBackend
from parlour.box.errors import BoxError
from parlour.box.sessions import BoxSessions
from parlour.box.skill_store import SkillStore
from parlour.box.workspace_images import MEBIBYTE, WorkspaceImages, _attached_files, _run, image_of
from parlour.box.workspaces import Workspaces
from parlour.core.box.messages import ExecRequest, SessionSpec, WorkspaceRequest

pytestmark = pytest.mark.root
QUOTA_MB = 16
HOLD_A_WORKSPACE = """
import sys
from pathlib import Path
from parlour.box.private_mounts import PrivateMounts
from parlour.box.workspace_images import WorkspaceImages

assert PrivateMounts.enter()
folder = Path(sys.argv[1])
WorkspaceImages(16).open(folder)
(folder / "written").write_text("by a Box that is killed")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path) -> Iterator[None]:
    """Unmounts what a failed test has left."""
    yield
    for line in Path("/proc/mounts").read_text().splitlines():
        if line.split()[1].startswith(f"{tmp_path}/"):
            _run("umount", "--lazy", line.split()[1])


@asynccontextmanager
async def opened(folder: Path, images: WorkspaceImages | None, quota_mb: int = QUOTA_MB) -> AsyncIterator[BoxSessions]:
    backend = BubblewrapBackend(None, ())
    await backend.probe()
    workspaces = Workspaces(folder / "workspaces", 7, quota_mb, images)
    sessions = BoxSessions(backend, workspaces, SkillStore(folder / "skills", 7), 300, 8, quota_mb)
    try:
        yield sessions
    finally:
        await sessions.close()


def command(text: str, session_id: str = "one", **fields: object) -> ExecRequest:
    spec = SessionSpec(session_id=session_id, cpus=1, memory_mb=128, processes=32, **fields)  # type: ignore[arg-type]
    return ExecRequest(session=spec, command=text, timeout_seconds=30)


async def output(sessions: BoxSessions, text: str, session_id: str = "one") -> str:
    result = await sessions.exec(command(text, session_id))
    return base64.b64decode(result["stdout"]["data"] + result["stderr"]["data"]).decode().strip()


def mounted(folder: Path) -> list[str]:
    """Returns what is mounted below a folder, and the devices that show a file below it."""
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    return [path for path in (*mounts, *_attached_files()) if path.startswith(f"{folder}/")]


async def none_mounted(folder: Path) -> None:
    """Waits until the kernel has released what the last sandbox of a workspace held."""
    async with asyncio.timeout(20):
        while mounted(folder):  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.02)


def image(folder: Path) -> Path:
    [found] = folder.glob("workspaces/*/one.img")
    return found


def names(folder: Path, pattern: str = "workspaces/*/*") -> list[str]:
    return sorted(path.name for path in folder.glob(pattern))


async def test_s4_writing_twice_the_quota_fails_in_the_sandbox_and_takes_no_more_of_the_disk(tmp_path: Path) -> None:
    async with opened(tmp_path, WorkspaceImages(QUOTA_MB)) as sessions:
        result = await sessions.exec(command(f"dd if=/dev/zero of=big bs=1M count={2 * QUOTA_MB}"))
        assert (result["status"], result["code"], result["reason"]) == ("completed", 1, "quota")
        assert b"No space left" in base64.b64decode(result["stderr"]["data"])
        size = int(await output(sessions, "stat -c %s big"))
        assert QUOTA_MB * MEBIBYTE * 0.8 < size <= QUOTA_MB * MEBIBYTE
        assert image(tmp_path).stat().st_blocks * 512 <= QUOTA_MB * MEBIBYTE
        assert await output(sessions, "rm big && echo kept > file && ls -A") == "file"
        assert image(tmp_path).stat().st_blocks * 512 < QUOTA_MB * MEBIBYTE / 2, "the disk gets the room back"
        assert sessions.all()[0].workspace.quota == "loop"


async def test_files_outlive_sessions_and_a_deleted_workspace_leaves_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path, WorkspaceImages(QUOTA_MB)) as sessions:
        await output(sessions, "echo kept > file")
        await sessions.end("one")
        await none_mounted(tmp_path)
        assert await output(sessions, "cat file") == "kept"
        spec = sessions.all()[0].spec
        await sessions.delete_workspace(WorkspaceRequest(session_id="one", workspace_id=spec.workspace_id))
        await none_mounted(tmp_path)
        assert names(tmp_path) == []
        assert await output(sessions, "ls -A") == ""
    await none_mounted(tmp_path)


async def test_folder_of_an_earlier_box_moves_into_an_image_and_a_larger_quota_makes_it_grow(tmp_path: Path) -> None:
    async with opened(tmp_path, None) as sessions:
        await output(sessions, "mkdir -p a && echo old > a/file && ln -s a/file link && chmod 700 a/file")
    async with opened(tmp_path, WorkspaceImages(QUOTA_MB)) as sessions:
        assert await output(sessions, "cat link; stat -c %a a/file") == "old\n700"
        await sessions.end("one")
        assert names(tmp_path, "workspaces/*/one/*") == [], "the files are in the image only"
    async with opened(tmp_path, WorkspaceImages(2 * QUOTA_MB)) as sessions:
        written = await output(sessions, f"head -c {int(1.5 * QUOTA_MB)}M /dev/zero > big && cat link")
        assert written == "old"


async def test_files_too_large_for_an_image_stay_in_a_watched_folder(tmp_path: Path) -> None:
    async with opened(tmp_path, None, quota_mb=100) as sessions:
        await output(sessions, f"head -c {2 * QUOTA_MB}M /dev/urandom > big")
    async with opened(tmp_path, WorkspaceImages(QUOTA_MB), quota_mb=100) as sessions:
        assert await output(sessions, "ls -A") == "big"
        assert sessions.all()[0].workspace.quota == "advisory"
    assert names(tmp_path, "workspaces/*/*.img*") == []
    assert mounted(tmp_path) == []


async def test_without_images_a_workspace_in_one_is_refused_rather_than_shown_empty(tmp_path: Path) -> None:
    async with opened(tmp_path, WorkspaceImages(QUOTA_MB)) as sessions:
        await output(sessions, "echo kept > file")
    async with opened(tmp_path, None) as sessions:
        with pytest.raises(BoxError) as refused:
            await sessions.exec(command("ls"))
        assert refused.value.code == "backend_unavailable"


async def test_workspace_of_one_run_is_in_memory_where_there_are_no_images(tmp_path: Path) -> None:
    async with opened(tmp_path, None) as sessions:
        result = await sessions.exec(command(f"dd if=/dev/zero of=big bs=1M count={2 * QUOTA_MB}", ephemeral=True))
        assert (result["code"], result["reason"]) == (1, "quota")
        assert sessions.all()[0].workspace.quota == "tmpfs"
        late = await sessions.exec(command("sleep 100", ephemeral=True).model_copy(update={"timeout_seconds": 0.2}))
        assert (late["status"], late["files_lost"]) == ("timed_out", True)
        assert names(tmp_path, "**/big") == []


@contextmanager
def box_with_a_workspace(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Runs a process that has mounted a workspace, as a Box does."""
    arguments = [sys.executable, "-c", HOLD_A_WORKSPACE, str(folder)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as box:
        assert box.stdout is not None
        assert box.stdout.readline() == "held\n"
        yield box
        box.kill()


def test_mounts_of_a_killed_box_end_with_it_and_its_files_are_there(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    with box_with_a_workspace(folder) as box:
        assert mounted(tmp_path) == [str(image_of(folder))], "only its device is seen from outside"
        box.send_signal(signal.SIGKILL)
        box.wait()
    asyncio.run(none_mounted(tmp_path))
    images = WorkspaceImages(QUOTA_MB)
    images.open(folder)
    try:
        assert (folder / "written").read_text() == "by a Box that is killed"
    finally:
        images.close(folder)


def test_image_that_was_not_unmounted_in_order_is_repaired(tmp_path: Path) -> None:
    folder, copy = tmp_path / "workspace", tmp_path / "copy"
    images = WorkspaceImages(QUOTA_MB)
    for each in (folder, copy):
        each.mkdir()
    images.open(folder)
    try:
        (folder / "written").write_text("before the power went")
        os.sync()
        image_of(copy).write_bytes(image_of(folder).read_bytes())
    finally:
        images.close(folder)
    images.open(copy)
    try:
        assert (copy / "written").read_text() == "before the power went"
    finally:
        images.close(copy)
    _run("e2fsck", "-f", "-n", str(image_of(copy)))


def test_what_is_missing_for_images_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert WorkspaceImages(QUOTA_MB).problem(tmp_path) == ""
    assert [path.name for path in tmp_path.iterdir()] == [".empty-16.img"]
    monkeypatch.setattr("parlour.box.workspace_images.SYSTEM_PATH", str(tmp_path))
    assert WorkspaceImages(QUOTA_MB).problem(tmp_path) == "mkfs.ext4 is not installed"
