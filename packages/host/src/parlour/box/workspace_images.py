"""Keeps workspaces in image files with file systems of their own, so that the kernel limits their size.

It needs root. All functions block on the disk.
"""

import contextlib
import errno
import logging
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from .errors import BoxError

logger = logging.getLogger(__name__)

IMAGE_SUFFIX: Final = ".img"
UNFINISHED_SUFFIX: Final = ".unfinished"
MEBIBYTE: Final = 1024 * 1024
SMALLEST_MB: Final = 4
COPIED_BYTES: Final = 1024 * 1024
EMPTY_PREFIX: Final = ".empty-"
PROGRAMS: Final = ("mkfs.ext4", "mount", "umount", "e2fsck", "resize2fs")
SYSTEM_PATH: Final = "/usr/sbin:/usr/bin:/sbin:/bin"
COMMAND_SECONDS: Final = 60.0
MAKE_OPTIONS: Final = ("-q", "-F", "-m", "0", "-O", "^has_journal", "-E", "lazy_itable_init=1,nodiscard")
MOUNT_OPTIONS: Final = "loop,nosuid,nodev,noatime,discard,noinit_itable"
"""Deleted files give their room on the disk back, and empty tables take none."""
STATE_OFFSET: Final = 1024 + 58
"""Where an ext file system says whether it was unmounted in order."""
LOOP_DEVICES: Final = Path("/sys/block")


class ImageFailed(Exception):
    """Raised when a workspace can't be kept in an image, with the last words of the program that failed."""


class WorkspaceImages:
    """Makes, mounts and unmounts the images of workspaces."""

    def __init__(self, size_mb: int) -> None:
        self._size_mb = max(size_mb, SMALLEST_MB)

    def problem(self, root: Path) -> str:
        """Tries images out below a folder. Returns why they can't be used; empty if they can."""
        if os.geteuid() != 0:
            return "only root can mount images"
        missing = [name for name in PROGRAMS if shutil.which(name, path=SYSTEM_PATH) is None]
        if missing:
            return f"{missing[0]} is not installed"
        folder = root / f".probe-{os.getpid()}"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._copy_empty(root, image_of(folder))
            _mount(image_of(folder), folder)
            _run("umount", str(folder))
        except (ImageFailed, OSError) as error:
            return str(error)
        finally:
            image_of(folder).unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                folder.rmdir()
        return ""

    def open(self, folder: Path) -> None:
        """Mounts the image of a workspace on its folder. It is made if it is missing, with the files of the folder.

        Raises ImageFailed if it can't be made, and BoxError if there is one that can't be mounted.
        """
        if os.path.ismount(folder):
            return
        image = image_of(folder)
        if not image.exists():
            self._make_with_files(image, folder)
        try:
            if not _is_attached(image):
                self._repair_and_grow(image)
            _mount(image, folder)
        except ImageFailed as error:
            raise BoxError("backend_unavailable", f"the workspace can't be mounted: {error}", retryable=True) from error

    def close(self, folder: Path) -> None:
        """Unmounts a workspace."""
        while os.path.ismount(folder):
            try:
                _run("umount", "--lazy", str(folder))
            except ImageFailed as error:
                logger.warning("a workspace can't be unmounted: %s", error)
                return

    def _make_with_files(self, image: Path, folder: Path) -> None:
        unfinished = image.with_name(image.name + UNFINISHED_SUFFIX)
        unfinished.unlink(missing_ok=True)
        try:
            self._copy_empty(folder.parents[1], unfinished)
            if any(folder.iterdir()):
                _copy_into(unfinished, folder)
        except (ImageFailed, OSError, shutil.Error) as error:
            unfinished.unlink(missing_ok=True)
            raise ImageFailed(str(error)[:300]) from error
        unfinished.rename(image)
        for entry in folder.iterdir():  # they are in the image now
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()

    def _copy_empty(self, root: Path, image: Path) -> None:
        """Copies the empty image of this size, which is faster than to make each one."""
        empty = root / f"{EMPTY_PREFIX}{self._size_mb}{IMAGE_SUFFIX}"
        if not empty.exists():
            for old in root.glob(f"{EMPTY_PREFIX}*"):
                old.unlink(missing_ok=True)
            with tempfile.TemporaryDirectory(dir=root, prefix=EMPTY_PREFIX) as place:
                made = Path(place, "made")
                _make(made, self._size_mb)
                made.rename(empty)
        _copy_sparse(empty, image)

    def _repair_and_grow(self, image: Path) -> None:
        """Repairs an image that was not unmounted in order, and grows one that was made for a smaller quota."""
        wanted = self._size_mb * MEBIBYTE
        is_small = image.stat().st_size < wanted
        if is_small or not _is_clean(image):
            _run("e2fsck", "-f", "-y", str(image), accepted=(0, 1))
        if is_small:
            os.truncate(image, wanted)
            _run("resize2fs", str(image))


