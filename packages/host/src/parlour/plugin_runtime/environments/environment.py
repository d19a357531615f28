"""Environments of plugins that require packages: built by uv, identified by content, shared, never used half built."""

import asyncio
import contextlib
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
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from parlour.file_locks import try_lock_file
from parlour.isolation.subprocesses import OnLine, ignore_line
from parlour_sdk.values import dataclass

from ..disk_errors import NO_SPACE_ERRNOS
from ..packages.requirements import Requirements
from ..process.sandbox import SandboxMode, choose_launcher
from ..process.sandboxed_launcher import BubblewrapLauncher
from . import index_settings, sdk_wheel
from .installer import InstallerUnusable, PackageInstaller, PlainInstaller, base_python, open_sandboxed_installer
from .uv import UvMissing, failure_reason, find_uv

logger = logging.getLogger(__name__)

MARKER = "parlour-environment.json"
UNUSED_ENVIRONMENT_SECONDS = 3600.0
"""Seconds for which an environment that no plugin needs is kept, since one that needs it may be about to be
installed."""
POLL_SECONDS = 0.05
UNUSED_CACHE_SECONDS = 30 * 24 * 3600.0
"""Seconds for which downloaded packages are kept after the last build."""
WITHOUT_SANDBOX = "there is no sandbox to install packages in"
_STAGING = ".building-"
_CACHE = ".cache"


@dataclass(frozen=True, slots=True)
class EnvironmentRules:
    uv: Path | None = None
    seconds: float = 600.0
    allow_building: bool = False
    sandbox: SandboxMode = "auto"
    bubblewrap: Path | None = None
    hidden: tuple[Path, ...] = ()
    """Folders of which the installer sees nothing but its own."""
    index_hosts: tuple[str, ...] = ()
    """Hosts that the installer may reach besides the indexes that uv is configured with."""


class EnvironmentFailed(OSError):
    """Raised when a plugin's environment can't be built.

    It is an OSError, as are other reasons why a plugin can't start.
    """


class EnvironmentFull(EnvironmentFailed):
    """Raised when there is no room for a plugin's environment."""

    def __init__(self, message: str = "") -> None:
        super().__init__(
            message
            or "its environment can't be written: No space left on device; make room on the disk of the data "
            "directory and try again"
        )


