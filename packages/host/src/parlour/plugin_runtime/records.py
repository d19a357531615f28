"""What is known of an installed plugin: one small file beside its code, replaced as a whole."""

import os
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

Wish = Literal["keep", "delete"]


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class Version(_Kept):
    """One version of a plugin as it was installed."""

    version: str
    folder: str
    """The name of the folder with its code, beside the record."""
    source: str
    sha256: str
    installed_at: int
    granted: dict[str, list[str]] = {}


class Refusal(_Kept):
    """A version that could not be installed or started, so that the one before it stayed."""

    version: str
    folder: str
    """Empty when it was not even installed."""
    reason: str
    at: int

    def __str__(self) -> str:
        return f"{self.version} could not be {'started' if self.folder else 'installed'}: {self.reason}"


class Failure(_Kept):
    """A plugin of which no version was ever installed: none of its code is kept, only why."""

    version: str
    source: str
    sha256: str
    reason: str
    at: int


class Record(_Kept):
    current: Version
    candidate: Version | None = None
    """Installed over the current one, and not proven yet: it takes its place as soon as a Host has started it."""
    refused: Refusal | None = None
    enabled: bool = True
    removing: Wish | None = None
    """Removed, and its process not ended yet; what is to become of its data. A candidate comes after that."""

    def with_version(self, version: Version) -> "Record":
        """Also of a disabled plugin the version before stays until this one has started: it has proved itself."""
        return self.model_copy(update={"candidate": version, "refused": None})

    def promoting(self, version: Version) -> "Record":
        """It has started, and so it is what there is, even if another has become the candidate meanwhile."""
        if self.candidate is None:
            return self
        if self.candidate.folder != version.folder:
            return self.model_copy(update={"current": version})
        return self.model_copy(update={"current": self.candidate, "candidate": None})

    def refusing(self, version: Version, reason: str, now: int) -> "Record":
        if self.candidate is None:
            return self
        refusal = Refusal(version=version.version, folder=version.folder, reason=reason, at=now)
        candidate = None if self.candidate.folder == version.folder else self.candidate
        return self.model_copy(update={"candidate": candidate, "refused": refusal})

    def removed(self) -> "Record | None":
        """What is left when it is gone: what was installed in its place meanwhile."""
        return Record(current=self.candidate) if self.candidate else None

    def granting(self, granted: dict[str, list[str]]) -> "Record":
        """A candidate gets of it what it asks for itself."""
        versions = {"current": self.current, "candidate": self.candidate}
        given = {name: each.model_copy(update={"granted": granted}) for name, each in versions.items() if each}
        return self.model_copy(update=given)

    def versions(self) -> list[Version]:
        return [self.current] if self.candidate is None else [self.current, self.candidate]


NO_VERSION = Version(version="", folder="", source="", sha256="", installed_at=0)
"""Of a plugin of which nothing is known but that it is to go."""


class RecordUnreadable(Exception):
    """A plugin's record is damaged."""

    code = "record_unreadable"


def read_failure(file: Path) -> Failure | None:
    """A damaged one is none: it is about nothing that was there."""
    try:
        return Failure.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None


def read(file: Path) -> Record | None:
    try:
        return Record.model_validate_json(file.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValidationError as error:
        raise RecordUnreadable(
            f"its record ({file.name}) is damaged; install the plugin again, or remove it"
        ) from error


def write(file: Path, record: Record | Failure) -> None:
    """There wholly or not at all, also after a power failure."""
    fresh = file.with_suffix(".new")
    with fresh.open("w", encoding="utf-8") as opened:
        opened.write(record.model_dump_json(indent=1))
        opened.flush()
        os.fsync(opened.fileno())
    fresh.replace(file)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
