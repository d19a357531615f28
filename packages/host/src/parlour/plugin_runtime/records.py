"""The record of an installed plugin: one small file beside its code, replaced as a whole."""

import os
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

RemovalMode = Literal["keep", "delete"]


class _RecordModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class Version(_RecordModel):
    """One version of a plugin as it was installed."""

    version: str
    folder: str
    """Name of the folder with its code, beside the record."""
    source: str
    sha256: str
    installed_at: int
    granted: dict[str, list[str]] = {}


class RejectedVersion(_RecordModel):
    """A version that could not be installed or started, so that the one before it stayed in place."""

    version: str
    folder: str
    """Name of the folder with its code; empty if the version was not even installed."""
    reason: str
    at: int

    def __str__(self) -> str:
        return f"{self.version} could not be {'started' if self.folder else 'installed'}: {self.reason}"


class InstallFailure(_RecordModel):
    """Why no version of a plugin could ever be installed. None of its code is kept."""

    version: str
    source: str
    sha256: str
    reason: str
    at: int


class PluginRecord(_RecordModel):
    """The versions of one plugin, and whether it is enabled or being removed."""

    current: Version
    candidate: Version | None = None
    """Installed over the current version and not started successfully yet; it becomes the current one as soon as a Host
    has started it."""
    refused: RejectedVersion | None = None
    enabled: bool = True
    removing: RemovalMode | None = None
    """Set if the plugin was removed but its process has not ended yet; says whether its data is kept or deleted. A
    candidate is started only after that."""

    def with_version(self, version: Version) -> "PluginRecord":
        """Returns a record with this version as the candidate.

        The current version stays until the candidate has started, even if the plugin is disabled, because it is known
        to work.
        """
        return self.model_copy(update={"candidate": version, "refused": None})

    def with_promoted(self, version: Version) -> "PluginRecord":
        """Returns a record with this version, which has started, as the current one.

        If another version has become the candidate by now, that one stays the candidate.
        """
        if self.candidate is None:
            return self
        if self.candidate.folder != version.folder:
            return self.model_copy(update={"current": version})
        return self.model_copy(update={"current": self.candidate, "candidate": None})

    def with_rejected(self, version: Version, reason: str, now: int) -> "PluginRecord":
        """Returns a record that says why this version was rejected."""
        if self.candidate is None:
            return self
        refusal = RejectedVersion(version=version.version, folder=version.folder, reason=reason, at=now)
        candidate = None if self.candidate.folder == version.folder else self.candidate
        return self.model_copy(update={"candidate": candidate, "refused": refusal})

    def after_removal(self) -> "PluginRecord | None":
        """Returns the record after the removal: that of a version installed in its place by now, or None."""
        return PluginRecord(current=self.candidate) if self.candidate else None

    def with_permissions(self, granted: dict[str, list[str]]) -> "PluginRecord":
        """Returns a record in which all versions have these permissions.

        A candidate gets only those that it asks for itself.
        """
        versions = {"current": self.current, "candidate": self.candidate}
        changed = {name: each.model_copy(update={"granted": granted}) for name, each in versions.items() if each}
        return self.model_copy(update=changed)

    def versions(self) -> list[Version]:
        return [self.current] if self.candidate is None else [self.current, self.candidate]


UNKNOWN_VERSION = Version(version="", folder="", source="", sha256="", installed_at=0)
"""Version of a plugin of which nothing is known but that it is to be removed."""


class RecordUnreadable(Exception):
    """Raised when a plugin's record is damaged."""

    code = "record_unreadable"


def read_failure(file: Path) -> InstallFailure | None:
    """Returns the recorded failure. A damaged one counts as none, since no installed plugin depends on it."""
    try:
        return InstallFailure.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None


def read(file: Path) -> PluginRecord | None:
    """Returns the record, or None if there is none. Raises RecordUnreadable if it is damaged."""
    try:
        return PluginRecord.model_validate_json(file.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValidationError as error:
        raise RecordUnreadable(
            f"its record ({file.name}) is damaged; install the plugin again, or remove it"
        ) from error


def write(file: Path, record: PluginRecord | InstallFailure) -> None:
    """Writes the record completely or not at all, even if the power fails."""
    temporary = file.with_suffix(".new")
    with temporary.open("w", encoding="utf-8") as output:
        output.write(record.model_dump_json(indent=1))
        output.flush()
        os.fsync(output.fileno())
    temporary.replace(file)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