class Environments:
    """Builds, finds and deletes environments."""

    def __init__(self, root: Path, rules: EnvironmentRules) -> None:
        self._root = root
        self._rules = rules

    async def ensure_environment(self, requirements: Requirements, on_line: OnLine = ignore_line) -> Path:
        """Returns the interpreter that has the requirements. No program is run if the environment exists already."""
        if not requirements.lines:
            return Path(sys.executable)
        folder = self._root / environment_key(requirements)
        if not _is_usable(folder):
            await self._ensure_built(folder, requirements, on_line)
        return folder / "bin" / "python"

    def is_built(self, requirements: Requirements) -> bool:
        return not requirements.lines or _is_usable(self._root / environment_key(requirements))

    def delete_unused(self, needed: set[str]) -> None:
        """Deletes environments that were not used for a while, and the remains of interrupted builds."""
        for path in self._root.glob("*"):
            with contextlib.suppress(FileNotFoundError):
                if path.name.startswith(_STAGING):
                    self._sweep_staging(path)
                    continue
                if path.name == _CACHE:
                    self._sweep_cache(path)
                    continue
                if path.stem not in needed and _is_old(path):
                    self._sweep_environment(path)

    def _sweep_environment(self, path: Path) -> None:
        """Deletes an old environment or lock file, unless a build of the environment is active."""
        lock = self._root / f"{path.stem}.lock"
        with _locked_now(lock) as is_locked:
            if not is_locked or not (path == lock or _is_old(path)):
                return
            logger.info("deleting the unused environment %s", path.name)
            if path.is_dir():
                (path / MARKER).unlink(missing_ok=True)  # first, so that a half deleted environment is not used
                shutil.rmtree(path)
            elif path != lock:
                path.unlink()
            lock.unlink(missing_ok=True)

    def _sweep_staging(self, staging: Path) -> None:
        """Deletes a staging folder unless it is in use: a build holds its environment's lock until it exits."""
        name = staging.name.removeprefix(_STAGING).partition("-")[0]
        with _locked_now(self._root / f"{name}.lock") as is_locked:
            if is_locked:
                shutil.rmtree(staging, ignore_errors=True)

    def _sweep_cache(self, cache: Path) -> None:
        if time.time() - cache.stat().st_mtime > UNUSED_CACHE_SECONDS:
            shutil.rmtree(cache, ignore_errors=True)

    async def _ensure_built(self, folder: Path, requirements: Requirements, on_line: OnLine) -> None:
        try:
            program = find_uv(self._rules.uv)
            async with asyncio.timeout(self._rules.seconds), self._build_lock(folder):
                if not _is_usable(folder):  # otherwise another process has built it
                    await self._build(program, folder, requirements, on_line)
        except UvMissing as error:
            raise EnvironmentFailed(str(error)) from error
        except TimeoutError:
            raise EnvironmentFailed(
                f"its environment was not built within {self._rules.seconds:g} s; "
                "the setting plugins.environment_seconds gives it more time"
            ) from None

    @contextlib.asynccontextmanager
    async def _build_lock(self, folder: Path) -> AsyncIterator[None]:
        """Holds the lock of an environment, so that one process at a time builds it."""
        self._root.mkdir(parents=True, exist_ok=True)
        while True:
            with _locked_now(folder.with_suffix(".lock")) as is_locked:
                if is_locked:
                    yield
                    return
            await asyncio.sleep(POLL_SECONDS)  # the lock of another process can only be polled

    async def _build(self, program: Path, folder: Path, requirements: Requirements, on_line: OnLine) -> None:
        """Builds the environment in a staging folder and moves it to its place when it is complete."""
        staging = Path(tempfile.mkdtemp(prefix=f"{_STAGING}{folder.name}-", dir=self._root))
        try:
            fresh = staging / "environment"
            listed = staging / "requirements.txt"
            await asyncio.to_thread(listed.write_text, "\n".join(requirements.lines) + "\n", encoding="utf-8")
            sdk = await asyncio.to_thread(sdk_wheel.write, staging)
            async with self._installer(program, staging, on_line) as installer:
                self._require_wheels(installer)
                empty = ["venv", "--relocatable", "--python", str(base_python()), str(fresh)]
                await self._run_installer(installer, empty, requirements, on_line)
                binary = [] if installer.builds_sources else ["--only-binary", ":all:"]
                # Compiling would start the new environment's Python, which runs the `.pth` files of its packages.
                install = ["pip", "install", "--python", str(fresh / "bin" / "python"), "--no-compile", *binary]
                await self._run_installer(
                    installer, [*install, "--requirement", str(listed), str(sdk)], requirements, on_line
                )
                await installer.compile(fresh, folder, on_line)
            await asyncio.to_thread(_finish, fresh, folder, requirements)
        except OSError as error:
            if isinstance(error, EnvironmentFailed):
                raise
            if error.errno in NO_SPACE_ERRNOS:
                raise EnvironmentFull from error
            raise EnvironmentFailed(f"its environment can't be written: {error.strerror or error}") from error
        finally:
            await asyncio.to_thread(shutil.rmtree, staging, ignore_errors=True)

    @contextlib.asynccontextmanager
    async def _installer(self, program: Path, staging: Path, on_line: OnLine) -> AsyncIterator[PackageInstaller]:
        rules = self._rules
        hidden = [folder for folder in rules.hidden if folder.exists()]
        launcher, state = await choose_launcher(rules.sandbox, rules.bubblewrap, hidden)
        # A package's build can write to the cache, so it gets one that is thrown away.
        thrown_away = rules.allow_building or os.environ.get("UV_NO_CACHE")
        cache = staging / "cache" if thrown_away else self._root / _CACHE
        await asyncio.to_thread(cache.mkdir, 0o700, exist_ok=True)
        if isinstance(launcher, BubblewrapLauncher):
            try:
                building = open_sandboxed_installer(
                    launcher, program, staging, cache, rules.index_hosts, rules.allow_building, on_line
                )
                async with building as installer:
                    yield installer
            except InstallerUnusable as error:
                raise EnvironmentFailed(str(error)) from error
        elif state.required:
            raise EnvironmentFailed(
                f"packages are to be installed in a sandbox only, and {state.reason}; {state.remedy}"
            )
        else:
            on_line(f"{WITHOUT_SANDBOX} ({state.reason}): only wheels are installed, and nothing is compiled")
            yield PlainInstaller(program, cache)
        with contextlib.suppress(OSError):
            os.utime(cache)

    def _require_wheels(self, installer: PackageInstaller) -> None:
        """Raises EnvironmentFailed if uv's configuration would build from source although building is off."""
        forced = "" if installer.builds_sources else index_settings.forced_build(os.environ)
        if forced:
            raise EnvironmentFailed(
                f"{forced} makes uv build packages from source, which runs their code, and that is off "
                f"({self._why_not_built()}); remove it there"
            )

    def _why_not_built(self) -> str:
        if self._rules.allow_building:
            return "there is no sandbox to do it in"
        return "plugins.allow_building allows it"

    async def _run_installer(
        self, installer: PackageInstaller, arguments: list[str], requirements: Requirements, on_line: OnLine
    ) -> None:
        finished = await installer.run(arguments, on_line)
        if finished.status != 0:
            staging_path = re.escape(f"{self._root}/{_STAGING}") + r"[^/\s]*/"
            reason = re.sub(staging_path, "", failure_reason(finished.lines))
            if any(f"(os error {number})" in reason for number in NO_SPACE_ERRNOS):
                raise EnvironmentFull
            raise EnvironmentFailed(self._explain(reason, requirements, installer))

    def _explain(self, reason: str, requirements: Requirements, installer: PackageInstaller) -> str:
        named = requirements.find_in(reason)
        what = f"its requirement '{named}'" if named else f"its requirements ({', '.join(requirements.lines)[:200]})"
        advice = ""
        if not installer.builds_sources and ("wheel" in reason or "build" in reason):
            advice = f" (building from source, which runs the package's code, is off; {self._why_not_built()})"
        return "; ".join(filter(None, (f"{what} can't be installed: {reason}{advice}", installer.advice())))


