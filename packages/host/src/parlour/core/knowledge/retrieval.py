"""Searches one base: by meaning and by words, fused, optionally reranked, without near-duplicates, with neighbours."""

import asyncio
import logging
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any, Protocol

from parlour.core.journal import Journal, Row
from parlour.core.model.ids import ChunkId, KnowledgeBaseId, KnowledgeFileId, ModelId
from parlour.core.model.knowledge import BaseFile, FoundPassage, KnowledgeBase, RetrievalSettings
from parlour.core.model.providers import CallContext
from parlour_sdk.protocol.knowledge import KnowledgeChunk
from parlour_sdk.values import dataclass

from . import fusion
from .filters import RetrievalFilters
from .measured import StageMeter
from .ports import Embeddings, KnowledgeEngines, KnowledgeFailed, VectorHits, VectorStores
from .records import KnowledgeRecords, split_words
from .word_search import WordMatches, WordSearch

logger = logging.getLogger(__name__)

CANDIDATES = 50
"""Passages that each search contributes."""
HIDDEN_RESERVE = 50
"""Further nearest vectors that are read, since some may belong to versions of files that can't be found."""
DUPLICATE_OVERLAP = 0.8
"""Part of the words of the smaller passage that two of one file share at least if one of them repeats the other."""
RERANK_SECONDS = 3.0
MAX_QUERY_CHARACTERS = 4000


class Reranker(Protocol):
    """Compares passages with a query by a model."""

    async def rerank(
        self, model_id: ModelId, query: str, texts: Sequence[str], context: CallContext
    ) -> Sequence[tuple[int, float]]:
        """Returns positions of the texts with their scores, best first. Raises KnowledgeFailed."""
        ...


@dataclass(slots=True)
class SearchReport:
    """The result of a search, and how it came about."""

    passages: list[FoundPassage] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    """Milliseconds of each stage."""
    notes: list[str] = field(default_factory=list)
    """Codes of what was left out: `vectors_missing`, `rerank_failed`."""
    best_rejected: float = 0.0
    """Score of the best passage below the smallest score; 0 if there is none."""


