"""The wheels that skills require, by the digest of the requirements, so that no skill gets those of another."""

import asyncio
import base64
import binascii
import re
import shutil
import time
from collections.abc import Collection
from pathlib import Path
from typing import Final

from parlour.core.box.messages import DIGEST

from .errors import BoxError
from .workspaces import InThread

PARTIAL_PREFIX: Final = "."
MAX_PARTIAL_SECONDS: Final = 3600
MAX_TOTAL_BYTES: Final = 512 * 1024 * 1024
"""Bytes of the wheels of one skill."""
FOLDER_MODE: Final = 0o755
"""Sandboxes run as another user, who reads the wheels."""
_DIGEST: Final = re.compile(DIGEST)


class WheelStore:
    """Keeps wheels below one folder, which sandboxes show read-only. Other files in the folder are the operator's."""

    def __init__(self, root: Path, in_thread: InThread = asyncio.to_thread) -> None:
        self._root = root
        self._in_thread = in_thread

    async def has(self, digest: str) -> bool:
        """Returns whether the wheels of some requirements are here."""
        found: bool = await self._in_thread((self._root / digest).is_dir)
        return found

    async def receive(self, digest: str, name: str, offset: int, data: str) -> None:
        """Takes a piece of a wheel. Raises BoxError."""
        try:
            piece = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            raise BoxError("invalid_spec", "data: is not base64") from None
        await self._stored(self._receive, digest, name, offset, piece)

    async def complete(self, digest: str, needed: Collection[str]) -> None:
        """Makes what was received available, and deletes what no requirements need any more. Raises BoxError."""
        await self._stored(self._complete, digest, {digest, *needed})

    async def _stored(self, work: object, *arguments: object) -> None:
        try:
            await self._in_thread(work, *arguments)
        except OSError as error:
            raise BoxError("backend_unavailable", f"a wheel can't be stored: {error.strerror}", True) from error

    def _receive(self, digest: str, name: str, offset: int, piece: bytes) -> None:
        folder = self._partial(digest)
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        file = folder / name
        if offset == 0:
            file.unlink(missing_ok=True)
        with file.open("ab") as output:
            if output.tell() != offset:
                raise BoxError("invalid_spec", f"offset: {output.tell()} bytes were received", retryable=True)
            if sum(each.stat().st_size for each in folder.iterdir()) + len(piece) > MAX_TOTAL_BYTES:
                raise BoxError("skill_invalid", f"the packages of a skill have at most {MAX_TOTAL_BYTES} bytes")
            output.write(piece)

    def _complete(self, digest: str, needed: Collection[str]) -> None:
        partial, folder = self._partial(digest), self._root / digest
        if not folder.is_dir():
            partial.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)  # requirements that need no package
            partial.rename(folder)
        for each in self._root.iterdir():
            is_unneeded = _DIGEST.fullmatch(each.name) is not None and each.name not in needed
            is_partial = each.name.startswith(PARTIAL_PREFIX) and _DIGEST.fullmatch(each.name[1:]) is not None
            if is_unneeded or (is_partial and time.time() - each.stat().st_mtime > MAX_PARTIAL_SECONDS):
                shutil.rmtree(each, ignore_errors=True)

    def _partial(self, digest: str) -> Path:
        return self._root / f"{PARTIAL_PREFIX}{digest}"