def environment_key(requirements: Requirements) -> str:
    """Returns the name of an environment, from its content: the same packages for the same Python and SDK share one."""
    python = [sys.implementation.cache_tag, platform.python_version(), platform.machine(), sys.base_prefix]
    content = json.dumps([requirements.lines, python, sdk_wheel.digest()])
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def _is_usable(folder: Path) -> bool:
    """Returns whether it is complete and its interpreter, which is only a link, still exists. Marks it as used."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        os.utime(folder / MARKER)
        return (folder / "bin" / "python").exists()
    return False


def _is_old(path: Path) -> bool:
    """Returns whether an environment or lock file was not used for a while."""
    marker = path / MARKER
    dated = marker if marker.exists() else path
    return time.time() - dated.stat().st_mtime >= UNUSED_ENVIRONMENT_SECONDS


@contextlib.contextmanager
def _locked_now(file: Path) -> Iterator[bool]:
    """Locks the file for the block if no other process has it locked. Yields whether it did."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield _try_lock(descriptor, file)
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int, file: Path) -> bool:
    """Locks an open file. Returns False if another process has it locked, or has deleted it since it was opened."""
    try:
        return try_lock_file(descriptor) and os.path.samestat(os.fstat(descriptor), os.stat(file))
    except FileNotFoundError:
        return False


def _finish(fresh: Path, folder: Path, requirements: Requirements) -> None:
    """Marks the environment as complete and moves it to its place. A package's links are not followed."""
    marker = {"requirements": requirements.lines, "python": platform.python_version(), "sdk": sdk_wheel.digest()}
    directory = os.open(fresh, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(MARKER, dir_fd=directory)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(MARKER, flags, 0o600, dir_fd=directory), "w", encoding="utf-8") as opened:
            json.dump(marker, opened, indent=1)
            opened.flush()
            os.fsync(opened.fileno())
    finally:
        os.close(directory)
    if folder.exists():  # its interpreter is gone
        os.rename(folder, fresh.with_name("old"))
    os.rename(fresh, folder)
