"""The messages that grow at this moment, by the ids of their rows. What they look like is their own matter."""

import asyncio
import logging

from parlour.core.delivery.rate_limits import Pace
from parlour.core.delivery.targets import chat_type
from parlour.core.journal import Journal
from parlour.core.model.delivery_policy import DeliveryPolicy
from parlour.core.model.outbox_row import Outgoing
from parlour.core.model.ports import Clock, Ids
from parlour.core.platforms.connections import RunningBots
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.store.outbox_rows import OutgoingRows
from parlour.core.texts.languages import Languages

from .edit_stream import EditedMessage
from .native_stream import NativeStream
from .streamed_message import Clear, Grown, Stage

logger = logging.getLogger(__name__)


def grows(manifest: AdapterManifest) -> bool:
    """Whether people can see a message grow there."""
    edits = "edit_message" in manifest.supported_apis and manifest.limits.edits_per_second > 0
    return edits or "open_stream" in manifest.supported_apis


class Streams:
    def __init__(
        self, journal: Journal, bots: RunningBots, ids: Ids, clock: Clock, pace: Pace, languages: Languages
    ) -> None:
        self._stage = Stage(journal, bots, ids, clock, pace, languages)
        self._by_row: dict[str, Grown] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(
        self, row: Outgoing, manifest: AdapterManifest, policy: DeliveryPolicy, quote: str, clear: Clear
    ) -> Grown:
        """The row is durable as `streaming`."""
        grown: Grown
        if "open_stream" in manifest.supported_apis and self._streams_natively(row):
            grown = NativeStream(self._stage, row, manifest.limits, clear)
        else:
            grown = EditedMessage(self._stage, row, manifest, policy, quote, clear)
        self._by_row[row.outbox_id] = grown
        return grown

    def _streams_natively(self, row: Outgoing) -> bool:
        """A platform may stream in some chats only."""
        adapter = self._stage.bots.adapter(row.bot_id)
        return adapter is None or adapter.api().streams(chat_type(row.address))

    async def left(self, run_id: str) -> list[Outgoing]:
        """Rows of this run that were shown as growing, and grow no more."""
        for outbox_id, grown in list(self._by_row.items()):
            if grown.rows[0].run_id == run_id:
                await self.settle(outbox_id)
        return await OutgoingRows(self._stage.journal).streaming(run_id)

    def of(self, outbox_id: str) -> Grown | None:
        return self._by_row.get(outbox_id)

    async def settle(self, outbox_id: str) -> list[Outgoing]:
        """All rows of the message, which grows no more."""
        grown = self._by_row.get(outbox_id)
        if grown is None:
            return []
        await grown.settled()
        self._by_row.update({row.outbox_id: grown for row in grown.rows})
        return grown.rows

    def forget(self, outbox_id: str) -> None:
        """It is finished, or never will be."""
        self._by_row.pop(outbox_id, None)

    def stop(self, outbox_id: str) -> None:
        """Its run is over without a final text: what was shown of it stays."""
        grown = self._by_row.pop(outbox_id, None)
        if grown is not None:
            grown.stop()
            if isinstance(grown, NativeStream):
                self._in_background(grown, grown.rows[0])

    def withdraw(self, row: Outgoing) -> None:
        """A message of it that the final text does not need."""
        grown = self._by_row.pop(row.outbox_id, None)
        if grown is not None:
            self._in_background(grown, row)

    def _in_background(self, grown: Grown, row: Outgoing) -> None:
        task = asyncio.get_running_loop().create_task(grown.withdraw(row))
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("what was begun of a message could not be taken back: %s", error)
