"""The files of a skill as one value: which paths are accepted, and the archive in which they are stored."""

import hashlib
import io
import unicodedata
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from parlour.core.model.ids import SkillName
from parlour.core.model.skill import SkillFile
from parlour_sdk.values import dataclass

from .document import DOCUMENT, SkillDocument, read_document, write_document
from .limits import MAX_FILE_BYTES, MAX_FILES, MAX_PATH_BYTES, MAX_TOTAL_BYTES, SkillInvalid

ARCHIVE_DATE: Final = (1980, 1, 1, 0, 0, 0)
EXCLUDED_NAMES: Final = frozenset((".git", "__pycache__", ".venv", "venv", "node_modules", "__MACOSX", ".DS_Store"))


@dataclass(frozen=True, slots=True)
class PackageFile:
    """The content of one file."""

    content: bytes
    executable: bool = False


Files = Mapping[str, PackageFile]
"""Files by their paths in the package."""


@dataclass(frozen=True, slots=True)
class SkillPackage:
    """A checked package: its files, and what its SKILL.md says."""

    files: Files
    document: SkillDocument

    @property
    def listing(self) -> tuple[SkillFile, ...]:
        return tuple(
            SkillFile(path, len(file.content), hashlib.sha256(file.content).hexdigest(), file.executable)
            for path, file in sorted(self.files.items())
        )

    @property
    def sha256(self) -> str:
        """Digest of the sorted paths, modes and contents."""
        digest = hashlib.sha256()
        for file in self.listing:
            digest.update(f"{file.path}\0{file.sha256}\0{int(file.executable)}\n".encode())
        return digest.hexdigest()

    def renamed(self, name: SkillName) -> "SkillPackage":
        """Returns the package under another name, which its SKILL.md has then, too."""
        return build_package({**self.files, DOCUMENT: PackageFile(write_document(replace(self.document, name=name)))})

    def pack(self) -> bytes:
        """Returns the archive of the files. The same files always make the same archive."""
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, file in sorted(self.files.items()):
                entry = zipfile.ZipInfo(path, ARCHIVE_DATE)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = (0o100755 if file.executable else 0o100644) << 16
                archive.writestr(entry, file.content)
        return target.getvalue()


def build_package(files: Files) -> SkillPackage:
    """Checks the files and returns the package. Raises SkillInvalid."""
    if DOCUMENT not in files:
        raise SkillInvalid(f"there is no {DOCUMENT} at its top; a skill is a folder with this file")
    if len(files) > MAX_FILES:
        raise SkillInvalid(f"it has {len(files)} files; a skill has at most {MAX_FILES}")
    seen: dict[str, str] = {}
    total = 0
    for path, file in files.items():
        check_path(path)
        folded = unicodedata.normalize("NFC", path).casefold()
        if folded in seen:
            raise SkillInvalid(f"'{path}' and '{seen[folded]}' differ in their case only; rename one of them")
        seen[folded] = path
        check_size(path, len(file.content))
        total += len(file.content)
    for folded, path in seen.items():
        parent = next((str(each) for each in PurePosixPath(folded).parents if str(each) in seen), None)
        if parent is not None:
            raise SkillInvalid(f"'{path}' lies in '{seen[parent]}', which is a file")
    if total > MAX_TOTAL_BYTES:
        raise SkillInvalid(f"its files have {total} bytes; at most {MAX_TOTAL_BYTES} are accepted")
    return SkillPackage(dict(files), read_document(files[DOCUMENT].content))


def check_path(path: str) -> str:
    """Returns a path that stays in the package on every system. Raises SkillInvalid."""
    parts = path.split("/")
    is_safe = path.isprintable() and "\\" not in path and ":" not in parts[0] and path == path.strip()
    if not path or not is_safe or any(part in ("", ".", "..") for part in parts):
        shown = path[:100].encode("ascii", "backslashreplace").decode()
        raise SkillInvalid(f"'{shown}' is no path that a file of a skill may have; use names and / between them")
    try:
        length = len(path.encode())
    except UnicodeEncodeError:
        raise SkillInvalid("a file has a name that is no text") from None
    if length > MAX_PATH_BYTES or any(len(part.encode()) > 255 for part in parts):
        raise SkillInvalid(f"'{path[:100]}...' is too long: a path has at most {MAX_PATH_BYTES} bytes")
    return path


def check_size(path: str, size: int) -> None:
    if size > MAX_FILE_BYTES:
        raise SkillInvalid(f"'{path}' has {size} bytes; a file has at most {MAX_FILE_BYTES}")
