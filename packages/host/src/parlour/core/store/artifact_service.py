"""Stores artifacts, streams their content to callers that may see them, and deletes objects that no artifact uses."""

import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Protocol

from parlour.core.journal import Journal, Select, Unit, one_of, where
from parlour.core.model.ids import ArtifactId
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.providers import ProviderFailed
from parlour_sdk.values import dataclass

from . import artifacts
from .artifacts import Artifact, ArtifactInfo, ArtifactScope, Location, from_row, safe_file_name
from .media_types import detect_media_type
from .objects import ObjectInfo, ObjectMissing, ObjectStore
from .tables import ARTIFACTS
from .uploads import ArtifactWriter, Quota

logger = logging.getLogger(__name__)

MAX_READ_BYTES = 10 * 1024 * 1024
"""Largest range in bytes that is read into memory by one call."""
GRACE_MILLISECONDS = 3600 * 1000
"""Age below which an object without a row is not an orphan, since its row may still be committed."""
LOOKUP_BATCH_OBJECTS = 100
"""Number of objects whose rows are looked up by one query."""
FAILED_LINK_RETRY_MILLISECONDS = 60 * 1000
"""Time before a failed link is fetched again; every model call of a conversation would otherwise fetch it."""
MAX_FAILED_LINKS = 1000
"""Number of failed links that are remembered; the oldest is dropped first."""


@dataclass(frozen=True, slots=True)
class ArtifactLimits:
    """Limits in bytes: of one artifact, and of all artifacts together."""

    artifact_bytes: int = 100 * 1024 * 1024
    quota_bytes: int = 10 * 1024 * 1024 * 1024


class LinkFetcher(Protocol):
    """Downloads the content of an artifact that is stored as a link."""

    def fetch(self, location: Location, reference: str) -> AsyncIterator[bytes]: ...


class NullLinkFetcher:
    """Fetcher of a Host that downloads no links."""

    def fetch(self, location: Location, reference: str) -> AsyncIterator[bytes]:
        raise ProviderFailed("not_supported", "this file is kept as a link, and this Host does not fetch links")


