"""The background work of knowledge bases. Jobs of one base run one after the other, so none sees another half done."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from parlour.core.jobs.job import Job, JobDone, JobFailed, JobResult, JobRetry
from parlour.core.jobs.jobs import Jobs
from parlour.core.jobs.progress import JobProgress
from parlour.core.journal import ANY, GuardFailed, Insert, Journal, Statement, Unit, UnitBuilder, Update, where
from parlour.core.model.ids import JobId, KnowledgeBaseId, KnowledgeFileId
from parlour.core.model.knowledge import BUILTIN_STORE, BaseFile, KnowledgeBase
from parlour.core.model.ports import Clock
from parlour.core.store.tables import KNOWLEDGE_BASES, KNOWLEDGE_FILES

from .bases import KnowledgeBases
from .engine_ingestion import EngineIngestion
from .file_versions import FileCancelled
from .ingestion import Ingestion
from .ports import KnowledgeFailed
from .records import KnowledgeRecords, update_file
from .reembedding import Reembedding

KIND = "knowledge"
MAX_REASON_CHARACTERS = 500
DAY_MILLISECONDS = 24 * 3600 * 1000
MAX_ATTEMPTS = 5
"""Attempts of a file whose failure may pass, such as that of an embedding service."""


class KnowledgeJobs:
    """Enqueues and runs the jobs of bases."""

    def __init__(
        self,
        jobs: Jobs,
        bases: KnowledgeBases,
        ingestion: Ingestion,
        engine_ingestion: EngineIngestion,
        reembedding: Reembedding,
        journal: Journal,
        clock: Clock,
    ) -> None:
        self._jobs = jobs
        self._bases = bases
        self._ingestion = ingestion
        self._reembedding = reembedding
        self._engine_ingestion = engine_ingestion
        self._journal = journal
        self._records = KnowledgeRecords(journal)
        self._clock = clock

    def ingest(self, file: BaseFile, job_id: JobId, content: Mapping[str, Any] | None = None) -> Insert:
        """Takes up a new version of a file, with other content if there is any. Call `wake` after the commit."""
        payload = {"task": "ingest", "file_id": file.file_id, "generation": file.generation + 1}
        if content:
            payload["content"] = dict(content)
        return self._jobs.enqueue(KIND, file.kb_id, payload, job_id=job_id, max_attempts=MAX_ATTEMPTS)

    def refresh(self, file: BaseFile, last: int) -> list[Statement]:
        """Fetches a web page again some days from now; `last` is when that was done. Nothing for other files."""
        if not file.refresh_days:
            return []
        payload = {"task": "refresh", "file_id": file.file_id, "last": last}
        due = self._clock.now() + file.refresh_days * DAY_MILLISECONDS
        return [self._jobs.enqueue(KIND, f"refresh:{file.file_id}", payload, not_before=due)]

    def clean_file(self, file: BaseFile, generations: Sequence[int]) -> Insert:
        """Deletes the passages and vectors of versions of a file that can't be found any more."""
        payload = {"task": "clean", "file_id": file.file_id, "generations": list(generations)}
        return self._jobs.enqueue(KIND, file.kb_id, payload)

    def clean_base(self, base: KnowledgeBase) -> Insert:
        """Deletes the passages and vectors of a deleted base, or what the engine of a plugin has of it."""
        if not base.is_builtin:
            payload: dict[str, Any] = {
                "task": "clean_engine",
                "engine": base.engine,
                "config": dict(base.engine_config),
            }
            return self._jobs.enqueue(KIND, base.kb_id, payload, max_attempts=MAX_ATTEMPTS)
        generations = [base.generation, base.generation + 1]
        names = [replace(base, generation=each).collection for each in generations]
        used = [base.store, *((base.next_store,) if base.next_store else ())]
        payload = {"task": "clean_base", "collections": names, "stores": used}
        return self._jobs.enqueue(KIND, base.kb_id, payload, max_attempts=MAX_ATTEMPTS)

    def reembed(self, base: KnowledgeBase) -> Insert:
        """Makes all vectors of a base again, beside those that are searched."""
        return self._jobs.enqueue(KIND, base.kb_id, {"task": "reembed"}, max_attempts=MAX_ATTEMPTS)

    def embed_chunk(self, kb_id: KnowledgeBaseId, chunk_id: str) -> Insert:
        """Makes the vector of a passage again after it was changed, switched on or off."""
        return self._jobs.enqueue(KIND, kb_id, {"task": "chunk", "chunk_id": chunk_id}, max_attempts=MAX_ATTEMPTS)

    async def start_reembedding(
        self, base: KnowledgeBase, state: str = "reembedding", *extra_statements: Statement
    ) -> None:
        """Starts to make all vectors of a base again; `state` says why."""
        mark = Update(KNOWLEDGE_BASES, {"state": state}, where(kb_id=base.kb_id))
        statements = (mark, self.reembed(base), *extra_statements)
        await self._journal.commit(Unit("knowledge_base.reembed", statements))
        self.wake(base.kb_id)

    async def rebuild_missing_vectors(self) -> list[KnowledgeBase]:
        """Starts to make the vectors of bases again that have lost them, and returns these bases."""
        rebuilt = []
        for row in await self._records.base_rows():
            base = self._bases.get(row["kb_id"])
            if base is None or not base.is_builtin or not row["chunks"] or row["state"]:
                continue
            if await self._reembedding.lacks_vectors(base):
                await self.start_reembedding(base, "rebuilding")
                rebuilt.append(base)
        return rebuilt

    def wake(self, kb_id: KnowledgeBaseId) -> None:
        self._jobs.wake(KIND, kb_id)

    async def run(self, job: Job, progress: JobProgress) -> JobResult:
        """Makes one attempt."""
        tasks: dict[str, Callable[[Job, JobProgress], Awaitable[JobResult]]] = {
            "ingest": self._ingest,
            "refresh": self._refresh,
            "clean": self._clean,
            "clean_base": self._clean_base,
            "clean_engine": self._clean_engine,
            "reembed": self._reembed,
            "drop": self._drop,
            "chunk": self._embed_chunk,
        }
        try:
            return await tasks[job.payload["task"]](job, progress)
        except KnowledgeFailed as failure:
            if failure.retryable and job.attempts < MAX_ATTEMPTS:
                return JobRetry(failure.message)
            return await self._fail(job, failure)

    def on_failed(self, job: Job, reason: str) -> Sequence[Statement]:
        """Marks the file of a job that is given up or cancelled, and deletes what it has written."""
        if job.payload["task"] != "ingest":
            return ()
        file_id, generation = KnowledgeFileId(job.payload["file_id"]), job.payload["generation"]
        payload = {"task": "clean", "file_id": file_id, "generations": [generation]}
        clean = self._jobs.enqueue(KIND, job.order_key, payload)
        code = "cancelled" if job.cancel_requested_at or job.attempts < job.max_attempts else "parse.failed"
        return [_mark_failed(file_id, generation, KnowledgeFailed(code, reason), self._clock.now()), clean]

    async def _ingest(self, job: Job, progress: JobProgress) -> JobResult:
        base, file = await self._find(job)
        if base is None or file is None or file.generation >= job.payload["generation"]:
            return JobDone()
        if file.job_id != job.job_id:
            return JobDone()  # it was replaced since; a later job takes up the new content
        described = replace(file, **job.payload.get("content", {}))
        try:
            taken = await self._of(base).run(base, file, described, progress)
        except FileCancelled:
            if progress.is_cancelled:
                reason = "an operator cancelled it"
                return JobFailed(reason, self.on_failed(job, reason))
            return JobDone()
        clean = [self.clean_file(file, [file.generation])] if file.generation and taken.is_new_version else []
        return JobDone(commit=self._finish([*taken.statements, *clean, *self.refresh(file, self._clock.now())]))

    async def _refresh(self, job: Job, progress: JobProgress) -> JobResult:
        """Begins to take up a web page again, if it was not since."""
        file = await self._records.file(KnowledgeFileId(job.payload["file_id"]))
        is_busy = file is None or file.state in ("pending", "processing")
        if file is None or is_busy or not file.refresh_days or file.refreshed_at > job.payload["last"]:
            return JobDone()
        payload = {"task": "ingest", "file_id": file.file_id, "generation": file.generation + 1}
        ingest = self._jobs.enqueue(KIND, file.kb_id, payload, max_attempts=MAX_ATTEMPTS)
        mark = update_file(file, self._clock.now(), state="pending", job_id=str(ingest.values["job_id"]))
        finish = self._finish([mark, ingest])

        async def commit(unit: UnitBuilder) -> None:
            await finish(unit)
            self.wake(file.kb_id)

        return JobDone(commit=commit)

    def _finish(self, statements: Sequence[Statement]) -> Callable[[UnitBuilder], Awaitable[None]]:
        async def commit(unit: UnitBuilder) -> None:
            unit.add(*statements)
            try:
                await self._journal.commit(unit.build())
            except GuardFailed:  # the file was deleted just now, or its job ended otherwise
                ending = unit.build().statements[: -len(statements)]
                await self._journal.commit(Unit(unit.name, ending))

        return commit

    async def _clean(self, job: Job, progress: JobProgress) -> JobResult:
        file_id = KnowledgeFileId(job.payload["file_id"])
        base = self._bases.get(KnowledgeBaseId(job.order_key))
        if base is not None:
            await self._of(base).clean(base, file_id, job.payload["generations"])
        return JobDone()

    async def _clean_base(self, job: Job, progress: JobProgress) -> JobResult:
        kb_id, payload = KnowledgeBaseId(job.order_key), job.payload
        await self._ingestion.drop(kb_id, payload.get("stores", [BUILTIN_STORE]), payload["collections"])
        return JobDone()

    async def _clean_engine(self, job: Job, progress: JobProgress) -> JobResult:
        await self._engine_ingestion.drop(KnowledgeBaseId(job.order_key), job.payload["engine"], job.payload["config"])
        return JobDone()

    def _of(self, base: KnowledgeBase) -> Ingestion | EngineIngestion:
        return self._ingestion if base.is_builtin else self._engine_ingestion

    async def _reembed(self, job: Job, progress: JobProgress) -> JobResult:
        base = self._bases.get(KnowledgeBaseId(job.order_key))
        if base is None:
            return JobDone()
        before = {"task": "drop", "store": base.store, "collection": base.collection}
        clean = self._jobs.enqueue(KIND, base.kb_id, before, max_attempts=MAX_ATTEMPTS)
        return await self._reembedding.run(base, progress, clean)

    async def _drop(self, job: Job, progress: JobProgress) -> JobResult:
        await self._reembedding.drop(job.payload["store"], job.payload["collection"])
        return JobDone()

    async def _embed_chunk(self, job: Job, progress: JobProgress) -> JobResult:
        base = self._bases.get(KnowledgeBaseId(job.order_key))
        if base is not None:
            await self._reembedding.embed_chunk(base, job.payload["chunk_id"])
        return JobDone()

    async def _fail(self, job: Job, failure: KnowledgeFailed) -> JobResult:
        if job.payload["task"] != "ingest":
            return JobFailed(failure.message)
        file_id, generation = KnowledgeFileId(job.payload["file_id"]), job.payload["generation"]
        mark = _mark_failed(file_id, generation, failure, self._clock.now())
        file = await self._records.file(file_id)
        again = [] if file is None else self.refresh(file, max(file.refreshed_at, self._clock.now()))
        return JobFailed(failure.message, [mark, *again])

    async def _find(self, job: Job) -> tuple[KnowledgeBase | None, BaseFile | None]:
        file = await self._records.file(KnowledgeFileId(job.payload["file_id"]))
        return self._bases.get(KnowledgeBaseId(job.order_key)), file


def _mark_failed(file_id: KnowledgeFileId, generation: int, failure: KnowledgeFailed, now: int) -> Update:
    values: dict[str, Any] = {
        "state": "failed",
        "error_code": failure.code,
        "error": failure.message[:500],
        "updated_at": now,
    }
    older = where(file_id=file_id, generation=generation - 1)
    return Update(KNOWLEDGE_FILES, values, older, expect=ANY)
