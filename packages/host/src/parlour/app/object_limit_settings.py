"""The settings that limit the number of configured objects."""

from pydantic import BaseModel, ConfigDict, Field


class LimitSettings(BaseModel):
    """Limits on the number of configured objects; 0 means no limit. What exists beyond a limit stays."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    agents: int = Field(default=0, ge=0, le=100_000)
    """Agents that may exist."""
    bots: int = Field(default=0, ge=0, le=100_000)
    """Bots that may exist."""
    knowledge_bases: int = Field(default=0, ge=0, le=100_000)
    """Knowledge bases that may exist."""
    plugins: int = Field(default=0, ge=0, le=100_000)
    """Plugins that may be installed over HTTP or on the page; upgrades are always possible."""
