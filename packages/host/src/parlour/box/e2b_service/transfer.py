"""Copies workspaces to sandboxes elsewhere and back. What comes back was made by a sandbox, and is not trusted."""

import hashlib
import io
import os
import shutil
import stat
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from parlour.isolation.folder_deletion import FOLDER_MODE, make_deletable

from ..errors import BoxError

MEBIBYTE: Final = 1024 * 1024
MAX_FILES: Final = 20_000
MAX_LINK_CHARACTERS: Final = 4096
READ_BYTES: Final = 1024 * 1024
ARRIVED_SUFFIX: Final = ".arrived"
LEFT_SUFFIX: Final = ".left"
Manifest = Mapping[str, str]
"""Digests of files by their paths below a workspace."""


def pack(folder: Path, limit_mb: int) -> tuple[bytes, dict[str, str]]:
    """Returns the files of a workspace as an archive, and their digests. Raises BoxError if they are too many."""
    output = io.BytesIO()
    manifest: dict[str, str] = {}
    room = limit_mb * MEBIBYTE
    with tarfile.open(fileobj=output, mode="w") as archive:
        for path in _below(folder):
            name = str(path.relative_to(folder))
            info = path.lstat()
            if stat.S_ISREG(info.st_mode):
                room -= info.st_size
                if room < 0 or len(manifest) >= MAX_FILES:
                    message = f"the workspace has more than {limit_mb} MiB or {MAX_FILES} files, which are not copied"
                    raise BoxError("quota_exceeded", message)
                manifest[name] = digest(path)
            elif not (stat.S_ISDIR(info.st_mode) or stat.S_ISLNK(info.st_mode)):
                continue
            archive.add(path, name, recursive=False, filter=_without_owner)
    return output.getvalue(), manifest


def pack_folders(folders: Mapping[str, Path]) -> bytes:
    """Returns folders as an archive, each below the path that it is to have."""
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w") as archive:
        for target, folder in folders.items():
            archive.add(folder, target.lstrip("/"), filter=_readable_by_all)
    return output.getvalue()


def pack_shown(shown: Mapping[str, int], limit_mb: int) -> bytes:
    """Returns files and folders of the machine as an archive, by the paths that they have and their descriptors.

    Links in folders are not followed. Raises BoxError if there is too much.
    """
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w") as archive:
        room = _Room(limit_mb)
        for path, descriptor in shown.items():
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                _add_shown(archive, f"/proc/self/fd/{descriptor}", None, path, room)
                continue
            for parent, folders, files, folder in os.fwalk(".", dir_fd=descriptor):
                here = os.path.normpath(os.path.join(path, parent))
                for name in sorted(name for name in (*folders, *files) if _is_link(name, folder)):
                    archive.addfile(_link_info(os.path.join(here, name), os.readlink(name, dir_fd=folder)))
                for name in sorted(name for name in files if not _is_link(name, folder)):
                    _add_shown(archive, name, folder, os.path.join(here, name), room)
                if not files and not folders:
                    archive.addfile(_folder_info(here))
    return output.getvalue()


class _Room:
    """How much may still be copied."""

    def __init__(self, limit_mb: int) -> None:
        self._limit_mb = limit_mb
        self._bytes = limit_mb * MEBIBYTE
        self._files = MAX_FILES

    def take(self, size: int) -> None:
        self._bytes -= size
        self._files -= 1
        if self._bytes < 0 or self._files < 0:
            message = f"the files to be shown are more than {self._limit_mb} MiB or {MAX_FILES}, and are not copied"
            raise BoxError("quota_exceeded", message)


