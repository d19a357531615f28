"""Request bodies and responses of skills."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from parlour.core.skills.document import NAME_PATTERN
from parlour.core.skills.limits import MAX_DESCRIPTION_CHARACTERS, MAX_INSTRUCTION_BYTES, MAX_NAME_CHARACTERS

from ..responses import TimestampMs
from ..validation_errors import register_pattern

NAME = register_pattern(NAME_PATTERN, "use a-z, 0-9 and single hyphens, such as weekly-report")


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SkillChangeBody(_Body):
    """What can be changed of a skill. Its name can't: copy the skill instead."""

    description: str = Field(min_length=1, max_length=MAX_DESCRIPTION_CHARACTERS)
    instructions: str = Field(default="", max_length=MAX_INSTRUCTION_BYTES)
    enabled: bool = True


class NewSkillBody(_Body):
    name: str = Field(pattern=NAME, max_length=MAX_NAME_CHARACTERS)
    description: str = Field(min_length=1, max_length=MAX_DESCRIPTION_CHARACTERS)
    instructions: str = Field(default="", max_length=MAX_INSTRUCTION_BYTES)


class SkillFileBody(_Body):
    text: str = Field(max_length=1024 * 1024)


class SkillSourceBody(_Body):
    """Where skills are read from: a folder of the Host's machine, or a git address."""

    source: str = Field(default="", max_length=4096)
    source_subdir: str = Field(default="", max_length=500)
    target_suffix: str = Field(default="", max_length=30)


class InstallSkillsBody(SkillSourceBody):
    source_paths: list[str] | None = Field(default=None, max_length=1000)
    """`source_path` of the candidates to install; all of them if it is left out."""
    replace: bool = False
    """Replaces installed skills of the same names."""


class SkillSourceResponse(TypedDict):
    kind: Literal["page", "agent", "folder", "zip", "git"]
    address: str | None
    subfolder: str | None


class SkillResponse(TypedDict):
    name: str
    description: str
    version: str | None
    enabled: bool
    source: SkillSourceResponse
    sha256: str
    files: int
    size_bytes: int
    installed_by: str | None
    updated_at: TimestampMs


class SkillFileEntry(TypedDict):
    path: str
    size_bytes: int
    sha256: str
    executable: bool


class SkillDetailResponse(SkillResponse):
    instructions: str
    metadata: dict[str, Any]
    entries: list[SkillFileEntry]


class SkillFileResponse(SkillFileEntry):
    text: str | None
    """The content; none if it is not text, or larger than 1 MiB."""


class SkillCandidateResponse(TypedDict):
    source_path: str
    """Folder in the source; empty for its top."""
    name: str
    """Name that the skill would have."""
    description: str | None
    files: int
    size_bytes: int
    sha256: str | None
    conflicts: bool
    """True if a skill of this name is installed."""
    problem: str | None
    """Why it can't be installed."""


class SkillPreviewResponse(TypedDict):
    source: SkillSourceResponse
    candidates: list[SkillCandidateResponse]


class InstalledSkillsResponse(TypedDict):
    items: list[SkillResponse]
