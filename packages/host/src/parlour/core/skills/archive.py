"""Reads an untrusted zip into memory, within limits and without writing anything."""

import io
import stat
import zipfile
import zlib
from collections.abc import Iterator
from typing import Final

from .limits import (
    MAX_ARCHIVE_BYTES,
    MAX_FILE_BYTES,
    MAX_FILES,
    MAX_RATIO,
    MAX_TOTAL_BYTES,
    MEBIBYTE,
    SkillInvalid,
)
from .package import EXCLUDED_NAMES, Files, PackageFile, check_path

ENCRYPTED_FLAG: Final = 0x1
MAX_DIRECTORY_ENTRIES: Final = 4 * MAX_FILES
"""Entries of a zip, with those of folders and of what is left out."""
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OverflowError, NotImplementedError, OSError)


def read_archive(content: bytes, limit: int = MAX_ARCHIVE_BYTES) -> Files:
    """Returns the files of a zip. Raises SkillInvalid."""
    if len(content) > limit:
        raise SkillInvalid(f"the zip has {len(content)} bytes; at most {limit} are accepted")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return dict(_read(archive, len(content)))
    except SkillInvalid:
        raise
    except _DAMAGED as error:
        raise SkillInvalid(f"the zip can't be read: {str(error)[:200] or type(error).__name__}") from None


def _read(archive: zipfile.ZipFile, packed: int) -> Iterator[tuple[str, PackageFile]]:
    entries = archive.infolist()
    if len(entries) > MAX_DIRECTORY_ENTRIES:
        raise SkillInvalid(f"the zip has {len(entries)} entries; a skill has at most {MAX_FILES} files")
    allowed = min(MAX_TOTAL_BYTES, max(MEBIBYTE, packed * MAX_RATIO))
    total, seen = 0, set[str]()
    for entry in entries:
        path = _checked_path(entry)
        if path is None:
            continue
        if path.casefold() in seen:
            raise SkillInvalid(f"the zip has '{path}' twice")
        seen.add(path.casefold())
        file = _read_entry(archive, entry, path, allowed - total)
        total += len(file.content)
        yield path, file


def _checked_path(entry: zipfile.ZipInfo) -> str | None:
    """Returns the path of an entry; None for a folder and for what is left out."""
    name = entry.orig_filename
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise SkillInvalid(f"'{name[:100]}' is a link or a device; put the file itself into the zip")
    if entry.flag_bits & ENCRYPTED_FLAG:
        raise SkillInvalid(f"'{name[:100]}' is encrypted")
    path = check_path(name.removesuffix("/"))
    if name.endswith("/") or EXCLUDED_NAMES.intersection(path.split("/")):
        return None
    return path


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: str, remaining: int) -> PackageFile:
    """Reads one entry. The bytes that are really in it count, not the size that it claims."""
    limit = min(MAX_FILE_BYTES, remaining)
    with archive.open(entry) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise SkillInvalid(
            f"'{path}' is too large, or the zip unpacks to more than {MAX_RATIO} times its size or "
            f"{MAX_TOTAL_BYTES} bytes"
        )
    return PackageFile(content, bool(entry.external_attr >> 16 & 0o100))
