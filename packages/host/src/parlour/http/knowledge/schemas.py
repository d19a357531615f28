"""Request bodies of knowledge bases."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from parlour.core.model.ids import KnowledgeBaseId, ModelId
from parlour.core.model.knowledge import (
    BUILTIN_ENGINE,
    ChunkSettings,
    KnowledgeBase,
    RetrievalSettings,
    SearchMode,
    StoreName,
)

from ..crud import Name

ChunkerName = Literal["general", "qa", "rows"]
Query = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)]
ChunkText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20_000)]
_CHUNKS, _RETRIEVAL = ChunkSettings(), RetrievalSettings()


class RetrievalBody(BaseModel):
    """How a base is searched."""

    model_config = ConfigDict(extra="forbid")

    mode: SearchMode = _RETRIEVAL.mode
    top_k: int = Field(default=_RETRIEVAL.top_k, ge=1, le=50)
    min_score: float = Field(default=_RETRIEVAL.min_score, ge=0, le=1)
    """Passages below it are left out, so that a search may find nothing."""
    weight: float = Field(default=_RETRIEVAL.weight, ge=0, le=1)
    """Weight of the meaning in a hybrid search; the rest is that of the words."""
    rerank_model: str = Field(default="", max_length=64)
    rerank_top_k: int = Field(default=_RETRIEVAL.rerank_top_k, ge=1, le=50)
    neighbours: int = Field(default=_RETRIEVAL.neighbours, ge=0, le=5)
    """Passages before and after a found one that are joined to it."""

    def to_settings(self) -> RetrievalSettings:
        return RetrievalSettings(**{**self.model_dump(), "rerank_model": ModelId(self.rerank_model)})


ParserName = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class BaseSettingsBody(BaseModel):
    """How files are cut, and how the base is searched."""

    model_config = ConfigDict(extra="forbid")

    chunker: ChunkerName = _CHUNKS.chunker
    chunk_size: int = Field(default=_CHUNKS.tokens, ge=50, le=2000)
    """Tokens of a passage, at most."""
    overlap: int = Field(default=_CHUNKS.overlap, ge=0, le=500)
    """Tokens that neighbouring passages share."""
    parsers: dict[str, ParserName] = Field(default={}, max_length=50)
    """Parsers of plugins by the extension (`.pdf`) or MIME type that they read for this base."""
    retrieval: RetrievalBody = RetrievalBody()


class EmbeddingBody(BaseModel):
    """A configured embedding model. Without one, texts are embedded offline."""

    model_config = ConfigDict(extra="forbid")

    model_id: str = Field(min_length=1, max_length=64)


class KnowledgeBaseBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Name
    description: str = Field(default="", max_length=2000)
    emoji: str = Field(default="", max_length=16)
    settings: BaseSettingsBody = BaseSettingsBody()
    embedding: EmbeddingBody | None = None
    store: StoreName | None = None
    """Vector store; null: the one that it has, or that of the setting `knowledge.store`."""

    engine: str = Field(default=BUILTIN_ENGINE, max_length=200)
    """`builtin`, or the id of a plugin with a knowledge engine. It can't be changed later."""
    engine_config: dict[str, Any] = {}
    """Values of the engine's form."""
    engine_settings: dict[str, Any] = {}
    """Values of the engine's form for searches."""

    def to_base(self, kb_id: KnowledgeBaseId, before: KnowledgeBase | None, default_store: StoreName) -> KnowledgeBase:
        """Returns the base. A changed embedding or store is used when all vectors were made again."""
        wanted = ModelId(self.embedding.model_id if self.embedding is not None else "")
        chunks = ChunkSettings(self.settings.chunker, self.settings.chunk_size, self.settings.overlap)
        embedded = before.embedding_model if before is not None else wanted
        stored = before.store if before is not None else self.store or default_store
        planned = before.next_store or stored if before is not None else stored
        store = self.store or planned
        return KnowledgeBase(
            kb_id,
            self.name,
            self.description,
            self.emoji,
            embedded,
            wanted if wanted != embedded else None,
            stored,
            store if store != stored else None,
            chunks,
            self.settings.retrieval.to_settings(),
            before.generation if before is not None else 1,
            self.engine,
            self.engine_config,
            self.engine_settings,
            dict(self.settings.parsers),
        )


class NewFileBody(BaseModel):
    """A file by one of these: an artifact, the address of a web page, or text with a name."""

    model_config = ConfigDict(extra="forbid")

    artifact_id: str | None = Field(default=None, max_length=64)
    url: str | None = Field(default=None, max_length=2000, pattern=r"^https?://\S+$")
    text: str | None = Field(default=None, max_length=5_000_000)
    name: str | None = Field(default=None, min_length=1, max_length=200)
    metadata: dict[str, Any] = {}
    chunker: ChunkerName | None = None
    parser: str | None = Field(default=None, max_length=200)
    """`author/plugin.parser`, or `builtin`; null: the one of the base's settings, or of the format."""
    refresh_days: int | None = Field(default=None, ge=1, le=365)
    """Days after which a web page is fetched again; null: never."""


class SearchBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: Query
    top_k: int | None = Field(default=None, ge=1, le=50)
    filters: dict[str, Any] | None = None
    mode: SearchMode | None = None
    explain: bool = False
    settings: RetrievalBody | dict[str, Any] | None = None
    """Settings to try instead of those of the base; values of its engine's form if a plugin searches it."""


class ChunkChangeBody(BaseModel):
    """The parts of a passage that change."""

    model_config = ConfigDict(extra="forbid")

    text: ChunkText | None = None
    hints: str | None = Field(default=None, max_length=2000)
    """Further text that it can be found by, such as a question that it answers."""
    enabled: bool | None = None


class NewChunkBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: ChunkText
    heading: str = Field(default="", max_length=300)
