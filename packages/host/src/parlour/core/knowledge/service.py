"""Serves knowledge bases to people and runs: adds and deletes files, edits passages, searches."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from parlour.core.journal import GuardFailed, Journal, Row, Select, Statement, Unit, Update, where
from parlour.core.model.ids import ArtifactId, ChunkId, JobId, KnowledgeBaseId, KnowledgeFileId
from parlour.core.model.knowledge import BaseFile, FileSource, FoundPassage, KnowledgeBase, Passage, RetrievalSettings
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.providers import CallContext, ProviderFailed, RecordedPassage
from parlour.core.store.tables import ARTIFACTS, KNOWLEDGE_CHUNKS
from parlour_sdk.protocol.knowledge import ChunkSource, KnowledgeChunk
from parlour_sdk.protocol.resources import KnowledgeBaseResource
from parlour_sdk.values import dataclass

from . import records
from .bases import KnowledgeBases
from .chunking import count_tokens
from .contents import StoredContents
from .jobs import KnowledgeJobs
from .ports import KnowledgeFailed
from .records import KnowledgeRecords
from .retrieval import Retrieval, SearchReport, found_passage


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that is to be taken up."""

    name: str
    source: FileSource = "upload"
    mime_type: str = ""
    address: str = ""
    metadata: Mapping[str, Any] | None = None
    options: Mapping[str, Any] | None = None
    replaces: bool = False


class FileExists(Exception):
    """Raised when a base has a file of this name and content."""

    def __init__(self, file: BaseFile) -> None:
        super().__init__(file.file_id)
        self.file = file


