"""Streams a message by sending its beginning and editing it as more text arrives, as fast as the chat allows.

Text beyond the limit of one message continues in the next one. The outbox delivers the final text: a row that was
streamed is finished here instead of being sent.
"""

import asyncio
import logging

from parlour.core.delivery.rate_limits import STREAM_SHARE, edit_interval
from parlour.core.delivery.rendering.parts import Chain, render, strip_reasoning
from parlour.core.delivery.targets import ChatTarget, parse_chain, row_chain
from parlour.core.journal import GuardFailed, StorageFailed, Unit
from parlour.core.model.delivery_policy import DeliveryPolicy
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import SendReceipt
from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour.core.store import ledger, outbox_rows
from parlour_sdk.protocol.platform_api import NotSupportedError
from parlour_sdk.values import dataclass

from .streamed_message import StreamContext, WhenIdle, exceeds_limit, wait_unless_set, wait_until_idle

logger = logging.getLogger(__name__)

MAX_EDIT_INTERVAL_SECONDS = 30.0
"""Maximum seconds between two edits after the platform asked to slow down."""
MIN_RETRY_SECONDS = 2.0
"""Minimum seconds before the next edit after one that was not accepted or not acknowledged."""


@dataclass(slots=True)
class StreamPart:
    """One message of the platform."""

    row: OutboxRow
    message_id: str = ""
    shown_chain: Chain | None = None
    uncertain: bool = False
    """True if its first send was not acknowledged."""
    not_editable: bool = False
    """True if it can't be edited any more."""


