"""Units that make a new version of a file visible, or say what becomes of it."""

from collections.abc import Sequence
from dataclasses import replace

from parlour.core.jobs.progress import JobProgress
from parlour.core.journal import GuardFailed, Journal, Statement, Unit, Update, where
from parlour.core.model.knowledge import BaseFile, KnowledgeBase
from parlour.core.store.tables import KNOWLEDGE_BASES
from parlour_sdk.values import dataclass

from . import records

CONTENT_FIELDS = ("artifact_id", "sha256", "size_bytes", "mime_type")
"""What a file's content decides, and a new version replaces."""


class FileCancelled(Exception):
    """Raised when a file was deleted or its job cancelled during the work."""


@dataclass(frozen=True, slots=True)
class NewVersion:
    """What was made of a file."""

    chunks: int
    pages: int = 0
    parser: str = ""


@dataclass(frozen=True, slots=True)
class TakenUp:
    """The statements that end the work on a file, and whether they replace the version that was found before."""

    statements: Sequence[Statement]
    is_new_version: bool = True


class LeaseLost(FileCancelled):
    """Raised when another Host has taken over the work, so that nothing of it may be changed here."""


async def mark_processing(journal: Journal, file: BaseFile, progress: JobProgress, now: int) -> None:
    """Raises FileCancelled if the file was deleted or changed, and LeaseLost."""
    await check_lease(journal, progress)
    update = records.update_file(file, now, state="processing", error_code="", error="")
    try:
        await journal.commit(Unit("knowledge.begin", (update, *progress.guards)))
    except GuardFailed:
        raise FileCancelled from None


async def check_lease(journal: Journal, progress: JobProgress) -> None:
    """Raises LeaseLost if another Host has taken over the job, such as while this one was paused."""
    if not progress.guards:
        return
    try:
        await journal.commit(Unit("knowledge.check_lease", tuple(progress.guards), can_batch=True))
    except GuardFailed:
        raise LeaseLost from None


def is_unchanged(file: BaseFile, fetched: BaseFile) -> bool:
    """Returns whether a web page has the content that its passages were made of, and is only to be looked at again."""
    return bool(file.refresh_days and file.generation and not file.error_code and fetched.sha256 == file.sha256)


def keep_visible(file: BaseFile, now: int) -> TakenUp:
    """Keeps the version there is: the content has not changed."""
    kept = records.update_file(file, now, state="completed", error_code="", error="", refreshed_at=now)
    return TakenUp([kept], is_new_version=False)


def make_visible(base: KnowledgeBase, before: BaseFile, file: BaseFile, version: NewVersion, now: int) -> TakenUp:
    """Replaces the version before by a new one."""
    is_new = not before.generation
    content = {name: getattr(file, name) for name in CONTENT_FIELDS}
    done = records.update_file(
        before,
        now,
        generation=before.generation + 1,
        state="completed",
        chunks=version.chunks,
        pages=version.pages,
        parser=version.parser,
        error_code="",
        error="",
        refreshed_at=now,
        **content,
    )
    done = replace(done, where=(*done.where, *where(job_id=before.job_id)))  # not if it is to be replaced meanwhile
    size = file.size_bytes if is_new else file.size_bytes - before.size_bytes
    counted = records.count_change(base.kb_id, int(is_new), version.chunks - before.chunks, size)
    same_vectors = Update(KNOWLEDGE_BASES, {"updated_at": now}, where(kb_id=base.kb_id, generation=base.generation))
    return TakenUp([done, counted, same_vectors, *records.keep_content(before, file)])
