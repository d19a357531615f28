"""Unpacks an untrusted zip: every entry is checked before the first byte is written."""

import errno
import stat
import struct
import unicodedata
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from parlour_sdk.plugin import PluginInvalid
from parlour_sdk.values import dataclass

from . import zip_directory

BLOCK_BYTES = 256 * 1024
MAX_COMPRESSION_RATIO = 200
"""Maximum ratio of unpacked to packed bytes. Text shrinks to a tenth; an archive beyond this ratio was made to fill a
disk."""
RATIO_CHECK_MIN_BYTES = 1024 * 1024
"""Unpacked bytes up to which the ratio does not matter."""
MAX_ENTRY_BYTES = 4096
"""Maximum bytes of one entry in the directory of the zip, for its name and what packers add."""
DAMAGED_ARCHIVE_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    ValueError,
    OverflowError,
    NotImplementedError,
    struct.error,
)
MAX_PATH_BYTES = 1000
MAX_NAME_BYTES = 255


@dataclass(frozen=True, slots=True)
class SizeLimits:
    files: int = 10_000
    bytes: int = 100 * 1024 * 1024

    def check(self, files: int, total: int) -> None:
        if files > self.files:
            raise PluginInvalid(
                f"it has more than {self.files} files and folders, the most a plugin may have; leave out what it does "
                "not need, or raise plugins.package_files"
            )
        if total > self.bytes:
            raise PluginInvalid(
                f"it has more than {self.bytes} bytes unpacked, the most a plugin may have; leave out what it does "
                "not need, or raise plugins.package_bytes"
            )


def unpack(archive: Path, target: Path, limits: SizeLimits, display_name: str = "") -> None:
    """Unpacks into an empty folder. Raises PluginInvalid, or OSError if the disk refuses.

    `display_name` is the archive's name for people.
    """
    try:
        _check_directory(archive, limits)
        with zipfile.ZipFile(archive) as zip_file:
            entries = zip_file.infolist()
            _check_sizes(entries, archive.stat().st_size, limits)
            _check_names(entries)
            unpacked_bytes = 0
            for entry in entries:
                unpacked_bytes += _write(zip_file, entry, target, limits.bytes - unpacked_bytes)
    except DAMAGED_ARCHIVE_ERRORS as error:
        raise PluginInvalid(_damaged(display_name or archive.name, error)) from error
    except OSError as error:
        if error.errno != errno.EINVAL:  # EINVAL: an offset in the archive is not valid
            raise
        raise PluginInvalid(_damaged(display_name or archive.name, error)) from error


def _damaged(display_name: str, error: Exception) -> str:
    return f"{display_name} is not a zip file, or a damaged one: {error}; pack the plugin's folder again"


def _check_directory(archive: Path, limits: SizeLimits) -> None:
    """Checks the size of the directory before any of it is in memory."""
    entries, size = zip_directory.measure(archive, limits.files)
    limits.check(entries, 0)
    max_bytes = limits.files * MAX_ENTRY_BYTES
    if max_bytes < size <= archive.stat().st_size:  # a size beyond that of the archive means damage
        raise PluginInvalid(
            f"its list of files has {size} bytes, and may have {max_bytes}; pack the plugin's folder again"
        )


def _check_sizes(entries: list[zipfile.ZipInfo], packed: int, limits: SizeLimits) -> None:
    total = sum(entry.file_size for entry in entries)
    limits.check(len(entries), total)
    if total > max(MAX_COMPRESSION_RATIO * packed, RATIO_CHECK_MIN_BYTES):
        raise PluginInvalid(
            f"its {packed} bytes claim to unpack to {total}, which no plugin does; pack it again without the file that "
            "has next to nothing in it"
        )


def _check_names(entries: list[zipfile.ZipInfo]) -> None:
    files: set[str] = set()
    folders: set[str] = set()
    for entry in entries:
        path = _checked_path(entry)
        key = unicodedata.normalize("NFC", str(path)).casefold()
        parents = {unicodedata.normalize("NFC", str(each)).casefold() for each in path.parents}
        if key in files or (not entry.is_dir() and key in folders) or parents & files:
            raise PluginInvalid(
                f"two entries are one file where upper and lower case are the same: {_entry_text(entry)}; "
                "rename one of them"
            )
        folders |= parents
        (folders if entry.is_dir() else files).add(key)


def _checked_path(entry: zipfile.ZipInfo) -> PurePosixPath:
    name = entry.filename
    parts = name.removesuffix("/").split("/")
    if "\0" in entry.orig_filename or "\\" in name or any(unicodedata.category(each) == "Cc" for each in name):
        raise PluginInvalid(
            f"an entry's name has a character that no file name may have: {_entry_text(entry)}; rename it"
        )
    if name.startswith("/") or name[1:2] == ":" or any(part in ("", ".", "..") for part in parts):
        raise PluginInvalid(
            f"an entry would leave the plugin's folder: {_entry_text(entry)}; "
            "pack the folder again, with names inside it "
            "only (parlour plugin build does)"
        )
    if len(name.encode()) > MAX_PATH_BYTES or any(len(part.encode()) > MAX_NAME_BYTES for part in parts):
        raise PluginInvalid(f"an entry's name is too long: {_entry_text(entry)}; shorten it")
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise PluginInvalid(
            f"an entry is neither a file nor a folder, but a link or a device: {_entry_text(entry)}; "
            "put the file itself there"
        )
    if entry.flag_bits & 1:
        raise PluginInvalid(f"an entry is encrypted: {_entry_text(entry)}; pack it without a password")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise PluginInvalid(f"an entry is packed in an unusual way: {_entry_text(entry)}; pack it with deflate")
    return PurePosixPath(*parts)


def _entry_text(entry: zipfile.ZipInfo) -> str:
    return repr(entry.orig_filename[:200])


def _write(zip_file: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path, remaining: int) -> int:
    """Writes one entry and returns its size. The bytes that are really in it count, not the size that it claims."""
    path = target / entry.filename
    if entry.is_dir():
        path.mkdir(parents=True, exist_ok=True)
        return 0
    path.parent.mkdir(parents=True, exist_ok=True)
    written_bytes = 0
    with zip_file.open(entry) as source, path.open("xb") as file:
        while block := source.read(BLOCK_BYTES):
            written_bytes += len(block)
            if written_bytes > remaining:
                raise PluginInvalid(
                    "it has more bytes unpacked than a plugin may have; leave out what it does not need"
                )
            file.write(block)
    if (entry.external_attr >> 16) & stat.S_IXUSR:
        path.chmod(0o755)
    return written_bytes
