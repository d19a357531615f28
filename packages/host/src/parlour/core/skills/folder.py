"""Reads a folder of this machine into memory, within limits. Links are refused."""

import os
import stat
from pathlib import Path

from .limits import MAX_FILE_BYTES, MAX_SCANNED_ENTRIES, MAX_TOTAL_BYTES, SkillInvalid
from .package import EXCLUDED_NAMES, Files, PackageFile, check_path, check_size


def read_folder(folder: Path) -> Files:
    """Returns the files below a folder. Raises SkillInvalid."""
    files: dict[str, PackageFile] = {}
    pending, scanned, total = [folder], 0, 0
    try:
        while pending:
            current = pending.pop()
            with os.scandir(current) as entries:
                for entry in sorted(entries, key=lambda each: each.name):
                    scanned += 1
                    if scanned > MAX_SCANNED_ENTRIES:
                        raise SkillInvalid(f"{folder} has more than {MAX_SCANNED_ENTRIES} entries; name a smaller one")
                    if entry.name in EXCLUDED_NAMES:
                        continue
                    path = Path(entry.path)
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(path)
                        continue
                    file = _read_file(path)
                    total += len(file.content)
                    if total > MAX_TOTAL_BYTES:
                        raise SkillInvalid(f"{folder} has more than {MAX_TOTAL_BYTES} bytes; name a smaller folder")
                    files[check_path(path.relative_to(folder).as_posix())] = file
    except OSError as error:
        raise SkillInvalid(f"{error.filename or folder} can't be read: {error.strerror}") from None
    return files


def _read_file(path: Path) -> PackageFile:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        if path.is_symlink():
            raise SkillInvalid(f"{path} is a link; put the file itself there") from None
        raise error
    with os.fdopen(descriptor, "rb") as file:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise SkillInvalid(f"{path} is neither a file nor a folder")
        check_size(str(path), info.st_size)
        content = file.read(MAX_FILE_BYTES + 1)
    check_size(str(path), len(content))
    return PackageFile(content, bool(info.st_mode & 0o100))
