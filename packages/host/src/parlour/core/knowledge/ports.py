"""Ports of knowledge bases: the store of vectors, embeddings, and the parser of files."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from parlour.core.model.ids import NO_PLUGIN, KnowledgeBaseId, KnowledgeFileId, ModelId
from parlour.core.model.knowledge import BaseFile, ChunkSettings, KnowledgeBase, Passage
from parlour.core.model.providers import CallContext
from parlour_sdk.protocol.knowledge import KnowledgeChunk
from parlour_sdk.values import dataclass

from .fusion import Background

Vectors = Any
"""Array of vectors of length 1, one row each; a numpy array, which only stores and embeddings know."""


HOST_CONTEXT = CallContext(NO_PLUGIN)
"""The Host embeds files on its own behalf, so only budgets for everything apply."""


class KnowledgeFailed(Exception):
    """Raised when a file can't be taken up, or a base can't be searched, and why."""

    def __init__(self, code: str, message: str, retryable: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable


@dataclass(frozen=True, slots=True)
class VectorHits:
    """The nearest vectors, best first, and how similar unrelated ones are, if the store knows."""

    scores: Sequence[tuple[str, float]]
    """Ids of passages with their cosine similarity."""
    background: Background | None = None


class VectorStore(Protocol):
    """Stores vectors by collection and document. Everything in it can be made again from the database.

    Names of collections are letters, digits and `_`. A document is one version of a file.
    """

    async def create(self, collection: str, dimension: int) -> None:
        """Creates a collection; does nothing if it exists with this dimension."""
        ...

    async def add(self, collection: str, document: str, ids: Sequence[str], vectors: Vectors) -> None:
        """Adds vectors of a document. They are durable after `flush`."""
        ...

    async def flush(self, collection: str) -> None:
        """Returns when all added vectors are durable and found."""
        ...

    async def search(
        self, collection: str, vector: Vectors, limit: int, documents: Collection[str] | None = None
    ) -> VectorHits:
        """Returns the nearest vectors, of these documents only if there are any given. Raises KnowledgeFailed."""
        ...

    async def delete_document(self, collection: str, document: str) -> None:
        """Deletes the vectors of a document; does nothing if there are none."""
        ...

    async def delete_ids(self, collection: str, ids: Collection[str]) -> None: ...

    async def drop(self, collection: str) -> None:
        """Deletes a collection; does nothing if there is none."""
        ...

    async def count(self, collection: str) -> int | None:
        """Returns the number of vectors, or None if there is no such collection."""
        ...

    async def close(self) -> None: ...


class VectorStores(Protocol):
    """The vector stores that bases may use, by name."""

    def of(self, name: str) -> VectorStore:
        """Returns a store. Raises KnowledgeFailed if it can't be used."""
        ...


class Embeddings(Protocol):
    """Makes vectors of texts."""

    async def embed(
        self, model_id: ModelId, texts: Sequence[str], context: CallContext, is_query: bool = False
    ) -> Vectors:
        """Returns a vector of length 1 for each text. Raises KnowledgeFailed."""
        ...


@dataclass(frozen=True, slots=True)
class ParsedPart:
    """A batch of passages from a parser, and how much of the file is read."""

    passages: Sequence[Passage]
    percent: int
    pages: int = 0
    parser: str = ""
    chunk_seconds: float = 0.0
    """Seconds in which the text was cut into passages, as far as the parser knows."""


class FileParser(Protocol):
    """Reads files and cuts them into passages, apart from the Host."""

    def parse(
        self, path: Path, name: str, mime_type: str, settings: ChunkSettings, parser: str = ""
    ) -> AsyncIterator[ParsedPart]:
        """Yields the passages of a file in order, read by a parser of a plugin if one is named.

        Raises KnowledgeFailed with the reason.
        """
        ...

    def detect(self, head: bytes, name: str, mime_type: str, parser: str = "") -> str | None:
        """Returns the type of a file that can be taken up, or None if no parser reads it."""
        ...


class KnowledgeEngines(Protocol):
    """The engines of plugins, which store and search bases in systems of their own."""

    async def ingest(self, base: KnowledgeBase, file: BaseFile, content: Path) -> int:
        """Adds or replaces a file and returns the number of its passages. Raises KnowledgeFailed."""
        ...

    async def retrieve(
        self,
        base: KnowledgeBase,
        query: str,
        top_k: int,
        filters: Mapping[str, Any] | None,
        settings: Mapping[str, Any],
    ) -> Sequence[KnowledgeChunk]:
        """Returns the best passages. Raises KnowledgeFailed if the engine does not answer."""
        ...

    async def delete(
        self, engine: str, kb_id: KnowledgeBaseId, config: Mapping[str, Any], file_id: KnowledgeFileId | None = None
    ) -> None:
        """Deletes a file, or the whole base. Raises KnowledgeFailed."""
        ...

    def takes(self, engine: str) -> str:
        """Returns what the engine takes of a file: `text`, `content`, or `none`. Raises KnowledgeFailed."""
        ...
