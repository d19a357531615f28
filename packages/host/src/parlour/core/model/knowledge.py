"""Knowledge bases, their files and passages as values, with the settings of a base."""

from collections.abc import Mapping
from dataclasses import asdict, field
from pathlib import PurePath
from typing import Any, Final, Literal, get_args

from parlour_sdk.values import dataclass

from .ids import ArtifactId, ChunkId, KnowledgeBaseId, KnowledgeFileId, ModelId

SearchMode = Literal["hybrid", "vector", "full_text"]
SEARCH_MODES: Final = get_args(SearchMode)
Chunker = Literal["general", "qa", "rows"]
CHUNKERS: Final = get_args(Chunker)
"""How files are cut: by structure, one passage per question and answer, or one passage per row of a table."""
FileState = Literal["pending", "processing", "completed", "failed"]
FileSource = Literal["upload", "url", "text"]
StoreName = Literal["builtin", "pgvector", "qdrant", "chroma", "milvus", "seekdb"]
STORES: Final = get_args(StoreName)
BUILTIN_STORE: Final[StoreName] = "builtin"
"""The store that needs no service: a file of vectors per base."""
BUILTIN_ENGINE: Final = "builtin"
BUILTIN_PARSER: Final = "builtin"
OFFLINE_EMBEDDING = ModelId("")
"""Id of the embedding that needs no service; the weights are in the extra `knowledge`."""


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """How a base is searched."""

    mode: SearchMode = "hybrid"
    top_k: int = 5
    min_score: float = 0.18
    """Passages with a lower score are left out, so that a search may find nothing."""
    weight: float = 0.5
    """Weight of the meaning in a hybrid search; the rest is that of the words."""
    rerank_model: ModelId = ModelId("")
    rerank_top_k: int = 20
    """Passages that the rerank model compares."""
    neighbours: int = 0
    """Passages before and after a found one that are joined to it."""


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How files are cut into passages."""

    chunker: Chunker = "general"
    tokens: int = 400
    overlap: int = 60


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """A knowledge base as it is configured."""

    kb_id: KnowledgeBaseId
    name: str
    description: str = ""
    emoji: str = ""
    embedding_model: ModelId = OFFLINE_EMBEDDING
    """Embedding of the vectors that are searched."""
    next_embedding_model: ModelId | None = None
    """Embedding of the vectors that are being made; None while none are."""
    store: StoreName = BUILTIN_STORE
    """Vector store that is searched."""
    next_store: StoreName | None = None
    """Vector store that is being filled; None while none is."""
    chunks: ChunkSettings = ChunkSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    generation: int = 1
    """Number of the set of vectors that is searched; it rises when all are made anew."""
    engine: str = BUILTIN_ENGINE
    """Id of the plugin whose engine stores and searches the base; `builtin` for the Host itself."""
    engine_config: Mapping[str, Any] = field(default_factory=dict)
    """Configuration of the engine, with its secrets sealed."""
    engine_settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of searches by the engine."""
    parsers: Mapping[str, str] = field(default_factory=dict)
    """Parsers of plugins by the file extensions or MIME types that they read for this base."""

    def encode(self) -> str:
        """Returns everything but the ids and the generation as JSON."""
        from parlour.core.encoding import dumps  # the readers of files import this module, but need no pydantic

        values = asdict(self)
        for name in ("kb_id", "name", "generation"):
            values.pop(name)
        return dumps(values)

    @classmethod
    def decode(cls, row: Mapping[str, Any]) -> "KnowledgeBase":
        from parlour.core.encoding import loads

        values = loads(row["definition"])
        values["chunks"] = ChunkSettings(**values["chunks"])
        values["retrieval"] = RetrievalSettings(**values["retrieval"])
        return cls(KnowledgeBaseId(row["kb_id"]), row["name"], generation=row["generation"], **values)

    @property
    def is_builtin(self) -> bool:
        """True if the Host itself stores and searches it."""
        return self.engine == BUILTIN_ENGINE

    def parser_of(self, file: "BaseFile") -> str:
        """Returns the parser that is to read a file; empty for the one that its format has."""
        chosen = file.options.get("parser") or self.parsers.get(PurePath(file.name).suffix.lower())
        chosen = chosen or self.parsers.get(file.mime_type, "")
        return "" if chosen == BUILTIN_PARSER else str(chosen)

    @property
    def is_changing(self) -> bool:
        """True if its vectors are to be made again, by another model or in another store."""
        return self.next_embedding_model is not None or self.next_store is not None

    @property
    def collection(self) -> str:
        """Name of its vectors in a vector store."""
        return collection_name(self.kb_id, self.generation)


def collection_name(kb_id: KnowledgeBaseId, generation: int) -> str:
    """Returns the name of one generation of a base's vectors; it is safe as the name of a file or table."""
    return f"p_{''.join(letter for letter in kb_id if letter.isalnum())}_{generation}"


def document_name(file_id: KnowledgeFileId, generation: int) -> str:
    """Returns the name under which the vectors of one version of a file are stored."""
    return f"{file_id}:{generation}"


@dataclass(frozen=True, slots=True)
class BaseFile:
    """A file of a base."""

    file_id: KnowledgeFileId
    kb_id: KnowledgeBaseId
    name: str
    mime_type: str
    sha256: str
    artifact_id: ArtifactId
    """Artifact with the content; empty for a web page that was not fetched yet."""
    source: FileSource
    size_bytes: int
    created_at: int
    address: str = ""
    """Address of a web page."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    """Choices for this file: `chunker`, `parser`, and `refresh_days` of a web page."""
    state: FileState = "pending"
    job_id: str = ""
    error_code: str = ""
    error: str = ""
    parser: str = ""
    generation: int = 0
    pages: int = 0
    chunks: int = 0
    refreshed_at: int = 0
    updated_at: int = 0

    @property
    def refresh_days(self) -> int:
        """Days after which a web page is fetched again; 0: never."""
        return int(self.options.get("refresh_days", 0)) if self.source == "url" else 0

    @property
    def document(self) -> str:
        """Name of the vectors of the version that can be found."""
        return document_name(self.file_id, self.generation)


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage as a parser cut it, before it is stored."""

    text: str
    heading: str = ""
    """Headings above it, outermost first, joined by ` › `."""
    position: int = 0
    page: int = 0
    char_start: int = 0
    char_end: int = 0
    tokens: int = 0
    hints: str = ""
    """Further text that is embedded and searched with it, such as the question that it answers."""

    @property
    def searchable(self) -> str:
        """The text for embedding and for its search words, which the heading belongs to."""
        return "\n".join(filter(None, (self.heading, self.hints, self.text)))


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage that a search found."""

    chunk_id: ChunkId
    kb_id: KnowledgeBaseId
    file_id: KnowledgeFileId
    file_name: str
    text: str
    heading: str
    position: int
    page: int
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    """Scores of the single searches: `vector`, `words`, `rerank`."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