class Retrieval:
    """Searches bases."""

    def __init__(
        self,
        journal: Journal,
        embeddings: Embeddings,
        stores: VectorStores,
        reranker: Reranker,
        engines: KnowledgeEngines | None = None,
        meter: StageMeter | None = None,
    ) -> None:
        self._journal = journal
        self._records = KnowledgeRecords(journal)
        self._embeddings = embeddings
        self._stores = stores
        self._reranker = reranker
        self._engines = engines
        self._meter = meter or StageMeter()
        self._word_searches: dict[KnowledgeBaseId, WordSearch] = {}

    def forget(self, kb_id: KnowledgeBaseId) -> None:
        """Forgets what is known about the words of a base."""
        self._word_searches.pop(kb_id, None)

    async def search(
        self,
        base: KnowledgeBase,
        query: str,
        filters: Mapping[str, Any] | None,
        context: CallContext,
        settings: RetrievalSettings | None = None,
        engine_settings: Mapping[str, Any] | None = None,
    ) -> SearchReport:
        """Returns the best passages for a query, possibly none. Raises KnowledgeFailed."""
        with self._meter.measure("search"):
            return await self._search(base, query, filters, context, settings, engine_settings)

    async def _search(
        self,
        base: KnowledgeBase,
        query: str,
        filters: Mapping[str, Any] | None,
        context: CallContext,
        settings: RetrievalSettings | None,
        engine_settings: Mapping[str, Any] | None,
    ) -> SearchReport:
        query = query.strip()[:MAX_QUERY_CHARACTERS]
        if not query:
            raise KnowledgeFailed("invalid_argument", "query: it must hold a word")
        wanted, report = settings or base.retrieval, SearchReport()
        if self._engines is not None and not base.is_builtin:
            with _timed(report, "engine"):
                passed_on = base.engine_settings if engine_settings is None else engine_settings
                chunks = await self._engines.retrieve(base, query, wanted.top_k, filters, passed_on)
            report.passages = [_of_engine(chunk) for chunk in chunks]
            return report
        conditions = RetrievalFilters.parse(filters)
        with _timed(report, "filter"):
            allowed = await self._allowed_files(base, conditions)
        if allowed is not None and not allowed:
            return report
        row = await self._records.base_row(base.kb_id)
        passages = row["chunks"] if row is not None else 0
        documents = None if allowed is None else [file.document for file in allowed.values()]
        with _timed(report, "candidates"):
            hits, matches = await asyncio.gather(
                self._by_meaning(base, query, wanted, documents, context, report),
                self._by_words(base, query, wanted, passages),
            )
        with _timed(report, "fuse"):
            found = await self._load(base, [*(hit for hit, _ in hits.scores), *matches.candidates], conditions, allowed)
            ranked = self._rank(base, wanted, found, hits, matches)
        if wanted.rerank_model and ranked:
            with _timed(report, "rerank"):
                ranked = await self._rerank(wanted, query, ranked, context, report)
        chosen = self._choose(base, wanted, ranked, report)
        with _timed(report, "neighbours"):
            report.passages = [await self._with_neighbours(wanted, each) for each in chosen]
        return report

    async def _allowed_files(self, base: KnowledgeBase, filters: RetrievalFilters) -> dict[str, BaseFile] | None:
        """Returns the files that pass the filters; None if all do."""
        if not filters.on_files:
            return None
        return {file.file_id: file for file in await self._records.files_of(base.kb_id) if filters.accepts_file(file)}

    async def _by_meaning(
        self,
        base: KnowledgeBase,
        query: str,
        settings: RetrievalSettings,
        documents: Collection[str] | None,
        context: CallContext,
        report: SearchReport,
    ) -> VectorHits:
        if settings.mode == "full_text":
            return VectorHits([])
        try:
            vectors = await self._embeddings.embed(base.embedding_model, [query], context, is_query=True)
            return await self._stores.of(base.store).search(
                base.collection, vectors[0], CANDIDATES + HIDDEN_RESERVE, documents
            )
        except KnowledgeFailed as failure:
            if settings.mode == "vector":
                raise
            logger.warning("knowledge base %s is searched by words only: %s", base.kb_id, failure.message)
            report.notes.append("vectors_missing")
            return VectorHits([])

    async def _by_words(
        self, base: KnowledgeBase, query: str, settings: RetrievalSettings, passages: int
    ) -> WordMatches:
        if settings.mode == "vector":
            return WordMatches({}, [])
        search = self._word_searches.setdefault(base.kb_id, WordSearch(self._journal, base.kb_id))
        return await search.find(query, passages, CANDIDATES)

    async def _load(
        self,
        base: KnowledgeBase,
        ids: Sequence[str],
        filters: RetrievalFilters,
        allowed: dict[str, BaseFile] | None,
    ) -> dict[str, tuple[Row, BaseFile]]:
        """Returns those passages that can be found, with their files."""
        rows = await self._records.chunks(ids)
        files = allowed if allowed is not None else await self._records.files(row["file_id"] for row in rows)
        return {
            row["chunk_id"]: (row, files[row["file_id"]])
            for row in rows
            if row["kb_id"] == base.kb_id
            and row["enabled"]
            and row["file_id"] in files
            and files[row["file_id"]].generation == row["generation"]
            and (not filters.on_pages or filters.accepts_page(row["page"]))
        }

    def _rank(
        self,
        base: KnowledgeBase,
        settings: RetrievalSettings,
        found: Mapping[str, tuple[Row, BaseFile]],
        hits: VectorHits,
        matches: WordMatches,
    ) -> list[tuple[FoundPassage, set[str]]]:
        """Returns the passages with their fused scores, best first, each with its words."""
        similar = dict(hits.scores)
        if hits.background is None:
            by_meaning = fusion.rank_scores([each for each, _ in hits.scores])
        else:
            background = hits.background
            by_meaning = {each: background.score(similarity) for each, similarity in hits.scores}
        weight = {"vector": 1.0, "full_text": 0.0}.get(settings.mode, settings.weight if similar else 0.0)
        ranked = []
        for chunk_id, (row, file) in found.items():
            words = split_words(base.kb_id, row["words"])
            vector, word = by_meaning.get(chunk_id, 0.0), fusion.coverage(matches.weights, words)
            score = fusion.fuse(vector, word, weight)
            parts = {"vector": vector, "words": word}
            if chunk_id in similar:
                parts["similarity"] = similar[chunk_id]
            ranked.append((found_passage(row, file, score, parts), words))
        ranked.sort(key=lambda each: (-each[0].score, each[0].chunk_id))
        return ranked

    async def _rerank(
        self,
        settings: RetrievalSettings,
        query: str,
        ranked: list[tuple[FoundPassage, set[str]]],
        context: CallContext,
        report: SearchReport,
    ) -> list[tuple[FoundPassage, set[str]]]:
        """Returns the order of the rerank model; the order before if it fails or is late."""
        head = ranked[: settings.rerank_top_k]
        texts = [passage.text for passage, _ in head]
        try:
            with self._meter.measure("rerank"):
                async with asyncio.timeout(RERANK_SECONDS):
                    scores = await self._reranker.rerank(settings.rerank_model, query, texts, context)
        except (KnowledgeFailed, TimeoutError) as failure:
            logger.warning("reranking failed, so the order before it is used: %s", failure)
            report.notes.append("rerank_failed")
            return ranked
        order = [(index, score) for index, score in scores if 0 <= index < len(head)]
        reranked = [
            (replace(head[index][0], parts={**head[index][0].parts, "rerank": score}), head[index][1])
            for index, score in order
        ]
        named = {index for index, _ in order}
        return [*reranked, *(each for index, each in enumerate(head) if index not in named), *ranked[len(head) :]]

    def _choose(
        self,
        base: KnowledgeBase,
        settings: RetrievalSettings,
        ranked: list[tuple[FoundPassage, set[str]]],
        report: SearchReport,
    ) -> list[FoundPassage]:
        """Returns the passages with a sufficient score, without repetitions."""
        chosen: list[tuple[FoundPassage, set[str]]] = []
        for passage, words in ranked:
            if passage.score < settings.min_score:
                report.best_rejected = max(report.best_rejected, passage.score)
                continue
            if not any(_repeats(passage, words, *other) for other in chosen):
                chosen.append((passage, words))
            if len(chosen) == settings.top_k:
                break
        return [passage for passage, _ in chosen]

    async def _with_neighbours(self, settings: RetrievalSettings, passage: FoundPassage) -> FoundPassage:
        if not settings.neighbours:
            return passage
        row = await self._records.chunk(passage.chunk_id)
        if row is None:
            return passage
        rows = await self._records.neighbours(row, settings.neighbours)
        return replace(passage, text="\n\n".join(each["text"] for each in rows) or passage.text)


