"""Defines the settings of artifacts: where files are kept, and how large they may be."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator
from pydantic_core import PydanticCustomError


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class S3Settings(_Section):
    endpoint: str = Field(pattern=r"^https?://[^/?#]+$")
    bucket: str = Field(min_length=1)
    access_key: str = Field(min_length=1)
    secret_key: SecretStr
    region: str = "us-east-1"
    prefix: str = ""


class ArtifactSettings(_Section):
    store: Literal["folder", "s3"] = "folder"
    folder: Path | None = None
    s3: S3Settings | None = None
    artifact_bytes: int = Field(default=100 * 1024 * 1024, ge=1024)
    quota_bytes: int = Field(default=10 * 1024 * 1024 * 1024, ge=1024)
    link_bytes: int = Field(default=20 * 1024 * 1024, ge=1024)
    """Maximum size in bytes of a file that is downloaded from a link."""
    unclaimed_upload_hours: float = Field(default=24, gt=0)

    @model_validator(mode="after")
    def _require_account(self) -> "ArtifactSettings":
        if self.store == "s3" and self.s3 is None:
            raise PydanticCustomError(
                "s3_account", "store 's3' needs a section 's3' with endpoint, bucket, access_key and secret_key"
            )
        return self
