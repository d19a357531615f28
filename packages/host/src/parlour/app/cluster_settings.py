"""Defines the settings of a Host that shares its database with others."""

from pydantic import BaseModel, ConfigDict, Field


class ClusterSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    enabled: bool = False
    """True if several Hosts may serve the database together. It needs PostgreSQL, and artifacts in S3."""
    name: str = Field(default="", max_length=100)
    """Name of this Host for people; empty: the name of the machine."""
    address: str = Field(default="", pattern=r"^(https?://[^\s/?#]+(/[^\s?#]*)?)?$")
    """Address at which the other Hosts reach this one, such as `http://10.0.0.5:5300`; empty: they can't."""
    drain_seconds: float = Field(default=5, gt=0, le=600)
    """Seconds for which runs of a part may continue before the part moves; then they are interrupted."""
