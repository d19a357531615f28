"""Stores artifacts, streams their content to callers that may see them, and deletes objects that no artifact uses."""

import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Protocol

from parlour.core.journal import Journal, Select, Unit, one_of, where
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.providers import ProviderFailed
from parlour_sdk.values import dataclass

from . import artifacts
from .artifacts import Artifact, Description, Location, Place, plain_name, restore
from .media_types import decide
from .objects import ObjectMissing, ObjectStore, Stored
from .tables import ARTIFACTS
from .uploads import Incoming, Quota

logger = logging.getLogger(__name__)

RANGE_BYTES = 10 * 1024 * 1024
"""Largest range in bytes that is read into memory by one call."""
GRACE_MILLISECONDS = 3600 * 1000
"""Age below which an object without a row is not an orphan, since its row may still be committed."""
LOOKED_UP_AT_ONCE = 100
"""Number of objects whose rows are looked up by one query."""
FAILED_LINK_MILLISECONDS = 60 * 1000
"""Time before a failed link is fetched again; every model call of a conversation would otherwise fetch it."""
MOST_FAILED_LINKS = 1000
"""Number of failed links that are remembered; the oldest is dropped first."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Limits in bytes: of one artifact, and of all artifacts together."""

    artifact_bytes: int = 100 * 1024 * 1024
    quota_bytes: int = 10 * 1024 * 1024 * 1024


class Fetcher(Protocol):
    """Downloads the content of an artifact that is stored as a link."""

    def fetch(self, location: Location, reference: str) -> AsyncIterator[bytes]: ...


class NoFetcher:
    """Fetcher of a Host that downloads no links."""

    def fetch(self, location: Location, reference: str) -> AsyncIterator[bytes]:
        raise ProviderFailed("not_supported", "this file is kept as a link, and this Host does not fetch links")


