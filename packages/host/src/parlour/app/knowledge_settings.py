"""Defines the settings of knowledge bases: limits, and where vectors are kept."""

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator
from pydantic_core import PydanticCustomError

from parlour.core.model.knowledge import BUILTIN_STORE, StoreName
from parlour.stores.address import ACCEPTED, is_accepted


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class PgVectorSettings(_Section):
    url: SecretStr = SecretStr("")
    """Address of the database with the extension `vector`; by default `database.url`."""

    @field_validator("url")
    @classmethod
    def _require_address(cls, url: SecretStr) -> SecretStr:
        if url.get_secret_value() and not is_accepted(url.get_secret_value()):
            raise PydanticCustomError("database_url", ACCEPTED)
        return url


class VectorServerSettings(_Section):
    """Settings of a vector store besides PostgreSQL."""

    url: str = Field(default="", pattern=r"^([a-z]+://\S+)?$")
    """Address of the server; empty: files in the data directory."""
    secret: SecretStr = SecretStr("")
    """API key, token or password of the server."""


class KnowledgeSettings(_Section):
    store: StoreName = BUILTIN_STORE
    """Vector store of new knowledge bases."""
    pgvector: PgVectorSettings = PgVectorSettings()
    qdrant: VectorServerSettings = VectorServerSettings()
    chroma: VectorServerSettings = VectorServerSettings()
    milvus: VectorServerSettings = VectorServerSettings()
    seekdb: VectorServerSettings = VectorServerSettings()
    file_bytes: int = Field(default=50 * 1024 * 1024, ge=1024)
    files: int = Field(default=10_000, ge=1)
    """Maximum number of files of a knowledge base."""
    chunks: int = Field(default=200_000, ge=1)
    """Maximum number of passages of a knowledge base."""
    total_bytes: int = Field(default=5 * 1024 * 1024 * 1024, ge=1024)
    parse_seconds: float = Field(default=120, gt=0, le=3600)
    parse_memory_mb: int = Field(default=1024, ge=256)
