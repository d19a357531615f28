"""Environments of plugins that require packages: built by uv, known by content, shared, never used half built."""

import asyncio
import contextlib
import fcntl
import hashlib
import json
import logging
import os
import platform
import re
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

from parlour_sdk.values import dataclass

from ..disk import FULL
from ..packages.commands import Tell, nothing
from ..packages.requirements import Requirements
from . import sdk_wheel
from .uv import UvMissing, find, reason, uv

logger = logging.getLogger(__name__)

MARKER = "parlour-environment.json"
UNUSED_SECONDS = 3600.0
"""How long an environment is kept that no plugin needs: somebody may be about to install one that does."""
POLL_SECONDS = 0.05
_STAGING = ".building-"


@dataclass(frozen=True, slots=True)
class EnvironmentRules:
    uv: Path | None = None
    seconds: float = 600.0
    allow_building: bool = False


class EnvironmentFailed(OSError):
    """A plugin's environment can't be made. To whoever starts the plugin it is one more reason why it can't start."""


class EnvironmentFull(EnvironmentFailed):
    """There is no room for a plugin's environment."""

    def __init__(self, message: str = "") -> None:
        super().__init__(
            message
            or "its environment can't be written: No space left on device; make room on the disk of the data "
            "directory and on the one of uv's cache, and try again"
        )


class Environments:
    def __init__(self, root: Path, rules: EnvironmentRules) -> None:
        self._root = root
        self._rules = rules

    async def python(self, requirements: Requirements, tell: Tell = nothing) -> Path:
        """The interpreter that has them. Nothing is asked of anybody when the environment is there already."""
        if not requirements.lines:
            return Path(sys.executable)
        folder = self._root / key(requirements)
        if not _usable(folder):
            await self._make(folder, requirements, tell)
        return folder / "bin" / "python"

    def has(self, requirements: Requirements) -> bool:
        return not requirements.lines or _usable(self._root / key(requirements))

    def sweep(self, needed: set[str]) -> None:
        """Deletes environments that nobody asked for in a while, and what a build that was cut off left."""
        for path in self._root.glob("*"):
            with contextlib.suppress(FileNotFoundError):
                if path.name.startswith(_STAGING):
                    self._sweep_staging(path)
                    continue
                marker = path / MARKER
                dated = marker if marker.exists() else path
                if path.stem in needed or time.time() - dated.stat().st_mtime < UNUSED_SECONDS:
                    continue
                logger.info("the environment %s is not needed any more", path.name)
                if path.is_dir():
                    marker.unlink(missing_ok=True)  # first, so that nobody takes what is left of it for whole
                    shutil.rmtree(path)
                else:
                    path.unlink()

    def _sweep_staging(self, staging: Path) -> None:
        """Whoever builds holds the environment's lock, and no process does so after its end."""
        name = staging.name.removeprefix(_STAGING).partition("-")[0]
        descriptor = os.open(self._root / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if _taken(descriptor):
                shutil.rmtree(staging, ignore_errors=True)
        finally:
            os.close(descriptor)

    async def _make(self, folder: Path, requirements: Requirements, tell: Tell) -> None:
        try:
            program = find(self._rules.uv)
            async with asyncio.timeout(self._rules.seconds), self._building(folder):
                if not _usable(folder):  # else another has made it meanwhile
                    await self._build(program, folder, requirements, tell)
        except UvMissing as error:
            raise EnvironmentFailed(str(error)) from error
        except TimeoutError:
            raise EnvironmentFailed(
                f"its environment was not built within {self._rules.seconds:g} s; "
                "the setting plugins.environment_seconds gives it more time"
            ) from None

    @contextlib.asynccontextmanager
    async def _building(self, folder: Path) -> AsyncIterator[None]:
        """One at a time builds the same environment, in whatever process it is."""
        self._root.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            while not _taken(descriptor):  # noqa: ASYNC110 - another process tells of nothing: it has to be asked
                await asyncio.sleep(POLL_SECONDS)
            yield
        finally:
            os.close(descriptor)

    async def _build(self, program: Path, folder: Path, requirements: Requirements, tell: Tell) -> None:
        """Beside its place, which it takes when it is whole."""
        staging = Path(tempfile.mkdtemp(prefix=f"{_STAGING}{folder.name}-", dir=self._root))
        try:
            fresh = staging / "environment"
            listed = staging / "requirements.txt"
            await asyncio.to_thread(listed.write_text, "\n".join(requirements.lines) + "\n", encoding="utf-8")
            sdk = await asyncio.to_thread(sdk_wheel.write, staging)
            empty = ["venv", "--relocatable", "--python", sys.executable, str(fresh)]
            await self._ask(program, empty, requirements, tell)
            binary = [] if self._rules.allow_building else ["--only-binary", ":all:"]
            install = ["pip", "install", "--python", str(fresh / "bin" / "python"), "--compile-bytecode", *binary]
            await self._ask(program, [*install, "--requirement", str(listed), str(sdk)], requirements, tell)
            await asyncio.to_thread(_finish, fresh, folder, requirements)
        except OSError as error:
            if isinstance(error, EnvironmentFailed):
                raise
            if error.errno in FULL:
                raise EnvironmentFull from error
            raise EnvironmentFailed(f"its environment can't be written: {error.strerror or error}") from error
        finally:
            await asyncio.to_thread(shutil.rmtree, staging, ignore_errors=True)

    async def _ask(self, program: Path, arguments: list[str], requirements: Requirements, tell: Tell) -> None:
        finished = await uv(program, arguments, tell)
        if finished.status != 0:
            gone = re.escape(f"{self._root}/{_STAGING}") + r"[^/\s]*/"
            words = re.sub(gone, "", reason(finished.lines))
            if any(f"(os error {number})" in words for number in FULL):
                raise EnvironmentFull
            raise EnvironmentFailed(self._explain(words, requirements))

    def _explain(self, words: str, requirements: Requirements) -> str:
        named = requirements.named_in(words)
        what = f"its requirement '{named}'" if named else f"its requirements ({', '.join(requirements.lines)[:200]})"
        advice = ""
        if not self._rules.allow_building and ("wheel" in words or "build" in words):
            advice = " (building from source, which runs the package's code, is off; plugins.allow_building allows it)"
        return f"{what} can't be installed: {words}{advice}"


def key(requirements: Requirements) -> str:
    """By content: the same packages for the same Python and SDK are the same environment."""
    python = [sys.implementation.cache_tag, platform.python_version(), platform.machine(), sys.base_prefix]
    content = json.dumps([requirements.lines, python, sdk_wheel.digest()])
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def _usable(folder: Path) -> bool:
    """Whole, and its interpreter, which is only a link, is still there. Who asks is about to use it."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        os.utime(folder / MARKER)
        return (folder / "bin" / "python").exists()
    return False


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _finish(fresh: Path, folder: Path, requirements: Requirements) -> None:
    marker = {"requirements": requirements.lines, "python": platform.python_version(), "sdk": sdk_wheel.digest()}
    with (fresh / MARKER).open("w", encoding="utf-8") as opened:
        json.dump(marker, opened, indent=1)
        opened.flush()
        os.fsync(opened.fileno())
    if folder.exists():  # its interpreter went away
        os.rename(folder, fresh.with_name("old"))
    os.rename(fresh, folder)