class KnowledgeBaseService:
    """The knowledge bases of a Host."""

    def __init__(
        self,
        journal: Journal,
        bases: KnowledgeBases,
        jobs: KnowledgeJobs,
        contents: StoredContents,
        retrieval: Retrieval,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self.bases = bases
        self.records = KnowledgeRecords(journal)
        self.jobs = jobs
        self._journal = journal
        self._contents = contents
        self._retrieval = retrieval
        self._ids = ids
        self._clock = clock

    async def load(self) -> None:
        await self.bases.load()

    def resources(self) -> Sequence[KnowledgeBaseResource]:
        return [
            KnowledgeBaseResource(kb_id=base.kb_id, name=base.name, description=base.description or None)
            for base in self.bases.all()
        ]

    async def retrieve(
        self, context: CallContext, kb_id: str, query: str, top_k: int, filters: dict[str, Any] | None
    ) -> Sequence[KnowledgeChunk]:
        """Searches a base for a run."""
        base = self.bases.get(KnowledgeBaseId(kb_id))
        if base is None:
            raise ProviderFailed("not_found", f"there is no knowledge base '{kb_id[:64]}'")
        try:
            report = await self.search(base, query, filters, context, replace(base.retrieval, top_k=top_k))
        except KnowledgeFailed as failure:
            code = failure.code if failure.code == "invalid_argument" else "runtime_error"
            raise ProviderFailed(code, failure.message, failure.retryable) from failure
        return [_chunk(each) for each in report.passages]

    async def recall(
        self, kb_id: str, passages: Sequence[RecordedPassage], found_at: int
    ) -> Sequence[KnowledgeChunk] | None:
        """Returns passages that were found before; None if one of them was changed, replaced or deleted since."""
        base = self.bases.get(KnowledgeBaseId(kb_id))
        if base is None or not base.is_builtin:
            return None
        recalled = []
        for each in passages:
            row = await self.records.chunk(ChunkId(each.chunk_id))
            file = None if row is None else await self.records.file(KnowledgeFileId(row["file_id"]))
            if row is None or file is None or row["kb_id"] != kb_id or row["updated_at"] > found_at:
                return None
            if file.generation != row["generation"] or not row["enabled"]:
                return None
            recalled.append(_chunk(found_passage(row, file, each.score, {})))
        return recalled

    async def search(
        self,
        base: KnowledgeBase,
        query: str,
        filters: Mapping[str, Any] | None,
        context: CallContext,
        settings: RetrievalSettings | None = None,
        engine_settings: Mapping[str, Any] | None = None,
    ) -> SearchReport:
        """Searches a base; `engine_settings` are for the engine of a plugin. Raises KnowledgeFailed."""
        return await self._retrieval.search(base, query, filters, context, settings, engine_settings)

    async def add_file(
        self, base: KnowledgeBase, new: NewFile, blocks: AsyncIterator[bytes] | None, *extra_statements: Statement
    ) -> BaseFile:
        """Stores a file and starts to take it up. Raises KnowledgeFailed and FileExists."""
        namesakes = await self.records.files_named(base.kb_id, new.name)
        before = namesakes[-1] if namesakes and new.replaces else None
        if before is None:
            await self._contents.check_quotas(base)
        if blocks is None:
            if namesakes and not new.replaces:
                raise FileExists(namesakes[-1])
            return await self._enqueue(before or self._describe(base, new), before, None, extra_statements)
        described = self._describe(base, new)
        artifact, mime_type = await self._contents.store(base, described, blocks, expires=before is not None)
        same = next((file for file in namesakes if file.sha256 == artifact.sha256), None)
        if same is not None and not new.replaces:
            raise FileExists(same)
        content: dict[str, Any] = {
            "artifact_id": artifact.artifact_id,
            "sha256": artifact.sha256,
            "size_bytes": artifact.size_bytes,
            "mime_type": mime_type,
        }
        described = replace(described, **content)
        statements = [artifact.insert(), *extra_statements]
        return await self._enqueue(before or described, before, content, statements)

    async def retry(self, file: BaseFile, *extra_statements: Statement) -> BaseFile:
        """Takes a file up again. Raises KnowledgeFailed if that is being done."""
        if file.state in ("pending", "processing"):
            raise KnowledgeFailed("conflict", f"the file is {file.state}; wait until it is done, or delete it")
        return await self._enqueue(file, file, None, extra_statements)

    async def remove_file(self, file: BaseFile, *extra_statements: Statement) -> None:
        """Deletes a file, also in the middle of its job. Raises GuardFailed if it was changed in the meantime."""
        clean = self.jobs.clean_file(file, [file.generation, file.generation + 1])
        await self._journal.commit(
            Unit("knowledge_file.remove", (*records.delete_file(file), clean, *extra_statements))
        )
        self.jobs.wake(file.kb_id)
        self._retrieval.forget(file.kb_id)

    async def remove_base(self, base: KnowledgeBase, *extra_statements: Statement) -> None:
        await self.bases.remove(base.kb_id, self.jobs.clean_base(base), *extra_statements)
        self.jobs.wake(base.kb_id)
        self._retrieval.forget(base.kb_id)

    async def change_chunk(self, row: Row, changes: Mapping[str, Any], *extra_statements: Statement) -> None:
        """Changes a passage: its text, its hints, or whether it can be found. Raises GuardFailed."""
        base = self.bases.get(row["kb_id"])
        assert base is not None
        changed = {**row, **changes}
        passage = records.passage_of(changed)
        values: dict[str, Any] = {
            **changes,
            "words": records.stored_words(base.kb_id, passage.searchable),
            "tokens": count_tokens(passage.text),
            "updated_at": self._clock.now(),
        }
        if "text" in changes and not row["origin"]:
            values["origin"] = "edited"
        update = Update(KNOWLEDGE_CHUNKS, values, where(chunk_id=row["chunk_id"], updated_at=row["updated_at"]))
        embed = self.jobs.embed_chunk(base.kb_id, row["chunk_id"])
        await self._journal.commit(Unit("knowledge_chunk.change", (update, embed, *extra_statements)))
        self.jobs.wake(base.kb_id)

    async def add_chunk(self, file: BaseFile, text: str, heading: str, *extra_statements: Statement) -> ChunkId:
        """Adds a passage that a person wrote to a file. It is lost when the file is taken up again."""
        last = await self._journal.read(
            Select(
                KNOWLEDGE_CHUNKS,
                where(file_id=file.file_id, generation=file.generation),
                ("position",),
                order=("position",),
                direction="descending",
                limit=1,
            )
        )
        position = last[0]["position"] + 1 if last else 0
        passage = Passage(text, heading, position, tokens=count_tokens(text))
        now = self._clock.now()
        chunk_id = records.chunk_id(file.file_id, file.generation, position)
        statements = (
            records.insert_chunk(file, file.generation, passage, now, origin="added"),
            records.update_file(file, now, chunks=file.chunks + 1),
            records.count_change(file.kb_id, chunks=1),
            self.jobs.embed_chunk(file.kb_id, chunk_id),
        )
        await self._journal.commit(Unit("knowledge_chunk.add", (*statements, *extra_statements)))
        self.jobs.wake(file.kb_id)
        return chunk_id

    async def content(self, file: BaseFile) -> Row | None:
        """Returns the row of the artifact with the file's content."""
        rows = await self._journal.read(Select(ARTIFACTS, where(artifact_id=file.artifact_id), limit=1))
        return rows[0] if rows else None

    def _describe(self, base: KnowledgeBase, new: NewFile) -> BaseFile:
        return BaseFile(
            file_id=KnowledgeFileId(self._ids.new()),
            kb_id=base.kb_id,
            name=new.name,
            mime_type=new.mime_type,
            sha256="",
            artifact_id=ArtifactId(""),
            source=new.source,
            size_bytes=0,
            created_at=self._clock.now(),
            address=new.address,
            metadata=new.metadata or {},
            options=new.options or {},
        )

    async def _enqueue(
        self,
        file: BaseFile,
        before: BaseFile | None,
        content: Mapping[str, Any] | None,
        extra_statements: Sequence[Statement],
    ) -> BaseFile:
        """Commits the row of a new file, or marks the one there is, together with the job."""
        job_id = JobId(self._ids.new())
        queued = replace(file, state="pending", job_id=job_id, error_code="", error="")
        if before is None:
            change: Statement = records.insert_file(queued, self._clock.now())
        else:
            values = {"state": "pending", "job_id": job_id, "error_code": "", "error": ""}
            change = records.update_file(before, self._clock.now(), **values)
        job = self.jobs.ingest(file, job_id, content if before is not None else None)
        try:
            await self._journal.commit(Unit("knowledge_file.add", (change, job, *extra_statements)))
        except GuardFailed:
            raise KnowledgeFailed("conflict", "the file was changed in the meantime; try again") from None
        self.jobs.wake(file.kb_id)
        self._retrieval.forget(file.kb_id)
        return queued


def _chunk(passage: FoundPassage) -> KnowledgeChunk:
    """Returns a passage as runs get it."""
    return KnowledgeChunk(
        chunk_id=passage.chunk_id,
        kb_id=passage.kb_id,
        content="\n".join(filter(None, (passage.heading, passage.text))),
        score=round(passage.score, 4),
        source=ChunkSource(file_name=passage.file_name, page=passage.page or None, position=passage.position),
        metadata={**passage.metadata, "file_id": passage.file_id},
    )
