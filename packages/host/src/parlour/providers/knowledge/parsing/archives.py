"""Opens files that are ZIP archives inside, after a check that unpacking them is harmless."""

import zipfile
from pathlib import Path

from .errors import Unreadable
from .file_types import DOCX, EPUB, PPTX, XLSX

MAX_UNPACKED_BYTES = 200 * 1024 * 1024
MAX_ENTRIES = 10_000
MAX_RATIO = 100
"""Largest ratio of the unpacked size to that of the file."""
SMALL_BYTES = 20 * 1024 * 1024
"""Unpacked size up to which the ratio does not matter: empty sheets shrink a lot."""
NESTED = (".zip", ".docx", ".xlsx", ".pptx", ".epub", ".jar", ".7z", ".rar", ".gz", ".bz2", ".xz", ".tar")
PARTS = ((DOCX, "word/document.xml"), (PPTX, "ppt/presentation.xml"), (XLSX, "xl/workbook.xml"))


def check_archive(path: Path) -> str:
    """Returns the type of the document in an archive. Raises Unreadable."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            unpacked = sum(entry.file_size for entry in entries)
            names = {entry.filename for entry in entries}
            if len(entries) > MAX_ENTRIES:
                raise Unreadable("file.too_large", f"the file has more than {MAX_ENTRIES} parts")
            if unpacked > MAX_UNPACKED_BYTES:
                limit = MAX_UNPACKED_BYTES // 1024 // 1024
                raise Unreadable("file.too_large", f"unpacked, the file has more than {limit} MiB")
            if unpacked > SMALL_BYTES and unpacked > MAX_RATIO * path.stat().st_size:
                raise Unreadable("file.too_large", f"the file grows more than {MAX_RATIO} times when it is unpacked")
            if any(entry.flag_bits & 1 for entry in entries):
                raise Unreadable("file.encrypted", "the file is protected by a password")
            if any(name.lower().endswith(NESTED) and "embeddings/" not in name for name in names):
                raise Unreadable("file.type", "the file contains archives, which are not opened")
            if "mimetype" in names and archive.read("mimetype")[:64].strip() == EPUB.encode():
                return EPUB
            found = next((kind for kind, part in PARTS if part in names), None)
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError) as error:
        raise Unreadable("parse.failed", f"the file is damaged: {error}") from error
    if found is None:
        raise Unreadable("file.type", "the archive is no document that can be read")
    return found
