"""Brings the files of a platform's message before its run starts, since a platform's links do not last.

As far as that takes little time: who reads one that did not come fetches it then, or is told why it can't be had.
"""

import asyncio
import logging

from parlour.core.delivery.targets import PLATFORM
from parlour.core.journal import StorageFailed
from parlour.core.model.providers import ProviderFailed
from parlour.core.store.artifact_service import Artifacts

from .session import RunSession

logger = logging.getLogger(__name__)

LONGEST_SECONDS = 10.0


class Bringing:
    def __init__(self, kept: Artifacts) -> None:
        self._kept = kept

    async def bring(self, session: RunSession) -> None:
        """Returns at once when the run is stopped."""
        envelope = session.event.envelope
        attached = envelope.input.get("attachments")
        if not attached or envelope.surface != PLATFORM:
            return
        links = [ref["artifact_id"] for ref in attached if "size_bytes" not in ref]
        if not links:
            return
        session.stream = work = _Work([asyncio.create_task(self._bring(artifact_id)) for artifact_id in links])
        try:
            _, late = await asyncio.wait(work.tasks, timeout=LONGEST_SECONDS)
        finally:
            session.stream = None
            work.cancel()
        if late:
            logger.warning("event %s: not all of its files came in time", envelope.event_id)

    async def _bring(self, artifact_id: str) -> None:
        try:
            artifact = await self._kept.find(artifact_id)
            if artifact is not None and artifact.location != "object":
                await self._kept.present(artifact)
        except (ProviderFailed, StorageFailed) as failure:
            logger.warning("artifact %s: %s", artifact_id, failure.message)
        except Exception:  # whatever it was, the message can be answered without it
            logger.exception("artifact %s could not be brought", artifact_id)


class _Work:
    def __init__(self, tasks: list[asyncio.Task[None]]) -> None:
        self.tasks = tasks

    def abort(self, error: BaseException) -> None:
        self.cancel()

    def cancel(self) -> None:
        for task in self.tasks:
            task.cancel()