def _add_shown(archive: tarfile.TarFile, name: str, folder: int | None, path: str, room: _Room) -> None:
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if folder is None else os.O_NOFOLLOW)
    with os.fdopen(os.open(name, flags, dir_fd=folder), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return
        info = archive.gettarinfo(arcname=path.lstrip("/"), fileobj=file)
        info.type, info.linkname = tarfile.REGTYPE, ""  # a second name of a file is a file of its own
        info.size = os.fstat(file.fileno()).st_size
        info.mode = 0o755 if info.mode & 0o100 else 0o644
        room.take(info.size)
        archive.addfile(_without_owner(info), file)


def _is_link(name: str, folder: int) -> bool:
    return stat.S_ISLNK(os.lstat(name, dir_fd=folder).st_mode)


def _link_info(path: str, target: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path.lstrip("/"))
    info.type, info.linkname = tarfile.SYMTYPE, target
    return info


def _folder_info(path: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path.lstrip("/"))
    info.type, info.mode = tarfile.DIRTYPE, 0o755
    return info


def unpack(folder: Path, manifest: Manifest, unchanged: Iterable[str], archive: bytes, limit_mb: int) -> None:
    """Replaces the files of a workspace by what a sandbox has left: unchanged files, and an archive of all others.

    They are put together in a new folder, in which no link exists until the last file is written. Raises BoxError.
    """
    arrived, left = (folder.with_name(folder.name + suffix) for suffix in (ARRIVED_SUFFIX, LEFT_SUFFIX))
    for each in (arrived, left):
        if each.exists():
            shutil.rmtree(each, onerror=make_deletable)
    arrived.mkdir(mode=FOLDER_MODE)
    try:
        _fill(arrived, archive, limit_mb)
        for name in unchanged:
            if name in manifest and not (arrived / name).exists():
                (arrived / name).parent.mkdir(parents=True, exist_ok=True)
                os.link(folder / name, arrived / name, follow_symlinks=False)
        _link(arrived, archive)
    except (OSError, tarfile.TarError) as error:
        shutil.rmtree(arrived, onerror=make_deletable)
        raise BoxError("quota_exceeded", f"the files of the sandbox can't be kept: {error}") from error
    except BoxError:
        shutil.rmtree(arrived, onerror=make_deletable)
        raise
    folder.rename(left)
    arrived.rename(folder)
    shutil.rmtree(left, onerror=make_deletable)


def digest(path: Path) -> str:
    """Returns the SHA-256 of a file."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(READ_BYTES):
            found.update(chunk)
    return found.hexdigest()


def _fill(arrived: Path, content: bytes, limit_mb: int) -> None:
    """Writes the folders and regular files of an archive."""
    room, count = limit_mb * MEBIBYTE, 0
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive:
            target, count = arrived / _safe_name(member.name), count + 1
            if count > MAX_FILES:
                raise BoxError("quota_exceeded", f"the sandbox has left more than {MAX_FILES} files")
            if member.isdir():
                target.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
            elif member.isreg():
                room -= member.size
                if room < 0:
                    raise BoxError("quota_exceeded", f"the sandbox has left more than {limit_mb} MiB")
                target.parent.mkdir(parents=True, exist_ok=True)
                source = archive.extractfile(member)
                assert source is not None, "it is a regular file"
                with target.open("xb") as file:
                    shutil.copyfileobj(source, file, READ_BYTES)
                target.chmod(0o700 if member.mode & 0o100 else 0o600)


def _link(arrived: Path, content: bytes) -> None:
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive:
            target = arrived / _safe_name(member.name)
            if member.issym() and len(member.linkname) <= MAX_LINK_CHARACTERS and not os.path.lexists(target):
                if _has_link(arrived, target.parent):
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(member.linkname)


def _has_link(top: Path, folder: Path) -> bool:
    """Returns whether one of the folders on the way is a link."""
    parts = folder.relative_to(top).parts
    return any(top.joinpath(*parts[:length]).is_symlink() for length in range(1, len(parts) + 1))


def _safe_name(name: str) -> str:
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or "\0" in name:
        raise BoxError("path_refused", f"the sandbox has left a file with the path {name[:200]!r}")
    return "/".join(parts) or "."


def _below(folder: Path) -> Iterable[Path]:
    for parent, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted([*folders, *files]):
            yield Path(parent, name)


def _without_owner(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    return info


def _readable_by_all(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
    if "__pycache__" in info.name:
        return None
    info.mode = 0o755 if info.isdir() or info.mode & 0o100 else 0o644
    return _without_owner(info)
