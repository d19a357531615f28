"""Tracks the streamed messages of this process by the ids of their rows."""

from parlour.core.asyncio_utils import BackgroundTasks
from parlour.core.delivery.rate_limits import PlatformRateLimiter
from parlour.core.delivery.targets import chat_type
from parlour.core.journal import Journal
from parlour.core.model.delivery_policy import DeliveryPolicy
from parlour.core.model.ids import OutboxId, RunId
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import Clock, Ids
from parlour.core.platforms.connections import PlatformBots
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.store.outbox_rows import OutboxStore
from parlour.core.texts.languages import Languages

from .edit_stream import EditStream
from .native_stream import NativeStream
from .streamed_message import StreamContext, StreamedMessage, WhenIdle
from .unstreamed_message import UnstreamedMessage


def can_stream(manifest: AdapterManifest) -> bool:
    """Returns whether a message can be streamed on this platform, by edits or natively."""
    return can_edit(manifest) or "open_stream" in manifest.supported_apis


def can_edit(manifest: AdapterManifest) -> bool:
    """Returns whether a message can be streamed on this platform by edits."""
    return "edit_message" in manifest.supported_apis and manifest.limits.edits_per_second > 0


class Streams:
    """Starts, finds and stops streamed messages."""

    def __init__(
        self,
        journal: Journal,
        bots: PlatformBots,
        ids: Ids,
        clock: Clock,
        rate_limiter: PlatformRateLimiter,
        languages: Languages,
    ) -> None:
        self._context = StreamContext(journal, bots, ids, clock, rate_limiter, languages)
        self._by_row: dict[OutboxId, StreamedMessage] = {}
        self._tasks = BackgroundTasks("a streamed part could not be deleted")

    def start(
        self, row: OutboxRow, manifest: AdapterManifest, policy: DeliveryPolicy, quote: str, wait_idle: WhenIdle
    ) -> StreamedMessage:
        """Starts a stream for a row that is stored as `streaming`."""
        stream: StreamedMessage
        if "open_stream" in manifest.supported_apis and self._streams_natively(row):
            stream = NativeStream(self._context, row, manifest.limits, wait_idle)
        elif not can_edit(manifest):
            stream = UnstreamedMessage(self._context, row)
        else:
            stream = EditStream(self._context, row, manifest, policy, quote, wait_idle)
        self._by_row[row.outbox_id] = stream
        return stream

    def _streams_natively(self, row: OutboxRow) -> bool:
        """Returns whether the bot's adapter streams natively in this type of chat; some platforms do so only in some
        chats.
        """
        adapter = self._context.bots.adapter(row.bot_id)
        return adapter is None or adapter.api().streams(chat_type(row.address))

    async def unfinished_rows(self, run_id: RunId) -> list[OutboxRow]:
        """Stops the streams of this run and returns its rows that were streamed and are not complete."""
        for outbox_id, stream in list(self._by_row.items()):
            if stream.rows[0].run_id == run_id:
                await self.stop_adding_rows(outbox_id)
        return await OutboxStore(self._context.journal).streaming_rows(run_id)

    def get(self, outbox_id: OutboxId) -> StreamedMessage | None:
        """Returns the stream that a row belongs to."""
        return self._by_row.get(outbox_id)

    async def stop_adding_rows(self, outbox_id: OutboxId) -> list[OutboxRow]:
        """Stops a stream and returns all its rows."""
        stream = self._by_row.get(outbox_id)
        if stream is None:
            return []
        await stream.stop_adding_rows()
        self._by_row.update({row.outbox_id: stream for row in stream.rows})
        return stream.rows

    def drop(self, outbox_id: OutboxId) -> None:
        """Removes a stream that is complete or will never be."""
        self._by_row.pop(outbox_id, None)

    def abort(self, outbox_id: OutboxId) -> None:
        """Stops a stream whose run ended without a final text. The part that was shown stays."""
        stream = self._by_row.pop(outbox_id, None)
        if stream is not None:
            stream.stop()
            if isinstance(stream, NativeStream):
                self._tasks.start(stream.retract(stream.rows[0]))

    def retract(self, row: OutboxRow) -> None:
        """Deletes a part that the final text does not need."""
        stream = self._by_row.pop(row.outbox_id, None)
        if stream is not None:
            self._tasks.start(stream.retract(row))
