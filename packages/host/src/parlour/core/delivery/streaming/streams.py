"""Tracks the streamed messages of this process by the ids of their rows."""

from parlour.core.asyncio_utils import BackgroundTasks
from parlour.core.delivery.rate_limits import PlatformRateLimiter
from parlour.core.delivery.targets import chat_type
from parlour.core.journal import Journal
from parlour.core.model.delivery_policy import DeliveryPolicy
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import Clock, Ids
from parlour.core.platforms.connections import PlatformBots
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.store.outbox_rows import OutboxStore
from parlour.core.texts.languages import Languages

from .edit_stream import EditStream
from .native_stream import NativeStream
from .streamed_message import StreamContext, StreamedMessage, WhenIdle


def can_stream(manifest: AdapterManifest) -> bool:
    """Returns whether a message can be streamed on this platform, by edits or natively."""
    edits = "edit_message" in manifest.supported_apis and manifest.limits.edits_per_second > 0
    return edits or "open_stream" in manifest.supported_apis


class Streams:
    """Starts, finds and stops streamed messages."""

    def __init__(
        self,
        journal: Journal,
        bots: PlatformBots,
        ids: Ids,
        clock: Clock,
        pace: PlatformRateLimiter,
        languages: Languages,
    ) -> None:
        self._stage = StreamContext(journal, bots, ids, clock, pace, languages)
        self._by_row: dict[str, StreamedMessage] = {}
        self._tasks = BackgroundTasks("a streamed part could not be deleted")

    def start(
        self, row: OutboxRow, manifest: AdapterManifest, policy: DeliveryPolicy, quote: str, clear: WhenIdle
    ) -> StreamedMessage:
        """Starts a stream for a row that is stored as `streaming`."""
        grown: StreamedMessage
        if "open_stream" in manifest.supported_apis and self._streams_natively(row):
            grown = NativeStream(self._stage, row, manifest.limits, clear)
        else:
            grown = EditStream(self._stage, row, manifest, policy, quote, clear)
        self._by_row[row.outbox_id] = grown
        return grown

    def _streams_natively(self, row: OutboxRow) -> bool:
        """Returns whether the bot's adapter streams natively in this type of chat; some platforms do so only in some
        chats.
        """
        adapter = self._stage.bots.adapter(row.bot_id)
        return adapter is None or adapter.api().streams(chat_type(row.address))

    async def unfinished_rows(self, run_id: str) -> list[OutboxRow]:
        """Stops the streams of this run and returns its rows that were streamed and are not complete."""
        for outbox_id, grown in list(self._by_row.items()):
            if grown.rows[0].run_id == run_id:
                await self.stop_adding_rows(outbox_id)
        return await OutboxStore(self._stage.journal).streaming_rows(run_id)

    def get(self, outbox_id: str) -> StreamedMessage | None:
        """Returns the stream that a row belongs to."""
        return self._by_row.get(outbox_id)

    async def stop_adding_rows(self, outbox_id: str) -> list[OutboxRow]:
        """Stops a stream and returns all its rows."""
        grown = self._by_row.get(outbox_id)
        if grown is None:
            return []
        await grown.stop_adding_rows()
        self._by_row.update({row.outbox_id: grown for row in grown.rows})
        return grown.rows

    def drop(self, outbox_id: str) -> None:
        """Removes a stream that is complete or will never be."""
        self._by_row.pop(outbox_id, None)

    def abort(self, outbox_id: str) -> None:
        """Stops a stream whose run ended without a final text. The part that was shown stays."""
        grown = self._by_row.pop(outbox_id, None)
        if grown is not None:
            grown.stop()
            if isinstance(grown, NativeStream):
                self._tasks.start(grown.retract(grown.rows[0]))

    def retract(self, row: OutboxRow) -> None:
        """Deletes a part that the final text does not need."""
        grown = self._by_row.pop(row.outbox_id, None)
        if grown is not None:
            self._tasks.start(grown.retract(row))
