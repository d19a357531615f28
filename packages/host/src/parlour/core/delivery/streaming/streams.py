"""Tracks the streamed messages of this process by the ids of their rows."""

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
    """Returns whether a message can be streamed on this platform, by edits or natively."""
    edits = "edit_message" in manifest.supported_apis and manifest.limits.edits_per_second > 0
    return edits or "open_stream" in manifest.supported_apis


class Streams:
    """Starts, finds and stops streamed messages."""

    def __init__(
        self, journal: Journal, bots: RunningBots, ids: Ids, clock: Clock, pace: Pace, languages: Languages
    ) -> None:
        self._stage = Stage(journal, bots, ids, clock, pace, languages)
        self._by_row: dict[str, Grown] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(
        self, row: Outgoing, manifest: AdapterManifest, policy: DeliveryPolicy, quote: str, clear: Clear
    ) -> Grown:
        """Starts a stream for a row that is stored as `streaming`."""
        grown: Grown
        if "open_stream" in manifest.supported_apis and self._streams_natively(row):
            grown = NativeStream(self._stage, row, manifest.limits, clear)
        else:
            grown = EditedMessage(self._stage, row, manifest, policy, quote, clear)
        self._by_row[row.outbox_id] = grown
        return grown

    def _streams_natively(self, row: Outgoing) -> bool:
        """Returns whether the bot's adapter streams natively in this type of chat; some platforms do so only in some
        chats.
        """
        adapter = self._stage.bots.adapter(row.bot_id)
        return adapter is None or adapter.api().streams(chat_type(row.address))

    async def left(self, run_id: str) -> list[Outgoing]:
        """Stops the streams of this run and returns its rows that were streamed and are not complete."""
        for outbox_id, grown in list(self._by_row.items()):
            if grown.rows[0].run_id == run_id:
                await self.settle(outbox_id)
        return await OutgoingRows(self._stage.journal).streaming(run_id)

    def of(self, outbox_id: str) -> Grown | None:
        """Returns the stream that a row belongs to."""
        return self._by_row.get(outbox_id)

    async def settle(self, outbox_id: str) -> list[Outgoing]:
        """Stops a stream and returns all its rows."""
        grown = self._by_row.get(outbox_id)
        if grown is None:
            return []
        await grown.settled()
        self._by_row.update({row.outbox_id: grown for row in grown.rows})
        return grown.rows

    def forget(self, outbox_id: str) -> None:
        """Removes a stream that is complete or will never be."""
        self._by_row.pop(outbox_id, None)

    def stop(self, outbox_id: str) -> None:
        """Stops a stream whose run ended without a final text. The part that was shown stays."""
        grown = self._by_row.pop(outbox_id, None)
        if grown is not None:
            grown.stop()
            if isinstance(grown, NativeStream):
                self._in_background(grown, grown.rows[0])

    def withdraw(self, row: Outgoing) -> None:
        """Deletes a part that the final text does not need."""
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
            logger.error("a streamed part could not be deleted: %s", error)
