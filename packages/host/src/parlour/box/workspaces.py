"""The folders of sessions: one per session, kept when the sandbox ends, and deleted some days after its last use."""

import asyncio
import hashlib
import json
import logging
import os
import shutil
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Literal
from weakref import WeakValueDictionary

from parlour.core.box.messages import SessionSpec
from parlour.isolation.folder_deletion import FOLDER_MODE, make_deletable
from parlour_sdk.values import dataclass

from .errors import BoxError
from .project_quotas import ProjectQuotas, QuotaFailed
from .workspace_images import ImageFailed, WorkspaceImages, image_of

logger = logging.getLogger(__name__)

USED_FILE_SUFFIX = ".json"
SECONDS_PER_DAY = 86_400
MOUNT_POINTS = (".skills",)
"""Folders of a workspace that sandboxes cover with something else."""
InThread = Callable[..., Awaitable[Any]]
"""Runs a function that blocks on the disk."""
QuotaKind = Literal["loop", "tmpfs", "project", "advisory"]


@dataclass(frozen=True, slots=True)
class OpenWorkspace:
    """A workspace that a session uses, and what limits its size."""

    folder: Path
    quota: QuotaKind = "advisory"
    memory_mb: int = 0
    """Its size if it is in memory; 0 if it is on disk."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace on disk."""

    folder: Path
    record: Path

    @property
    def used_at(self) -> float:
        try:
            return self.record.stat().st_mtime
        except OSError:
            return 0.0


class Workspaces:
    """All workspaces below one folder, separated by the workspace of the Host."""

    def __init__(
        self,
        root: Path,
        days: float,
        quota_mb: int = 0,
        images: WorkspaceImages | None = None,
        now: Callable[[], float] = time.time,
        in_thread: InThread = asyncio.to_thread,
        projects: ProjectQuotas | None = None,
    ) -> None:
        """`images` keep workspaces if the kernel is to limit their size; without them they are folders, which
        `projects` limit if the file system does that.
        """
        self._projects = projects
        self._root = root
        self._days = days
        self._quota_mb = quota_mb
        self._images = images
        self._now = now
        self._in_thread = in_thread
        self._users: Counter[Path] = Counter()
        """Number of sessions that use a workspace; more than one while one takes the place of another."""
        self._locks: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()

    async def open(self, spec: SessionSpec) -> OpenWorkspace:
        """Returns the workspace of a session, which is created if it is missing. Raises BoxError."""
        folder = self._find(spec.workspace_id, spec.session_id).folder
        async with self._locks.setdefault(folder, asyncio.Lock()):
            opened: OpenWorkspace = await self._in_thread(self._open, spec)
            self._users[folder] += 1
            return opened

    async def close(self, spec: SessionSpec) -> None:
        """Ends the use of a workspace by a session. Its files stay."""
        folder = self._find(spec.workspace_id, spec.session_id).folder
        async with self._locks.setdefault(folder, asyncio.Lock()):
            self._users[folder] -= 1
            if self._users[folder] <= 0:
                del self._users[folder]
                if self._images is not None:
                    await self._in_thread(self._images.close, folder)

    async def touch(self, specs: Sequence[SessionSpec]) -> None:
        """Records uses, from which on the days of the workspaces count."""
        await self._in_thread(self._touch, specs)

    async def sweep(self, active: Collection[str]) -> int:
        """Deletes the workspaces that were not used for some days, but those of active sessions. Returns how many."""
        deleted: int = await self._in_thread(self._sweep, active)
        return deleted

    async def delete(self, workspace_id: str, session_id: str) -> None:
        """Deletes the workspace of a session, if it exists."""
        workspace = self._find(workspace_id, session_id)
        async with self._locks.setdefault(workspace.folder, asyncio.Lock()):
            await self._in_thread(self._delete, workspace)

    def _open(self, spec: SessionSpec) -> OpenWorkspace:
        workspace = self._find(spec.workspace_id, spec.session_id)
        workspace.folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        for folder in (self._root, workspace.folder.parent):
            folder.chmod(FOLDER_MODE)
        opened = self._limit(spec, workspace.folder)
        for name in MOUNT_POINTS if spec.skills and not opened.memory_mb else ():
            _make_mount_point(workspace.folder / name)
        workspace.record.write_text(json.dumps({"title": spec.title, "workspace_id": spec.workspace_id}))
        return opened

    def _limit(self, spec: SessionSpec, folder: Path) -> OpenWorkspace:
        """Chooses what limits the size of a workspace: the kernel where it can, otherwise a watcher."""
        if self._images is not None:
            try:
                self._images.open(folder)
                return OpenWorkspace(folder, "loop")
            except ImageFailed as error:
                logger.warning("the workspace of a session can't be kept in an image: %s", error)
        elif image_of(folder).exists():
            message = "the files of this workspace are in an image, which only a Box can mount that runs as root"
            raise BoxError("backend_unavailable", message)
        elif spec.ephemeral and self._quota_mb and not spec.read_only:
            return OpenWorkspace(folder, "tmpfs", min(self._quota_mb, spec.memory_mb // 2))
        if self._projects is not None:
            try:
                self._projects.open(folder)
                return OpenWorkspace(folder, "project")
            except QuotaFailed as error:
                logger.warning("the workspace of a session has no project quota: %s", error)
        return OpenWorkspace(folder)

    def _touch(self, specs: Sequence[SessionSpec]) -> None:
        for spec in specs:
            record = self._find(spec.workspace_id, spec.session_id).record
            if record.exists():
                os.utime(record, (self._now(), self._now()))

    def _sweep(self, active: Collection[str]) -> int:
        oldest, deleted = self._now() - self._days * SECONDS_PER_DAY, 0
        for record in self._root.glob(f"*/*{USED_FILE_SUFFIX}"):
            workspace = Workspace(record.with_suffix(""), record)
            if record.stem not in active and workspace.used_at < oldest:
                self._delete(workspace)
                deleted += 1
        return deleted

    def _find(self, workspace_id: str, session_id: str) -> Workspace:
        folder = self._root / hashlib.sha256(workspace_id.encode()).hexdigest()[:16]
        return Workspace(folder / session_id, folder / f"{session_id}{USED_FILE_SUFFIX}")

    def _delete(self, workspace: Workspace) -> None:
        if self._images is not None:
            self._images.close(workspace.folder)
        image_of(workspace.folder).unlink(missing_ok=True)
        if workspace.folder.exists():
            if self._projects is not None:
                self._projects.release(workspace.folder)
            shutil.rmtree(workspace.folder, onerror=make_deletable)
        workspace.record.unlink(missing_ok=True)


def _make_mount_point(path: Path) -> None:
    """Makes a folder of the workspace's own. A command may have put a link there, which could lead anywhere."""
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        path.unlink()
    path.mkdir(mode=FOLDER_MODE, exist_ok=True)
