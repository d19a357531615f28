"""Installs a plugin, with or without a running Host: stages, checks, builds the environment, records.

Starts nothing.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from parlour.core.model.plugin_manager import PluginError
from parlour.core.model.ports import Clock
from parlour.isolation.subprocesses import OnLine, ignore_line
from parlour_sdk.plugin import PluginInvalid

from . import disk_errors
from .environments.build_tracker import BuildTracker
from .environments.environment import EnvironmentFailed, EnvironmentFull
from .install_hints import with_hint
from .packages.sources import Package, PackageRules, stage
from .records import InstallFailure, PluginRecord, Version
from .store import InstalledVersion, PluginStore


class Installer:
    """Installs plugins.

    Its only error is PluginError; nothing was changed then, except that the reason may be recorded.
    """

    def __init__(self, folder: PluginStore, builds: BuildTracker, rules: PackageRules, clock: Clock) -> None:
        self._folder = folder
        self._builds = builds
        self._rules = rules
        self._clock = clock

    @contextlib.asynccontextmanager
    async def package(self, source: str, display_name: str | None = None) -> AsyncIterator[Package]:
        """Yields the checked plugin in a staging folder. `display_name` is the source's name for people.

        The staging folder is deleted at the end of the block.
        """
        try:
            async with _in_thread(self._folder.staging()) as staging:
                yield await stage(source, display_name, staging, self._rules)
        except EnvironmentFailed as error:
            code = "storage_full" if isinstance(error, EnvironmentFull) else "environment_failed"
            raise PluginError(code, f"{error}; nothing was changed") from error
        except PluginInvalid as error:
            raise PluginError(error.code, str(error).replace(source, display_name or source)) from error
        except OSError as error:
            raise disk_errors.disk_error(error, "the plugin could not be copied", "nothing was changed") from error

    def installed_record(self, package: Package, upgrade: str | None) -> PluginRecord | None:
        """Returns the record that the package would replace. Raises PluginError if it must not replace that one."""
        record = self._folder.record(package.plugin_id)
        if upgrade is not None and upgrade != package.plugin_id:
            raise PluginError(
                "identity_mismatch",
                f"this is {package.plugin_id} and can't replace {upgrade}; nothing was changed; "
                "install it without naming an upgrade to have both",
            )
        if upgrade is not None and record is None and upgrade not in self._folder.unusable():
            raise PluginError("not_found", f"{upgrade} is not installed; install it without naming it as an upgrade")
        if record is None or record.removing:
            return None
        conflict = next((version for version in record.versions() if _is_conflicting(version, package)), None)
        if upgrade is None and conflict is not None:
            raise PluginError(
                "identity_taken",
                f"{package.plugin_id} {package.version} is installed already, from {conflict.source}, with other "
                f"content; nothing was changed; raise this one's version, or name the upgrade of {package.plugin_id} "
                "to replace it",
            )
        return record

    async def build(self, package: Package, on_line: OnLine = ignore_line) -> None:
        """Builds the environment. This happens first, so that the old version serves until the new one can start."""
        try:
            await self._builds.ensure_environment(package.plugin_id, package.requirements, on_line)
        except EnvironmentFailed as error:
            reason = with_hint(error, self._builds.lines(package.plugin_id))
            with contextlib.suppress(OSError):  # no room to record it; the caller gets the error anyway
                await asyncio.to_thread(self._folder.record_failure, package.plugin_id, self._failure(package, reason))
            raise type(error)(reason) from error

    def _failure(self, package: Package, reason: str) -> InstallFailure:
        return InstallFailure(
            version=package.version,
            source=package.source,
            sha256=package.sha256,
            reason=reason,
            at=self._clock.now(),
        )

    async def add(self, package: Package, granted: Mapping[str, list[str]]) -> InstalledVersion:
        version = Version(
            version=package.version,
            folder="",
            source=package.source,
            sha256=package.sha256,
            installed_at=self._clock.now(),
            granted=dict(granted),
        )
        added = await asyncio.to_thread(self._folder.add, package.plugin_id, package.plugin.folder, version)
        return self._folder.installed_version(package.plugin_id, added)


@contextlib.asynccontextmanager
async def _in_thread(staging: AbstractContextManager[Path]) -> AsyncIterator[Path]:
    """Uses the staging folder in threads: deleting thousands of files would block the event loop."""
    folder = await asyncio.to_thread(staging.__enter__)
    try:
        yield folder
    finally:
        await asyncio.to_thread(staging.__exit__, None, None, None)


def _is_conflicting(installed: Version, package: Package) -> bool:
    """Returns whether an installed version has the package's version number but other content.

    Then two plugins claim the same identity. Packages from the same location are one plugin, which its author is
    changing.
    """
    location = _source_location(package.source)
    elsewhere = not location or location != _source_location(installed.source)
    return elsewhere and installed.version == package.version and installed.sha256 != package.sha256


def _source_location(source: str) -> str:
    """Returns the location of a source: a path, or a git address without its revision.

    Empty for an upload, since many files are called plugin.zip.
    """
    if not source.startswith("git+"):
        return source if source.startswith("/") else ""
    location, _, name = source.rpartition("/")
    return f"{location}/{name.partition('@')[0]}"