def image_of(folder: Path) -> Path:
    """Returns the image of a workspace, which is beside its folder."""
    return folder.with_name(folder.name + IMAGE_SUFFIX)


def _make(image: Path, size_mb: int) -> None:
    descriptor = os.open(image, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.truncate(descriptor, size_mb * MEBIBYTE)
    finally:
        os.close(descriptor)
    _run("mkfs.ext4", *MAKE_OPTIONS, str(image))


def _copy_sparse(source: Path, target: Path) -> None:
    """Copies the parts of a file that have data."""
    with source.open("rb") as read, target.open("wb") as written:
        os.fchmod(written.fileno(), 0o600)
        size = os.fstat(read.fileno()).st_size
        os.truncate(written.fileno(), size)
        end = 0
        while True:
            try:
                start = os.lseek(read.fileno(), end, os.SEEK_DATA)
            except OSError as error:
                if error.errno == errno.ENXIO:  # there is no more data
                    return
                raise
            end = os.lseek(read.fileno(), start, os.SEEK_HOLE)
            while start < end:
                piece = os.pread(read.fileno(), min(end - start, COPIED_BYTES), start)
                start += os.pwrite(written.fileno(), piece, start)


def _mount(image: Path, folder: Path) -> None:
    _run("mount", "-t", "ext4", "-o", MOUNT_OPTIONS, str(image), str(folder))
    with contextlib.suppress(OSError):
        (folder / "lost+found").rmdir()


def _copy_into(image: Path, folder: Path) -> None:
    place = folder.with_name(folder.name + UNFINISHED_SUFFIX)
    place.mkdir(mode=0o700, exist_ok=True)
    try:
        _mount(image, place)
        try:
            shutil.copytree(folder, place, symlinks=True, dirs_exist_ok=True)
        finally:
            _run("umount", str(place))
    finally:
        with contextlib.suppress(OSError):
            place.rmdir()


def _is_clean(image: Path) -> bool:
    with image.open("rb") as file:
        file.seek(STATE_OFFSET)
        return bool(int.from_bytes(file.read(2), "little") & 1)


def _is_attached(image: Path) -> bool:
    """Returns whether a device shows the image, such as for a sandbox that is ending."""
    return str(image) in set(_attached_files())


def _attached_files() -> Iterator[str]:
    for backing in LOOP_DEVICES.glob("loop*/loop/backing_file"):
        with contextlib.suppress(OSError):
            yield backing.read_text().strip()


def _run(program: str, *arguments: str, accepted: Sequence[int] = (0,)) -> None:
    """Runs a program of the system. Raises ImageFailed."""
    found = shutil.which(program, path=SYSTEM_PATH)
    if found is None:
        raise ImageFailed(f"{program} is not installed")
    try:
        finished = subprocess.run(
            [found, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=COMMAND_SECONDS,
            check=False,
            env={"PATH": SYSTEM_PATH, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ImageFailed(f"{program}: {error}") from error
    if finished.returncode not in accepted:
        words = (finished.stderr or finished.stdout).decode(errors="replace").strip().splitlines()
        raise ImageFailed(f"{program}: {words[0][:200] if words else f'exit status {finished.returncode}'}")
