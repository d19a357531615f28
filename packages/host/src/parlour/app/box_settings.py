"""The settings of the Box."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from parlour.core.box.session_template import find_problem


def _check_template(template: str) -> str:
    problem = find_problem(template) if template else ""
    if problem:
        raise PydanticCustomError("session_template", problem)
    return template


class BoxLocalSettings(BaseModel):
    """Settings of a Box beside the Host."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    host_root: Path | None = None
    """Folder of the workspaces; by default `box/workspaces` in the data directory."""
    skills_root: Path | None = None
    """Folder of the unpacked skills; by default `box/skills` in the data directory."""
    wheels: Path | None = None
    """Folder with wheels that skills may install without a network; by default `box/wheels` in the data directory."""
    workspace_quota_mb: int = Field(default=1024, ge=1)
    """Maximum size of a workspace in MiB."""


class BoxSettings(BaseModel):
    """Settings of the Box, in which agents run commands."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    enabled: bool = True
    """False if no agent may use the Box, whatever its policy is."""
    backend: Literal["auto", "bubblewrap"] = "auto"
    force_template: Annotated[str, AfterValidator(_check_template)] = ""
    """Session template for all agents, instead of their own."""
    idle_seconds: float = Field(default=300, ge=1, le=86_400)
    """Seconds after its last use after which a sandbox is ended; its workspace stays."""
    max_sessions: int = Field(default=64, ge=1, le=5000)
    workspace_days: float = Field(default=7, gt=0, le=3650)
    """Days after its last use after which a workspace is deleted."""
    local: BoxLocalSettings = BoxLocalSettings()
