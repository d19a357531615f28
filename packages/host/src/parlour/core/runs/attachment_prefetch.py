"""Downloads the files of a platform message before its run starts, because links of a platform expire.

The run waits only a limited time. A file that was not downloaded by then is fetched when it is read, or the reader gets
the reason why it is not available.
"""

import asyncio
import logging

from parlour.core.delivery.targets import PLATFORM
from parlour.core.journal import StorageFailed
from parlour.core.model.ids import ArtifactId
from parlour.core.model.providers import ProviderFailed
from parlour.core.store.artifact_service import ArtifactService

from .session import RunSession

logger = logging.getLogger(__name__)

PREFETCH_TIMEOUT_SECONDS = 10.0
"""Maximum seconds that a run waits for the files of its message."""


class AttachmentPrefetcher:
    """Downloads the files of the message that a run answers."""

    def __init__(self, artifacts: ArtifactService) -> None:
        self._artifacts = artifacts

    async def prefetch(self, session: RunSession) -> None:
        """Downloads the files concurrently. Returns immediately if the run is stopped."""
        envelope = session.event.envelope
        attachments = envelope.input.get("attachments")
        if not attachments or envelope.surface != PLATFORM:
            return
        links = [ref["artifact_id"] for ref in attachments if "size_bytes" not in ref]
        if not links:
            return
        session.stream = work = _Downloads([asyncio.create_task(self._download(artifact_id)) for artifact_id in links])
        try:
            _, unfinished = await asyncio.wait(work.tasks, timeout=PREFETCH_TIMEOUT_SECONDS)
        finally:
            session.stream = None
            work.cancel()
        if unfinished:
            logger.warning("event %s: not all of its files were downloaded in time", envelope.event_id)

    async def _download(self, artifact_id: ArtifactId) -> None:
        try:
            artifact = await self._artifacts.get(artifact_id)
            if artifact is not None and artifact.location != "object":
                await self._artifacts.ensure_local(artifact)
        except (ProviderFailed, StorageFailed) as failure:
            logger.warning("artifact %s: %s", artifact_id, failure.message)
        except Exception:  # the message can be answered without the file
            logger.exception("artifact %s could not be downloaded", artifact_id)


class _Downloads:
    """The downloads of one message, which are cancelled when the run is stopped."""

    def __init__(self, tasks: list[asyncio.Task[None]]) -> None:
        self.tasks = tasks

    def abort(self, error: BaseException) -> None:
        self.cancel()

    def cancel(self) -> None:
        for task in self.tasks:
            task.cancel()
