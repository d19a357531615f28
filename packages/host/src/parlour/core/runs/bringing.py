"""Brings the files of a platform's message before its run starts, since a platform's links do not last.

As far as that takes little time: who reads one that did not come fetches it then, or is told why it can't be had.
"""

import asyncio
import logging

from parlour.core.delivery.addresses import PLATFORM
from parlour.core.events.envelope import RecordedEvent
from parlour.core.facts.keeping import Artifacts
from parlour.core.journal import StorageFailed
from parlour.core.providers import ProviderFailed

logger = logging.getLogger(__name__)

LONGEST_SECONDS = 10.0


class Bringing:
    def __init__(self, kept: Artifacts) -> None:
        self._kept = kept

    async def bring(self, event: RecordedEvent) -> None:
        attached = event.envelope.input.get("attachments")
        if not attached or event.envelope.surface != PLATFORM:
            return
        links = [ref["artifact_id"] for ref in attached if "size_bytes" not in ref]
        if not links:
            return
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                await asyncio.gather(*(self._bring(artifact_id) for artifact_id in links))
        except TimeoutError:
            logger.warning("event %s: not all of its files came in time", event.envelope.event_id)

    async def _bring(self, artifact_id: str) -> None:
        try:
            artifact = await self._kept.find(artifact_id)
            if artifact is not None and artifact.location != "object":
                await self._kept.present(artifact)
        except (ProviderFailed, StorageFailed) as failure:
            logger.warning("artifact %s: %s", artifact_id, failure.message)
