"""Settings of programs that the Host starts for plugins."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from .setting_values import COMMA_LIST


class ProgramSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    folders: Annotated[list[Path], COMMA_LIST] = []
    """Folders in which granted programs are searched before PATH."""
    workspace_folders: Annotated[list[Path], COMMA_LIST] = []
    """Folders of the operator that programs may be given as working directories, with all below them."""
    at_once: int = Field(default=8, ge=1)
    memory_mb: int = Field(default=4096, ge=64)
    workspace_mb: int = Field(default=4096, ge=1)
    workspace_days: int = Field(default=30, ge=1)
    home_days: int = Field(default=180, ge=1)
