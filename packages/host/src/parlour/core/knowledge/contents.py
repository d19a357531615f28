"""Brings the content of a base's files to the disk: from the artifact of an upload, or from the web."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from parlour.core.journal import ANY, Delete, Journal, Unit, where
from parlour.core.model.ids import ArtifactId, BindingId
from parlour.core.model.knowledge import BaseFile, KnowledgeBase
from parlour.core.model.ports import Clock
from parlour.core.model.providers import ProviderFailed
from parlour.core.store.artifact_service import ArtifactService, LinkFetcher
from parlour.core.store.artifacts import Artifact, ArtifactInfo, ArtifactScope
from parlour.core.store.retention_queries import KNOWLEDGE_SOURCE
from parlour.core.store.tables import ARTIFACTS
from parlour_sdk.values import dataclass

from .ports import FileParser, KnowledgeFailed
from .records import KnowledgeRecords

HEAD_BYTES = 4096
UNUSED_MILLISECONDS = 7 * 24 * 3600 * 1000
"""Milliseconds for which content is kept that no version of a file uses yet."""


@dataclass(frozen=True, slots=True)
class KnowledgeQuotas:
    """Limits of one file, one base, and all bases together."""

    file_bytes: int = 50 * 1024 * 1024
    files: int = 10_000
    """Files of one base."""
    chunks: int = 200_000
    """Passages of one base."""
    total_bytes: int = 5 * 1024 * 1024 * 1024
    """Bytes of the files of all bases."""


class StoredContents:
    """Stores and reads the content of files."""

    def __init__(
        self,
        journal: Journal,
        artifacts: ArtifactService,
        fetcher: LinkFetcher,
        parser: FileParser,
        clock: Clock,
        quotas: KnowledgeQuotas,
        work_folder: Path,
    ) -> None:
        self._journal = journal
        self._artifacts = artifacts
        self._fetcher = fetcher
        self._parser = parser
        self._clock = clock
        self._quotas = quotas
        self._work_folder = work_folder
        self._records = KnowledgeRecords(journal)

    async def check_quotas(self, base: KnowledgeBase) -> None:
        """Raises KnowledgeFailed if the base may have no further file."""
        rows = await self._records.base_rows()
        own = next((row for row in rows if row["kb_id"] == base.kb_id), None)
        if own is not None and own["files"] >= self._quotas.files:
            raise KnowledgeFailed("quota", f"a base has at most {self._quotas.files} files; delete some first")
        if sum(row["bytes"] for row in rows) >= self._quotas.total_bytes:
            limit = self._quotas.total_bytes // 1024 // 1024
            raise KnowledgeFailed("quota", f"all bases together have at most {limit} MiB of files; delete some first")

    async def store(
        self, base: KnowledgeBase, file: BaseFile, blocks: AsyncIterator[bytes], expires: bool
    ) -> tuple[Artifact, str]:
        """Stores content and returns the artifact, whose row the caller commits, with the type of the file.

        Raises KnowledgeFailed if no parser reads it.
        """
        upload = await self._artifacts.start_upload()
        size = 0
        try:
            async for block in blocks:
                size += len(block)
                if size > self._quotas.file_bytes:
                    limit = self._quotas.file_bytes // 1024 // 1024
                    raise KnowledgeFailed("file.too_large", f"a file of a base has at most {limit} MiB")
                await upload.write(block)
            if not size:
                raise KnowledgeFailed("file.no_text", "the file is empty")
            parser = base.parser_of(file)
            found = self._parser.detect(upload.head[:HEAD_BYTES], file.name, file.mime_type, parser)
            if found is None:
                raise KnowledgeFailed("file.type", "files of this type can't be taken up; it takes text and documents")
            expires_at = self._clock.now() + UNUSED_MILLISECONDS if expires else 0
            info = ArtifactInfo("file", file.name, found, KNOWLEDGE_SOURCE, expires_at)
            scope = ArtifactScope(binding_id=BindingId(base.kb_id))
            return await self._artifacts.finish_upload(upload, info, scope), found
        except BaseException:
            upload.abort()
            raise

    @asynccontextmanager
    async def fetch(self, base: KnowledgeBase, file: BaseFile) -> AsyncIterator[tuple[Path, BaseFile]]:
        if file.source == "url":
            file = await self._download(base, file)
        with tempfile.TemporaryDirectory(dir=self._work_folder) as folder:
            path = Path(folder, "content")
            await self._copy(file, path)
            yield path, file

    async def _copy(self, file: BaseFile, path: Path) -> None:
        artifact = await self._artifacts.get(ArtifactId(file.artifact_id))
        if artifact is None:
            raise KnowledgeFailed("file.missing", "the content of the file is gone; upload it again")
        try:
            artifact = await self._artifacts.ensure_local(artifact)
            with path.open("wb") as target:
                async for block in self._artifacts.stream(artifact, 0, artifact.size_bytes):
                    target.write(block)
        except ProviderFailed as failure:
            raise KnowledgeFailed("file.missing", failure.message, failure.retryable) from failure
        except OSError as error:
            message = f"the file can't be read to the disk: {error.strerror}"
            raise KnowledgeFailed("storage_failed", message, retryable=True) from error

    async def forget(self, file: BaseFile, fetched: BaseFile) -> None:
        if fetched.source == "url" and fetched.artifact_id != file.artifact_id:
            unused = where(artifact_id=fetched.artifact_id, source=KNOWLEDGE_SOURCE)
            await self._journal.commit(Unit("knowledge.forget", (Delete(ARTIFACTS, unused, expect=ANY),)))

    async def _download(self, base: KnowledgeBase, file: BaseFile) -> BaseFile:
        try:
            blocks = self._fetcher.fetch("url", file.address)
            artifact, mime_type = await self.store(base, replace(file, mime_type="text/html"), blocks, expires=True)
        except ProviderFailed as failure:
            code = "file.too_large" if failure.code == "payload_too_large" else "page.unreachable"
            raise KnowledgeFailed(code, failure.message, failure.retryable) from failure
        await self._journal.commit(Unit("knowledge.fetch", (artifact.insert(),)))
        return replace(
            file,
            artifact_id=artifact.artifact_id,
            sha256=artifact.sha256,
            size_bytes=artifact.size_bytes,
            mime_type=mime_type,
        )
