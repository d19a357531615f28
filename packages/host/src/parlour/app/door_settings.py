"""Defines the settings of doors, through which clients of common standards reach published agents."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class DoorSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    requests_per_minute: int = Field(default=600, ge=0, le=1_000_000)
    """Requests per minute that one API key or user may send to each door; 0: no limit."""
    on_disconnect: Literal["continue", "cancel"] = "continue"
    """What becomes of a run whose client disconnects from the OpenAI or AG-UI door before its end."""
