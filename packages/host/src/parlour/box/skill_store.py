"""The skills of a Box: packages that its Host has sent, unpacked and read-only, by their digests."""

import asyncio
import base64
import binascii
import logging
import os
import re
import shutil
import tempfile
import time
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

from parlour.core.skills.archive import read_archive
from parlour.core.skills.limits import MAX_TOTAL_BYTES, SkillInvalid
from parlour.core.skills.package import SkillPackage, build_package
from parlour.isolation.folder_deletion import FOLDER_MODE, make_deletable

from .errors import BoxError
from .workspaces import SECONDS_PER_DAY, InThread

logger = logging.getLogger(__name__)

PARTIAL_SUFFIX: Final = ".part"
MAX_PARTIAL_SECONDS: Final = 3600
MAX_PACKED_BYTES: Final = MAX_TOTAL_BYTES + 1024 * 1024
"""Files that can't be compressed make an archive that is larger than they are."""
DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class SkillStore:
    """Keeps unpacked skills below one folder."""

    def __init__(self, root: Path, days: float, in_thread: InThread = asyncio.to_thread) -> None:
        self._root = root
        self._days = days
        self._in_thread = in_thread

    async def missing(self, digests: Iterable[str]) -> list[str]:
        """Returns the packages that the Host has to send."""
        missing: list[str] = await self._in_thread(
            lambda: [each for each in digests if not self._folder(each).is_dir()]
        )
        return missing

    async def folders(self, skills: Mapping[str, str]) -> dict[str, Path]:
        """Returns the folder of each skill. Raises BoxError, `skill_missing` if the Host has to send one first."""
        if not skills:
            return {}
        missing = await self.missing(skills.values())
        if missing:
            raise BoxError("skill_missing", f"{len(missing)} skills were not sent to this Box yet", retryable=True)
        folders = {name: self._folder(digest) for name, digest in skills.items()}
        await self._in_thread(_touch, folders.values())
        return folders

    async def receive(self, digest: str, offset: int, data: str, is_last: bool) -> None:
        """Takes a piece of a package. The last one unpacks it. Raises BoxError."""
        try:
            piece = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            raise BoxError("invalid_spec", "data: is not base64") from None
        try:
            await self._in_thread(self._receive, digest, offset, piece, is_last)
        except OSError as error:
            raise BoxError("backend_unavailable", f"a skill can't be stored: {error.strerror}", True) from error

    async def sweep(self, used: Collection[str]) -> None:
        """Deletes packages that no session used for some days, and pieces of packages that never became whole."""
        await self._in_thread(self._sweep, used)

    def _receive(self, digest: str, offset: int, piece: bytes, is_last: bool) -> None:
        self._root.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        if self._folder(digest).is_dir():
            return
        partial = self._root / f"{digest}{PARTIAL_SUFFIX}"
        if offset == 0:
            partial.unlink(missing_ok=True)
        with partial.open("ab") as file:
            if file.tell() != offset:
                raise BoxError("invalid_spec", f"offset: {file.tell()} bytes were received", retryable=True)
            if offset + len(piece) > MAX_PACKED_BYTES:
                raise BoxError("skill_invalid", f"a package has at most {MAX_PACKED_BYTES} bytes")
            file.write(piece)
        if is_last:
            try:
                self._unpack(digest, partial.read_bytes())
            finally:
                partial.unlink(missing_ok=True)

    def _unpack(self, digest: str, content: bytes) -> None:
        try:
            package = build_package(read_archive(content, MAX_PACKED_BYTES))
        except SkillInvalid as invalid:
            raise BoxError("skill_invalid", str(invalid)) from None
        if package.sha256 != digest:
            raise BoxError("skill_invalid", "the package does not have the digest that was announced")
        staging = Path(tempfile.mkdtemp(dir=self._root, prefix="."))
        try:
            _write(package, staging)
            os.rename(staging, self._folder(digest))
        except FileExistsError:
            return  # another session has brought it in the meantime
        except OSError:
            if not self._folder(digest).is_dir():
                raise
        finally:
            if staging.exists():
                shutil.rmtree(staging, onerror=make_deletable)

    def _sweep(self, used: Collection[str]) -> None:
        if not self._root.is_dir():
            return
        now = time.time()
        for path in self._root.iterdir():
            age = now - path.lstat().st_mtime
            is_whole = DIGEST.fullmatch(path.name) is not None
            if path.name in used or age < (self._days * SECONDS_PER_DAY if is_whole else MAX_PARTIAL_SECONDS):
                continue
            if path.is_dir():
                shutil.rmtree(path, onerror=make_deletable)
            else:
                path.unlink(missing_ok=True)

    def _folder(self, digest: str) -> Path:
        if not DIGEST.fullmatch(digest):
            raise BoxError("invalid_spec", "a skill is named by its SHA-256 digest")
        return self._root / digest


def _write(package: SkillPackage, folder: Path) -> None:
    for path, file in package.files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.content)
        target.chmod(0o555 if file.executable else 0o444)
    for each in sorted(folder.rglob("*"), reverse=True):
        if each.is_dir():
            each.chmod(0o555)
    folder.chmod(0o755)


def _touch(folders: Iterable[Path]) -> None:
    for folder in folders:
        os.utime(folder)