class ArtifactService:
    """Stores, reads and deletes artifacts."""

    def __init__(
        self,
        journal: Journal,
        objects: ObjectStore,
        fetcher: LinkFetcher,
        ids: Ids,
        clock: Clock,
        sizes: ArtifactLimits,
    ) -> None:
        self._journal = journal
        self._objects = objects
        self._fetcher = fetcher
        self._ids = ids
        self._clock = clock
        self._limit = sizes.artifact_bytes
        self._quota = Quota(sizes.quota_bytes, journal)
        self._failed_links: dict[ArtifactId, tuple[int, ProviderFailed]] = {}

    async def start_upload(self) -> ArtifactWriter:
        """Starts an upload. The caller writes the content, then calls `finish_upload`."""
        await self._quota.ensure_counted()
        return ArtifactWriter(await self._objects.open_writer(), self._quota, self._limit)

    async def finish_upload(
        self,
        upload: ArtifactWriter,
        description: ArtifactInfo,
        scope: ArtifactScope,
        owner: str = "",
        sha256: str = "",
    ) -> Artifact:
        """Completes an upload. The content is durable then; the caller commits the row.

        A given `sha256` must be the digest of the content.
        """
        stored = await upload.finish()
        if sha256 and sha256.lower() != stored.sha256:
            upload.abort()
            raise ProviderFailed("invalid_argument", "sha256 is not the digest of what was sent; send it again")
        info = _with_detected_type(description, upload.head)
        return Artifact(
            ArtifactId(self._ids.new()),
            info,
            scope,
            self._clock.now(),
            stored.sha256,
            stored.size_bytes,
            reference=owner,
        )

    async def store(self, content: bytes, description: ArtifactInfo, scope: ArtifactScope) -> Artifact:
        """Stores content that is in memory. The caller commits the row."""
        upload = await self.start_upload()
        await upload.write(content)
        return await self.finish_upload(upload, description, scope)

    def create_link(self, url: str, description: ArtifactInfo, scope: ArtifactScope) -> Artifact:
        """Creates an artifact that is downloaded when it is first read. The caller commits the row."""
        info = replace(description, name=safe_file_name(description.name))
        return Artifact(ArtifactId(self._ids.new()), info, scope, self._clock.now(), location="url", reference=url)

    async def get(self, artifact_id: ArtifactId) -> Artifact | None:
        """Returns an artifact that has not expired."""
        rows = await self._journal.read(Select(ARTIFACTS, where(artifact_id=artifact_id), limit=1, point_read=True))
        if not rows or 0 < rows[0]["expires_at"] <= self._clock.now():
            return None
        return from_row(rows[0])

    async def get_visible(self, artifact_id: ArtifactId, scope: ArtifactScope) -> Artifact:
        """Returns an artifact that a run in this scope may see; any other one is reported as not found."""
        artifact = await self.get(artifact_id)
        if artifact is None or not scope.can_see(artifact.scope):
            raise ProviderFailed("not_found", f"there is no artifact '{artifact_id[:64]}'")
        return artifact

    async def ensure_local(self, artifact: Artifact) -> Artifact:
        """Downloads a link and checks that the content is complete in the object store. Raises ProviderFailed."""
        if artifact.location != "object":
            artifact = await self._fetch_unless_failed(artifact)
        size = await self._objects.size(artifact.sha256)
        if size != artifact.size_bytes:
            problem = "missing" if size is None else f"damaged: {size} of {artifact.size_bytes} bytes are there"
            logger.error("object %s of artifact %s is %s", artifact.sha256, artifact.artifact_id, problem)
            raise ProviderFailed("runtime_error", f"the content of artifact '{artifact.artifact_id}' is {problem}")
        return artifact

    async def stream(self, artifact: Artifact, offset: int, length: int) -> AsyncIterator[bytes]:
        """Streams a range of an artifact that was passed to `ensure_local`."""
        try:
            async for chunk in self._objects.stream(artifact.sha256, offset, length):
                yield chunk
        except ObjectMissing as missing:
            message = f"the content of artifact '{artifact.artifact_id}' is missing"
            raise ProviderFailed("runtime_error", message) from missing

    async def read(self, artifact: Artifact, offset: int, length: int) -> bytes:
        """Reads a range of an artifact that was passed to `ensure_local`."""
        if length > MAX_READ_BYTES:
            raise ProviderFailed("payload_too_large", f"read at most {MAX_READ_BYTES} bytes at once")
        return b"".join([chunk async for chunk in self.stream(artifact, offset, length)])

    async def remove(self, artifact: Artifact) -> None:
        """Deletes an artifact. Raises GuardFailed.

        The next clean-up deletes its content, unless another artifact has the same content.
        """
        await self._journal.commit(Unit("artifact.delete", (artifacts.remove(artifact.artifact_id),)))
        self._quota.release(artifact.size_bytes)

    async def collect_orphans(self, grace: int = GRACE_MILLISECONDS) -> list[ObjectInfo]:
        """Deletes objects that no artifact refers to and that are older than the grace period; returns them."""
        cutoff = self._clock.now() - grace
        collected: list[ObjectInfo] = []
        batch: list[ObjectInfo] = []
        async for stored_object in self._objects.all():
            if stored_object.written_at < cutoff:
                batch.append(ObjectInfo(stored_object.sha256, stored_object.size_bytes))
            if len(batch) == LOOKUP_BATCH_OBJECTS:
                collected += await self._collect(batch, cutoff)
                batch = []
        collected += await self._collect(batch, cutoff)
        await self._quota.recount()
        return collected

    async def _collect(self, batch: list[ObjectInfo], cutoff: int) -> list[ObjectInfo]:
        if not batch:
            return []
        digests = one_of(*(each.sha256 for each in batch))
        referenced = {
            row["sha256"] for row in await self._journal.read(Select(ARTIFACTS, where(sha256=digests), ("sha256",)))
        }
        orphans = [each for each in batch if each.sha256 not in referenced]
        return [each for each in orphans if await self._objects.delete(each.sha256, cutoff)]

    async def _fetch_unless_failed(self, artifact: Artifact) -> Artifact:
        """Downloads a link, or raises its last failure again if that was recent."""
        until, failure = self._failed_links.get(artifact.artifact_id, (0, None))
        if failure is not None and self._clock.now() < until:
            raise failure
        try:
            return await self._fetch(artifact)
        except ProviderFailed as new_failure:
            if len(self._failed_links) >= MAX_FAILED_LINKS:
                self._failed_links.pop(next(iter(self._failed_links)))
            self._failed_links[artifact.artifact_id] = self._clock.now() + FAILED_LINK_RETRY_MILLISECONDS, new_failure
            raise

    async def _fetch(self, artifact: Artifact) -> Artifact:
        upload = await self.start_upload()
        try:
            async for block in self._fetcher.fetch(artifact.location, artifact.reference):
                await upload.write(block)
        except BaseException:
            upload.abort()
            raise
        uploaded = await self.finish_upload(upload, artifact.info, artifact.scope)
        local = replace(
            artifact,
            info=uploaded.info,
            sha256=uploaded.sha256,
            size_bytes=uploaded.size_bytes,
            location="object",
        )
        await self._journal.commit(Unit("artifact.fetch", (artifacts.mark_fetched(local),)))
        return local


def _with_detected_type(info: ArtifactInfo, head: bytes) -> ArtifactInfo:
    """Corrects the declared media type by the content, and notes a wrong declaration in the metadata."""
    detected = detect_media_type(head, info.mime_type)
    declared = info.mime_type.partition(";")[0].strip().lower()
    note = {"declared_mime_type": info.mime_type[:100]} if declared and declared != detected else {}
    return replace(info, name=safe_file_name(info.name), mime_type=detected, metadata={**info.metadata, **note})
