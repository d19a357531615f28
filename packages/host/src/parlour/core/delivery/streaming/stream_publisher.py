"""Forwards the streamed output of runs: to web chat clients through the feed, to platforms through streams."""

from functools import partial

from parlour.core.delivery import targets
from parlour.core.delivery.feed import Feed
from parlour.core.delivery.outbox import Outbox
from parlour.core.delivery.targets import PLATFORM
from parlour.core.delivery.typing_indicator import TypingIndicator
from parlour.core.model.delivery_policy import DeliveryPolicy
from parlour.core.model.doors import LIVE_SURFACES
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import RunId
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.platforms.connections import PlatformBots
from parlour_sdk.values import dataclass

from .streams import Streams


@dataclass(frozen=True, slots=True)
class StreamDelta:
    """The next delta of a streamed message."""

    text: str
    seq: int
    """Feed sequence number assigned when the delta arrived, so that it is below the number of its message."""
    first_message: bool
    """True if the message is the first of its run."""


class StreamPublisher:
    """Publishes deltas and reasoning as they arrive, and stops streams when their message is complete."""

    def __init__(
        self, streams: Streams, feed: Feed, outbox: Outbox, bots: PlatformBots, typing: TypingIndicator
    ) -> None:
        self._streams = streams
        self._bots = bots
        self._feed = feed
        self._outbox = outbox
        self._typing = typing

    def publish_delta(
        self, event: RecordedEvent, run_id: RunId, row: OutboxRow | None, fragment: StreamDelta, policy: DeliveryPolicy
    ) -> None:
        """Publishes a delta. The row is already stored; it is None if the delta arrives together with its complete
        message.
        """
        if event.envelope.surface in LIVE_SURFACES:
            self._feed.publish_delta(event.conversation_id, run_id, fragment.text, fragment.seq)
        elif row is not None:
            self._stream_to_platform(row, fragment, policy)

    def publish_reasoning(self, event: RecordedEvent, run_id: RunId, reasoning: str, seq: int) -> None:
        """Publishes reasoning text as it arrives. Only clients of the Host itself get it live: they can collapse it."""
        if event.envelope.surface in LIVE_SURFACES:
            self._feed.publish_reasoning(event.conversation_id, run_id, reasoning, seq)

    def _stream_to_platform(self, row: OutboxRow, fragment: StreamDelta, policy: DeliveryPolicy) -> None:
        stream = self._streams.get(row.outbox_id)
        if stream is None:
            manifest = self._bots.manifest(row.bot_id)
            if manifest is None:
                return
            quote = targets.quoted_message_id(row.address, policy, fragment.first_message)
            stream = self._streams.start(row, manifest, policy, quote, partial(self._outbox.wait_idle, row.target))
        self._typing.stop(row.run_id)
        stream.append_delta(fragment.text)

    def shown_text(self, row: OutboxRow) -> str:
        """Returns the text of a streamed message that its platform has got so far; a call may still be under way."""
        stream = self._streams.get(row.outbox_id)
        return "" if stream is None else stream.shown_text

    async def stop_stream(self, row: OutboxRow | None) -> list[OutboxRow]:
        """Stops a stream and returns its rows, before the final message is composed. Shows nothing more until then."""
        if row is None:
            return []
        return await self._streams.stop_adding_rows(row.outbox_id) or [row]

    async def resumable_rows(self, event: RecordedEvent, run_id: RunId) -> list[OutboxRow]:
        """Returns the rows of a message that was streamed before a restart of the Host and can still be completed."""
        is_streamable = event.envelope.surface in (PLATFORM, *targets.SURFACES_WITHOUT_READER)
        return await self._streams.unfinished_rows(run_id) if is_streamable else []

    def abort_stream(self, row: OutboxRow | None) -> None:
        """Stops a stream whose run has ended. The message stays incomplete."""
        if row is not None:
            self._streams.abort(row.outbox_id)