class Artifacts:
    """Stores, reads and deletes artifacts."""

    def __init__(
        self, journal: Journal, objects: ObjectStore, fetcher: Fetcher, ids: Ids, clock: Clock, sizes: Sizes
    ) -> None:
        self._journal = journal
        self._objects = objects
        self._fetcher = fetcher
        self._ids = ids
        self._clock = clock
        self._limit = sizes.artifact_bytes
        self._quota = Quota(sizes.quota_bytes, journal)
        self._failed_links: dict[str, tuple[int, ProviderFailed]] = {}

    async def begin(self) -> Incoming:
        """Starts an upload. The caller writes the content, then calls `finish_upload`."""
        await self._quota.ready()
        return Incoming(await self._objects.begin(), self._quota, self._limit)

    async def made(
        self, incoming: Incoming, description: Description, place: Place, owner: str = "", sha256: str = ""
    ) -> Artifact:
        """Completes an upload. The content is durable then; the caller commits the row.

        A given `sha256` must be the digest of the content.
        """
        stored = await incoming.finish()
        if sha256 and sha256.lower() != stored.sha256:
            incoming.abandon()
            raise ProviderFailed("invalid_argument", "sha256 is not the digest of what was sent; send it again")
        described = _described(description, incoming.head)
        return Artifact(
            self._ids.new(), described, place, self._clock.now(), stored.sha256, stored.size_bytes, reference=owner
        )

    async def keep(self, content: bytes, description: Description, place: Place) -> Artifact:
        """Stores content that is in memory. The caller commits the row."""
        incoming = await self.begin()
        await incoming.write(content)
        return await self.made(incoming, description, place)

    def linked(self, url: str, description: Description, place: Place) -> Artifact:
        """Creates an artifact that is downloaded when it is first read. The caller commits the row."""
        described = replace(description, name=plain_name(description.name))
        return Artifact(self._ids.new(), described, place, self._clock.now(), location="url", reference=url)

    async def find(self, artifact_id: str) -> Artifact | None:
        """Returns an artifact that has not expired."""
        rows = await self._journal.read(Select(ARTIFACTS, where(artifact_id=artifact_id), limit=1, few=True))
        if not rows or 0 < rows[0]["expires_at"] <= self._clock.now():
            return None
        return restore(rows[0])

    async def visible(self, artifact_id: str, place: Place) -> Artifact:
        """Returns an artifact that a run in this scope may see; any other one is reported as not found."""
        artifact = await self.find(artifact_id)
        if artifact is None or not place.sees(artifact.place):
            raise ProviderFailed("not_found", f"there is no artifact '{artifact_id[:64]}'")
        return artifact

    async def present(self, artifact: Artifact) -> Artifact:
        """Downloads a link and checks that the content is complete in the object store. Raises ProviderFailed."""
        if artifact.location != "object":
            artifact = await self._fetched_once(artifact)
        size = await self._objects.size(artifact.sha256)
        if size != artifact.size_bytes:
            found = "missing" if size is None else f"damaged: {size} of {artifact.size_bytes} bytes are there"
            logger.error("object %s of artifact %s is %s", artifact.sha256, artifact.artifact_id, found)
            raise ProviderFailed("runtime_error", f"the content of artifact '{artifact.artifact_id}' is {found}")
        return artifact

    async def stream(self, artifact: Artifact, offset: int, length: int) -> AsyncIterator[bytes]:
        """Streams a range of an artifact that was passed to `ensure_local`."""
        try:
            async for piece in self._objects.stream(artifact.sha256, offset, length):
                yield piece
        except ObjectMissing as missing:
            sentence = f"the content of artifact '{artifact.artifact_id}' is missing"
            raise ProviderFailed("runtime_error", sentence) from missing

    async def read(self, artifact: Artifact, offset: int, length: int) -> bytes:
        """Reads a range of an artifact that was passed to `ensure_local`."""
        if length > RANGE_BYTES:
            raise ProviderFailed("payload_too_large", f"read at most {RANGE_BYTES} bytes at once")
        return b"".join([piece async for piece in self.stream(artifact, offset, length)])

    async def remove(self, artifact: Artifact) -> None:
        """Deletes an artifact. Raises GuardFailed.

        The next clean-up deletes its content, unless another artifact has the same content.
        """
        await self._journal.commit(Unit("artifact.delete", (artifacts.remove(artifact.artifact_id),)))
        self._quota.give_back(artifact.size_bytes)

    async def collect_orphans(self, grace: int = GRACE_MILLISECONDS) -> list[Stored]:
        """Deletes objects that no artifact refers to and that are older than the grace period; returns them."""
        before = self._clock.now() - grace
        collected: list[Stored] = []
        batch: list[Stored] = []
        async for kept in self._objects.all():
            if kept.written_at < before:
                batch.append(Stored(kept.sha256, kept.size_bytes))
            if len(batch) == LOOKED_UP_AT_ONCE:
                collected += await self._collect(batch, before)
                batch = []
        collected += await self._collect(batch, before)
        await self._quota.recount()
        return collected

    async def _collect(self, batch: list[Stored], before: int) -> list[Stored]:
        if not batch:
            return []
        digests = one_of(*(each.sha256 for each in batch))
        named = {
            row["sha256"] for row in await self._journal.read(Select(ARTIFACTS, where(sha256=digests), ("sha256",)))
        }
        orphans = [each for each in batch if each.sha256 not in named]
        return [each for each in orphans if await self._objects.delete(each.sha256, before)]

    async def _fetched_once(self, artifact: Artifact) -> Artifact:
        """Downloads a link, or raises its last failure again if that was recent."""
        until, failure = self._failed_links.get(artifact.artifact_id, (0, None))
        if failure is not None and self._clock.now() < until:
            raise failure
        try:
            return await self._fetched(artifact)
        except ProviderFailed as failed:
            if len(self._failed_links) >= MOST_FAILED_LINKS:
                self._failed_links.pop(next(iter(self._failed_links)))
            self._failed_links[artifact.artifact_id] = self._clock.now() + FAILED_LINK_MILLISECONDS, failed
            raise

    async def _fetched(self, artifact: Artifact) -> Artifact:
        incoming = await self.begin()
        try:
            async for block in self._fetcher.fetch(artifact.location, artifact.reference):
                await incoming.write(block)
        except BaseException:
            incoming.abandon()
            raise
        made = await self.made(incoming, artifact.description, artifact.place)
        here = replace(
            artifact,
            description=made.description,
            sha256=made.sha256,
            size_bytes=made.size_bytes,
            location="object",
        )
        await self._journal.commit(Unit("artifact.fetch", (artifacts.fetched(here),)))
        return here


def _described(said: Description, head: bytes) -> Description:
    """Corrects the declared media type by the content, and notes a wrong declaration in the metadata."""
    found = decide(head, said.mime_type)
    declared = said.mime_type.partition(";")[0].strip().lower()
    noted = {"declared_mime_type": said.mime_type[:100]} if declared and declared != found else {}
    return replace(said, name=plain_name(said.name), mime_type=found, metadata={**said.metadata, **noted})
