"""A skill: instructions with files that agents activate when they fit."""

from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any, Literal

from parlour.core.encoding import dumps, loads
from parlour_sdk.values import dataclass

from .ids import ArtifactId, SkillName

SkillSourceKind = Literal["page", "agent", "folder", "zip", "git"]


@dataclass(frozen=True, slots=True)
class SkillSource:
    """Where a skill comes from."""

    kind: SkillSourceKind
    address: str = ""
    """Folder, file name or git address. It has no password."""
    subfolder: str = ""


@dataclass(frozen=True, slots=True)
class SkillFile:
    """A file of a skill, by its path in the package."""

    path: str
    size_bytes: int
    sha256: str
    executable: bool = False


@dataclass(frozen=True, slots=True)
class Skill:
    """An installed skill. Its files are in the archive that `artifact_id` names."""

    name: SkillName
    description: str
    instructions: str
    """The text of SKILL.md without its front matter."""
    files: tuple[SkillFile, ...]
    sha256: str
    """Digest of the paths and contents of all files."""
    artifact_id: ArtifactId
    source: SkillSource
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the front matter: license, compatibility, metadata, allowed-tools."""
    installed_by: str = ""
    enabled: bool = True
    updated_at: int = 0

    @property
    def version(self) -> str:
        """The version that the front matter names in `metadata`; empty if it names none."""
        inner = self.metadata.get("metadata")
        return str(inner.get("version", "")) if isinstance(inner, dict) else ""

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)

    def encode(self) -> str:
        return dumps(asdict(self))

    @classmethod
    def decode(cls, text: str) -> "Skill":
        fields = loads(text)
        files = tuple(SkillFile(**each) for each in fields.pop("files"))
        return cls(**{**fields, "files": files, "source": SkillSource(**fields["source"])})
