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
