"""Installs a plugin, with or without a running Host: stages, checks, builds the environment, records.

Starts nothing.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from parlour.core.model.plugin_manager import PluginProblem
from parlour.core.model.ports import Clock
from parlour_sdk.plugin import PluginInvalid

from . import disk_errors
from .environments.build_tracker import Builds
from .environments.environment import EnvironmentFailed, EnvironmentFull
from .install_hints import advised
from .packages.sources import Package, PackageRules, stage
from .packages.subprocesses import Tell, nothing
from .records import Failure, Record, Version
from .store import Installed, PluginFolder


class Installer:
    """Installs plugins.

    Its only error is PluginError; nothing was changed then, except that the reason may be recorded.
    """

    def __init__(self, folder: PluginFolder, builds: Builds, rules: PackageRules, clock: Clock) -> None:
        self._folder = folder
        self._builds = builds
        self._rules = rules
        self._clock = clock

    @contextlib.asynccontextmanager
    async def package(self, source: str, shown: str | None = None) -> AsyncIterator[Package]:
        """Yields the checked plugin in a staging folder. `shown` is the source's name for people.

        The staging folder is deleted at the end of the block.
        """
        try:
            async with _aside(self._folder.staging()) as staging:
                yield await stage(source, shown, staging, self._rules)
        except EnvironmentFailed as error:
            code = "storage_full" if isinstance(error, EnvironmentFull) else "environment_failed"
            raise PluginProblem(code, f"{error}; nothing was changed") from error
        except PluginInvalid as error:
            raise PluginProblem(error.code, str(error).replace(source, shown or source)) from error
        except OSError as error:
            raise disk_errors.problem(error, "the plugin could not be copied", "nothing was changed") from error

    def before(self, package: Package, upgrade: str | None) -> Record | None:
        """Returns the record that the package would replace. Raises PluginError if it must not replace that one."""
        record = self._folder.record(package.plugin_id)
        if upgrade is not None and upgrade != package.plugin_id:
            raise PluginProblem(
                "identity_mismatch",
                f"this is {package.plugin_id} and can't replace {upgrade}; nothing was changed; "
                "install it without naming an upgrade to have both",
            )
        if upgrade is not None and record is None and upgrade not in self._folder.unusable():
            raise PluginProblem("not_found", f"{upgrade} is not installed; install it without naming it as an upgrade")
        if record is None or record.removing:
            return None
        another = next((version for version in record.versions() if _another(version, package)), None)
        if upgrade is None and another is not None:
            raise PluginProblem(
                "identity_taken",
                f"{package.plugin_id} {package.version} is installed already, from {another.source}, with other "
                f"content; nothing was changed; raise this one's version, or name the upgrade of {package.plugin_id} "
                "to replace it",
            )
        return record

    async def build(self, package: Package, tell: Tell = nothing) -> None:
        """Builds the environment. This happens first, so that the old version serves until the new one can start."""
        try:
            await self._builds.python(package.plugin_id, package.requirements, tell)
        except EnvironmentFailed as error:
            reason = advised(error, self._builds.lines(package.plugin_id))
            with contextlib.suppress(OSError):  # no room to record it; the caller gets the error anyway
                await asyncio.to_thread(self._folder.refuse, package.plugin_id, self._failure(package, reason))
            raise type(error)(reason) from error

    def _failure(self, package: Package, reason: str) -> Failure:
        return Failure(
            version=package.version,
            source=package.source,
            sha256=package.sha256,
            reason=reason,
            at=self._clock.now(),
        )

    async def add(self, package: Package, granted: Mapping[str, list[str]]) -> Installed:
        version = Version(
            version=package.version,
            folder="",
            source=package.source,
            sha256=package.sha256,
            installed_at=self._clock.now(),
            granted=dict(granted),
        )
        added = await asyncio.to_thread(self._folder.add, package.plugin_id, package.plugin.folder, version)
        return self._folder.version(package.plugin_id, added)


@contextlib.asynccontextmanager
async def _aside(staging: AbstractContextManager[Path]) -> AsyncIterator[Path]:
    """Uses the staging folder in threads: deleting thousands of files would block the event loop."""
    folder = await asyncio.to_thread(staging.__enter__)
    try:
        yield folder
    finally:
        await asyncio.to_thread(staging.__exit__, None, None, None)


def _another(installed: Version, package: Package) -> bool:
    """Returns whether an installed version has the package's version number but other content.

    Then two plugins claim the same identity. Packages from the same location are one plugin, which its author is
    changing.
    """
    place = _place(package.source)
    elsewhere = not place or place != _place(installed.source)
    return elsewhere and installed.version == package.version and installed.sha256 != package.sha256


def _place(source: str) -> str:
    """Returns the location of a source: a path, or a git address without its revision.

    Empty for an upload, since many files are called plugin.zip.
    """
    if not source.startswith("git+"):
        return source if source.startswith("/") else ""
    place, _, name = source.rpartition("/")
    return f"{place}/{name.partition('@')[0]}"
