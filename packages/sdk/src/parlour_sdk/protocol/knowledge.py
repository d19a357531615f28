"""Knowledge bases: what a run may search, and what a plugin's own knowledge engine and parser are asked."""

from typing import Any, Literal

from pydantic import Field

from .base import Count, Listed, Request, Strict, Tolerant
from .calls import Call
from .limits import ARTIFACT_CHUNK_BYTES, RETRIEVED_CHUNKS
from .resources import KnowledgeBaseResource


class ListKnowledge(Call):
    """Asks for the knowledge bases that were granted."""


class KnowledgeList(Tolerant):
    """The knowledge bases that were granted."""

    knowledge_bases: list[KnowledgeBaseResource] = []


class RetrieveKnowledge(Call):
    """Searches a knowledge base."""

    kb_id: str
    query: str = Field(min_length=1)
    top_k: int = Field(default=5, ge=1, le=RETRIEVED_CHUNKS)
    filters: dict[str, Any] | None = None


class ChunkSource(Tolerant):
    """Where a chunk comes from."""

    file_name: str
    page: int | None = None
    position: int | None = None


class KnowledgeChunk(Tolerant):
    """A passage that was found."""

    chunk_id: str
    kb_id: str
    content: str
    score: float
    source: ChunkSource
    metadata: dict[str, Any] = {}


class KnowledgeResult(Tolerant):
    """What a search found, the best first."""

    chunks: Listed[KnowledgeChunk] = []


class KnowledgeFile(Tolerant):
    """A file to take up: its text when it was parsed before, its bytes otherwise."""

    file_id: str
    name: str
    mime_type: str | None = None
    text: str | None = None
    content_base64: str | None = None
    file_key: str | None = None
    """Reads the text or bytes by `get_knowledge_file` while the call lasts; they are too large for the request."""
    metadata: dict[str, Any] = {}
    """What the person who added the file said about it."""


class GetKnowledgeFile(Call):
    """Asks for a piece of the file that an engine or parser is asked about."""

    file_key: str
    offset: Count = 0
    length: int = Field(default=ARTIFACT_CHUNK_BYTES, ge=1, le=ARTIFACT_CHUNK_BYTES)


class InvokeParser(Call):
    """Asks the Host to read the file that an engine is asked about."""

    file_key: str
    parser: str | None = None
    """`author/plugin.parser`; None: the parser that the knowledge base uses."""


class KnowledgeIngest(Request):
    """The engine is to take up a file."""

    kb_id: str
    file: KnowledgeFile
    config: dict[str, Any] = {}


class IngestOutcome(Strict):
    """What became of a file."""

    status: Literal["done", "failed"] = "done"
    chunks: Count = 0
    error: str | None = None


class KnowledgeRetrieve(Request):
    """The engine is to search."""

    kb_id: str
    query: str = Field(min_length=1)
    top_k: int = Field(default=5, ge=1, le=RETRIEVED_CHUNKS)
    filters: dict[str, Any] | None = None
    config: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    """Values of the engine's `retrieval_schema`: those of the base, or of this search."""


class KnowledgeDelete(Request):
    """The engine is to forget a file; without one the whole base goes."""

    kb_id: str
    file_id: str | None = None
    config: dict[str, Any] = {}


class ParseFile(Request):
    """The parser is to read a file."""

    file: KnowledgeFile
    config: dict[str, Any] = {}
    parser: str | None = None
    """The parser's name in its plugin; None: the first one that lists the file's format."""


class ParsedSection(Strict):
    """A part of a file that was read."""

    text: str
    title: str | None = None
    page: int | None = None


class ParsedFile(Strict):
    """The text of a file."""

    text: str
    sections: Listed[ParsedSection] = []
    metadata: dict[str, Any] = {}
