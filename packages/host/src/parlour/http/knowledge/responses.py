"""Responses of knowledge bases, and how they are built."""

from dataclasses import asdict
from typing import Any, NotRequired

from typing_extensions import TypedDict

from parlour.core.jobs.progress import ProgressValues
from parlour.core.journal import Row
from parlour.core.knowledge.retrieval import SearchReport
from parlour.core.model.knowledge import BaseFile, FoundPassage, KnowledgeBase

from ..responses import Id, Json, TimestampMs


class EmbeddingResponse(TypedDict):
    model_id: str | None
    """Null: texts are embedded offline."""
    next_model_id: NotRequired[str | None]
    """The model whose vectors are being made; they replace the others when they are complete."""


class StoreResponse(TypedDict):
    name: str
    is_default: bool
    """True for the store of new bases."""
    problem: str | None
    """Why it can't be used; null if it can."""


class StoreListResponse(TypedDict):
    items: list[StoreResponse]
    next_cursor: None


class KnowledgeBaseResponse(TypedDict):
    kb_id: Id
    name: str
    description: str
    emoji: str
    engine: str
    """`builtin`, or the id of the plugin whose engine stores and searches it."""
    engine_config: Json
    """Configuration of the engine; secrets are masked."""
    engine_settings: Json
    problem: str | None
    """Why it can't be searched, such as an engine that is not running."""
    settings: Json
    embedding: EmbeddingResponse
    store: str
    next_store: str | None
    """The vector store that is being filled; null while none is."""
    status: str
    """`ready`, `reembedding`, or `rebuilding` after its vectors were lost."""
    files: int
    chunks: int
    bytes: int
    used_by: list[str]
    """Names of the agents that search it."""
    created_at: TimestampMs
    updated_at: TimestampMs


class FileErrorResponse(TypedDict):
    code: str
    message: str


class KnowledgeFileResponse(TypedDict):
    file_id: Id
    kb_id: Id
    name: str
    mime_type: str
    size_bytes: int
    source: str
    url: str | None
    refresh_days: int | None
    """Days after which a web page is fetched again; null: never."""
    metadata: Json
    status: str
    stage: str | None
    """`fetch`, `parse`, `embed` or `switch`, while it is processed."""
    progress: int
    """Percent."""
    error: FileErrorResponse | None
    chunks: int
    pages: int | None
    parser: str | None
    artifact_id: str | None
    job_id: str
    created_at: TimestampMs
    updated_at: TimestampMs


class ChunkResponse(TypedDict):
    chunk_id: str
    file_id: Id
    position: int
    page: int | None
    heading: str | None
    text: str
    hints: str | None
    tokens: int
    char_start: int
    char_end: int
    enabled: bool
    origin: str
    """`file`, `edited`, or `added` by a person."""
    updated_at: TimestampMs


class FoundPassageResponse(TypedDict):
    chunk_id: str
    file_id: Id
    file_name: str
    page: int | None
    heading: str | None
    position: int
    text: str
    score: float
    metadata: Json
    parts: NotRequired[dict[str, float]]


class SearchResponse(TypedDict):
    items: list[FoundPassageResponse]
    notes: list[str]
    """`vectors_missing`, `rerank_failed`, or `nothing_fits` if the best passage has too low a score."""
    best_rejected: NotRequired[float]
    timings: NotRequired[dict[str, float]]
    """Milliseconds of each stage."""


def base_response(
    base: KnowledgeBase, row: Row | None, used_by: list[str], engine_config: dict[str, Any], problem: str
) -> KnowledgeBaseResponse:
    counts = row or {}
    embedding: EmbeddingResponse = {"model_id": base.embedding_model or None}
    if base.next_embedding_model is not None:
        embedding["next_model_id"] = base.next_embedding_model or None
    return {
        "kb_id": base.kb_id,
        "name": base.name,
        "description": base.description,
        "emoji": base.emoji,
        "engine": base.engine,
        "engine_config": engine_config,
        "engine_settings": dict(base.engine_settings),
        "problem": problem or None,
        "settings": settings_view(base),
        "embedding": embedding,
        "store": base.store,
        "next_store": base.next_store,
        "status": counts.get("state") or "ready",
        "files": counts.get("files", 0),
        "chunks": counts.get("chunks", 0),
        "bytes": counts.get("bytes", 0),
        "used_by": used_by,
        "created_at": counts.get("created_at", 0),
        "updated_at": counts.get("updated_at", 0),
    }


def settings_view(base: KnowledgeBase) -> dict[str, Any]:
    chunks = base.chunks
    cutting = {"chunker": chunks.chunker, "chunk_size": chunks.tokens, "overlap": chunks.overlap}
    return {**cutting, "parsers": dict(base.parsers), "retrieval": asdict(base.retrieval)}


def audit_view(base: KnowledgeBase) -> dict[str, Any]:
    values = {"name": base.name, "description": base.description, "settings": settings_view(base)}
    embedding = base.next_embedding_model or base.embedding_model
    engine = {"engine": base.engine, "engine_settings": dict(base.engine_settings)}
    return {**values, **engine, "embedding_model": embedding, "store": base.next_store or base.store}


def file_response(file: BaseFile, progress: ProgressValues | None) -> KnowledgeFileResponse:
    running = file.state in ("pending", "processing") and progress is not None
    percent = progress.done if running and progress is not None else 100 * (file.state == "completed")
    return {
        "file_id": file.file_id,
        "kb_id": file.kb_id,
        "name": file.name,
        "mime_type": file.mime_type,
        "size_bytes": file.size_bytes,
        "source": file.source,
        "url": file.address or None,
        "refresh_days": file.refresh_days or None,
        "metadata": dict(file.metadata),
        "status": file.state,
        "stage": (progress.stage or None) if running and progress is not None else None,
        "progress": percent,
        "error": {"code": file.error_code, "message": file.error} if file.error_code else None,
        "chunks": file.chunks,
        "pages": file.pages or None,
        "parser": file.parser or None,
        "artifact_id": file.artifact_id or None,
        "job_id": file.job_id,
        "created_at": file.created_at,
        "updated_at": file.updated_at,
    }


def chunk_response(row: Row) -> ChunkResponse:
    return {
        "chunk_id": row["chunk_id"],
        "file_id": row["file_id"],
        "position": row["position"],
        "page": row["page"] or None,
        "heading": row["heading"] or None,
        "text": row["text"],
        "hints": row["hints"] or None,
        "tokens": row["tokens"],
        "char_start": row["char_start"],
        "char_end": row["char_end"],
        "enabled": bool(row["enabled"]),
        "origin": row["origin"] or "file",
        "updated_at": row["updated_at"],
    }


def search_response(report: SearchReport, explain: bool) -> SearchResponse:
    notes = [*report.notes, *(["nothing_fits"] if not report.passages and report.best_rejected else [])]
    answer: SearchResponse = {"items": [_found(each, explain) for each in report.passages], "notes": notes}
    if explain:
        answer["timings"] = report.timings
        answer["best_rejected"] = round(report.best_rejected, 4)
    return answer


def _found(passage: FoundPassage, explain: bool) -> FoundPassageResponse:
    found: FoundPassageResponse = {
        "chunk_id": passage.chunk_id,
        "file_id": passage.file_id,
        "file_name": passage.file_name,
        "page": passage.page or None,
        "heading": passage.heading or None,
        "position": passage.position,
        "text": passage.text,
        "score": round(passage.score, 4),
        "metadata": dict(passage.metadata),
    }
    if explain:
        found["parts"] = {name: round(value, 4) for name, value in passage.parts.items()}
    return found