def found_passage(row: Row, file: BaseFile, score: float, parts: Mapping[str, float]) -> FoundPassage:
    """Returns a passage with its score and the scores of its parts."""
    return FoundPassage(
        ChunkId(row["chunk_id"]),
        KnowledgeBaseId(row["kb_id"]),
        KnowledgeFileId(row["file_id"]),
        file.name,
        row["text"],
        row["heading"],
        row["position"],
        row["page"],
        score,
        parts,
        file.metadata,
    )


def _of_engine(chunk: KnowledgeChunk) -> FoundPassage:
    return FoundPassage(
        ChunkId(chunk.chunk_id),
        KnowledgeBaseId(chunk.kb_id),
        KnowledgeFileId(str(chunk.metadata.get("file_id", ""))),
        chunk.source.file_name,
        chunk.content,
        "",
        chunk.source.position or 0,
        chunk.source.page or 0,
        chunk.score,
        {"engine": chunk.score},
        chunk.metadata,
    )


def _repeats(passage: FoundPassage, words: set[str], other: FoundPassage, other_words: set[str]) -> bool:
    if passage.file_id != other.file_id:
        return False
    smaller = min(len(words), len(other_words))
    return bool(smaller) and len(words & other_words) > DUPLICATE_OVERLAP * smaller


@contextmanager
def _timed(report: SearchReport, stage: str) -> Iterator[None]:
    """Measures a stage."""
    started = time.perf_counter()
    yield
    report.timings[stage] = round((time.perf_counter() - started) * 1000, 3)