class EditStream:
    """A message that is streamed by edits, in one or more parts."""

    def __init__(
        self,
        stage: StreamContext,
        row: OutboxRow,
        manifest: AdapterManifest,
        policy: DeliveryPolicy,
        quote: str,
        clear: WhenIdle,
    ) -> None:
        self._stage = stage
        self._manifest = manifest
        self._policy = policy
        self._quote = quote
        self._chat = ChatTarget(row)
        self._text = ""
        self._parts = [StreamPart(row)]
        self._interval = edit_interval(self._chat.rate_scope, manifest.limits)
        self._changed = asyncio.Event()
        self._closing = asyncio.Event()
        self._row_lock = asyncio.Lock()
        self._work = asyncio.get_running_loop().create_task(self._run(clear))

    @property
    def rows(self) -> list[OutboxRow]:
        return [bubble.row for bubble in self._parts]

    def append_delta(self, text: str) -> None:
        self._text += text
        self._changed.set()

    def stop(self) -> None:
        self._closing.set()
        self._changed.set()

    async def stop_adding_rows(self) -> None:
        self.stop()
        async with self._row_lock:
            pass

    async def is_fully_shown(self, row: OutboxRow) -> bool:
        await asyncio.wait([self._work])
        bubble = self._part(row)
        return bool(bubble.message_id) and not bubble.not_editable and bubble.shown_chain == row_chain(row)

    async def finish(self, row: OutboxRow) -> SendReceipt:
        await asyncio.wait([self._work])
        bubble, chain = self._part(row), row_chain(row)
        if bubble.uncertain and self._manifest.idempotent:
            await self._send_first(bubble, chain)
        if bubble.message_id and not bubble.not_editable:
            if bubble.shown_chain == chain:
                return SendReceipt(bubble.message_id)
            if await self._try_edit(bubble, chain):
                return SendReceipt(bubble.message_id)
        if bubble.uncertain and not row.possibly_repeated:
            bubble.uncertain = False
            raise PlatformUncertain("its first words may have been shown")
        return await self._chat.send_row(self._api(), row, self._stage.languages, again=bubble.not_editable)

    def adopt_message(self, row: OutboxRow, message_id: str) -> bool:
        bubble = self._part(row)
        bubble.message_id, bubble.uncertain, bubble.shown_chain = message_id, False, None
        return True

    async def retract(self, row: OutboxRow) -> None:
        """Deletes a part that the final text does not need."""
        await asyncio.wait([self._work])
        bubble = self._part(row)
        try:
            if bubble.message_id:
                await self._api().delete_message(self._chat.type, self._chat.id, bubble.message_id)
        except (PlatformRefused, PlatformUncertain, NotSupportedError) as error:
            logger.warning("outbox row %s: the part that was shown could not be deleted: %s", row.outbox_id, error)

    def _part(self, row: OutboxRow) -> StreamPart:
        return next(bubble for bubble in self._parts if bubble.row.outbox_id == row.outbox_id)

    def _api(self) -> PlatformApi:
        return self._chat.api(self._stage.bots)

    async def _run(self, clear: WhenIdle) -> None:
        try:
            await wait_until_idle(clear, self._closing)
            while not self._closing.is_set():
                await self._changed.wait()
                self._changed.clear()
                await self._show_parts()
        except (NotSupportedError, StorageFailed, GuardFailed) as error:
            logger.warning("outbox row %s is not streamed any further: %s", self._chat.name, error)
        except Exception:  # an error of the adapter; the final text is sent all the same
            logger.exception("outbox row %s is not streamed any further", self._chat.name)

    async def _show_parts(self) -> None:
        if exceeds_limit(self._text):
            return
        message = {"content": strip_reasoning(self._text, growing=True)}
        for number, part in enumerate(render(message, self._manifest, self._policy, self._quote)):
            if self._closing.is_set():
                return
            bubble = self._parts[number] if number < len(self._parts) else await self._open_next_part()
            if bubble is None or self._is_unusable(bubble):
                return
            if bubble.shown_chain != part.chain and not await self._show_paced(bubble, part.chain):
                return

    async def _show_paced(self, bubble: StreamPart, chain: Chain) -> bool:
        """Shows a chain within the rate limit. Returns False if the platform accepts nothing now; later there may be
        more text.
        """
        pace, limits = self._stage.rate_limiter, self._manifest.limits
        wait = pace.delay(self._chat.rate_scope, limits, STREAM_SHARE)
        if wait:
            self._changed.set()
            await wait_unless_set(self._closing, wait)
            return False
        pace.reserve(self._chat.rate_scope, limits, edit=bool(bubble.message_id))
        pause = await self._show(bubble, chain)
        if bubble.shown_chain != chain:
            self._changed.set()
        await wait_unless_set(self._closing, pause)
        return True

    async def _open_next_part(self) -> StreamPart | None:
        """Stores a row for the next part before its first send, as long as the run is active."""
        async with self._row_lock:
            if self._closing.is_set():
                return None
            now = self._stage.clock.now()
            row = self._chat.continuation_row(self._stage.ids.new(), now)
            guard = ledger.update_progress(row.run_id, now)
            await self._stage.journal.commit(Unit("stream.next", (guard, outbox_rows.insert(row))))
            self._parts.append(StreamPart(row))
            return self._parts[-1]

    async def _show(self, bubble: StreamPart, chain: Chain) -> float:
        """Sends or edits a part, and returns the seconds to wait after it."""
        try:
            if bubble.message_id:
                await self._try_edit(bubble, chain)
            else:
                await self._send_first(bubble, chain)
        except PlatformRefused as refused:
            self._stage.rate_limiter.record_pause(self._chat.rate_scope, refused)
            return self._back_off(refused.retry_after)
        except (PlatformUncertain, TimeoutError, OSError) as error:
            logger.warning("outbox row %s: no response while streaming: %s", bubble.row.outbox_id, error)
            return self._back_off(None)
        return self._interval

    def _is_unusable(self, bubble: StreamPart) -> bool:
        """Returns whether nothing more can be shown in a part. Not for an uncertain send of an idempotent platform:
        sending again returns the message id.
        """
        return bubble.not_editable or (bubble.uncertain and not self._manifest.idempotent)

    async def _send_first(self, bubble: StreamPart, chain: Chain) -> None:
        again, bubble.uncertain = bubble.uncertain, True
        try:
            sent = await self._chat.send(self._api(), chain, bubble.row.outbox_id)
        except PlatformRefused as refused:
            bubble.uncertain = again
            if refused.permanent:
                self._closing.set()
            raise
        bubble.message_id, bubble.shown_chain, bubble.uncertain = (
            sent.platform_message_id,
            None if again else chain,
            False,
        )
        bubble.not_editable = not bubble.message_id
        now = self._stage.clock.now()
        await self._stage.journal.commit(
            Unit("stream.shown", (outbox_rows.record_message_id(bubble.row.outbox_id, bubble.message_id, now),))
        )

    async def _try_edit(self, bubble: StreamPart, chain: Chain) -> bool:
        """Edits a part. Returns False if the platform will never allow it."""
        try:
            await self._api().edit_message(self._chat.type, self._chat.id, bubble.message_id, parse_chain(chain))
        except NotSupportedError:
            bubble.not_editable = True
        except PlatformRefused as refused:
            if not refused.permanent:
                raise
            bubble.not_editable = True
        else:
            bubble.shown_chain = chain
        return not bubble.not_editable

    def _back_off(self, retry_after: float | None) -> float:
        """Returns the seconds to wait after a refusal. If the platform named a time, edits become less frequent from
        now on.
        """
        if retry_after is None:
            return max(self._interval, MIN_RETRY_SECONDS)
        self._interval = min(self._interval * 2, MAX_EDIT_INTERVAL_SECONDS)
        return max(self._interval, retry_after)
