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
from parlour.core.model.ids import OutboxId
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
        context: StreamContext,
        row: OutboxRow,
        manifest: AdapterManifest,
        policy: DeliveryPolicy,
        quote: str,
        wait_idle: WhenIdle,
    ) -> None:
        self._context = context
        self._manifest = manifest
        self._policy = policy
        self._quote = quote
        self._chat = ChatTarget(row)
        self._text = ""
        self._shown_text = ""
        self._parts = [StreamPart(row)]
        self._interval = edit_interval(self._chat.rate_scope, manifest.limits)
        self._changed = asyncio.Event()
        self._closing = asyncio.Event()
        self._row_lock = asyncio.Lock()
        self._task = asyncio.get_running_loop().create_task(self._run(wait_idle))

    @property
    def rows(self) -> list[OutboxRow]:
        return [part.row for part in self._parts]

    @property
    def shown_text(self) -> str:
        return self._shown_text

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
        await asyncio.wait([self._task])
        part = self._part(row)
        return bool(part.message_id) and not part.not_editable and part.shown_chain == row_chain(row)

    async def finish(self, row: OutboxRow) -> SendReceipt:
        await asyncio.wait([self._task])
        part, chain = self._part(row), row_chain(row)
        if part.uncertain and self._manifest.idempotent:
            await self._send_first(part, chain)
        if part.message_id and not part.not_editable:
            if part.shown_chain == chain:
                return SendReceipt(part.message_id)
            if await self._try_edit(part, chain):
                return SendReceipt(part.message_id)
        if part.uncertain and not row.possibly_repeated:
            part.uncertain = False
            raise PlatformUncertain("its first words may have been shown")
        return await self._chat.send_row(self._api(), row, self._context.languages, use_new_key=part.not_editable)

    def adopt_message(self, row: OutboxRow, message_id: str) -> bool:
        part = self._part(row)
        part.message_id, part.uncertain, part.shown_chain = message_id, False, None
        return True

    async def retract(self, row: OutboxRow) -> None:
        """Deletes a part that the final text does not need."""
        await asyncio.wait([self._task])
        part = self._part(row)
        try:
            if part.message_id:
                await self._api().delete_message(self._chat.type, self._chat.id, part.message_id)
        except (PlatformRefused, PlatformUncertain, NotSupportedError) as error:
            logger.warning("outbox row %s: the part that was shown could not be deleted: %s", row.outbox_id, error)

    def _part(self, row: OutboxRow) -> StreamPart:
        return next(part for part in self._parts if part.row.outbox_id == row.outbox_id)

    def _api(self) -> PlatformApi:
        return self._chat.api(self._context.bots)

    async def _run(self, wait_idle: WhenIdle) -> None:
        try:
            await wait_until_idle(wait_idle, self._closing)
            while not self._closing.is_set():
                await self._changed.wait()
                self._changed.clear()
                await self._show_parts()
        except (NotSupportedError, StorageFailed, GuardFailed) as error:
            logger.warning("outbox row %s is not streamed any further: %s", self._chat.name, error)
        except Exception:  # an error of the adapter; the final text is still sent
            logger.exception("outbox row %s is not streamed any further", self._chat.name)

    async def _show_parts(self) -> None:
        if exceeds_limit(self._text):
            return
        text = strip_reasoning(self._text, is_partial=True)
        for number, part in enumerate(render({"content": text}, self._manifest, self._policy, self._quote)):
            if self._closing.is_set():
                return
            stream_part = self._parts[number] if number < len(self._parts) else await self._open_next_part()
            if stream_part is None or self._is_unusable(stream_part):
                return
            if stream_part.shown_chain != part.chain and not await self._show_paced(stream_part, part.chain, text):
                return

    async def _show_paced(self, part: StreamPart, chain: Chain, text: str) -> bool:
        """Shows a chain, which is part of a message with this text, within the rate limit.

        Returns False if the platform accepts nothing now; later there may be more text.
        """
        rate_limiter, limits = self._context.rate_limiter, self._manifest.limits
        wait = rate_limiter.delay(self._chat.rate_scope, limits, STREAM_SHARE)
        if wait:
            self._changed.set()
            await wait_unless_set(self._closing, wait)
            return False
        rate_limiter.reserve(self._chat.rate_scope, limits, edit=bool(part.message_id))
        self._shown_text = text
        pause = await self._show(part, chain)
        if part.shown_chain != chain:
            self._changed.set()
        await wait_unless_set(self._closing, pause)
        return True

    async def _open_next_part(self) -> StreamPart | None:
        """Stores a row for the next part before its first send, as long as the run is active."""
        async with self._row_lock:
            if self._closing.is_set():
                return None
            now = self._context.clock.now()
            row = self._chat.continuation_row(OutboxId(self._context.ids.new()), now)
            guard = ledger.update_progress(row.run_id, now)
            await self._context.journal.commit(Unit("stream.next", (guard, outbox_rows.insert(row))))
            self._parts.append(StreamPart(row))
            return self._parts[-1]

    async def _show(self, part: StreamPart, chain: Chain) -> float:
        """Sends or edits a part, and returns the seconds to wait after it."""
        try:
            if part.message_id:
                await self._try_edit(part, chain)
            else:
                await self._send_first(part, chain)
        except PlatformRefused as refusal:
            self._context.rate_limiter.record_pause(self._chat.rate_scope, refusal)
            return self._back_off(refusal.retry_after)
        except (PlatformUncertain, TimeoutError, OSError) as error:
            logger.warning("outbox row %s: no response while streaming: %s", part.row.outbox_id, error)
            return self._back_off(None)
        return self._interval

    def _is_unusable(self, part: StreamPart) -> bool:
        """Returns whether nothing more can be shown in a part. Not for an uncertain send of an idempotent platform:
        sending again returns the message id.
        """
        return part.not_editable or (part.uncertain and not self._manifest.idempotent)

    async def _send_first(self, part: StreamPart, chain: Chain) -> None:
        was_uncertain, part.uncertain = part.uncertain, True
        try:
            receipt = await self._chat.send(self._api(), chain, part.row.outbox_id)
        except PlatformRefused as refusal:
            part.uncertain = was_uncertain
            if refusal.permanent:
                self._closing.set()
            raise
        part.message_id, part.shown_chain, part.uncertain = (
            receipt.platform_message_id,
            None if was_uncertain else chain,
            False,
        )
        part.not_editable = not part.message_id
        now = self._context.clock.now()
        await self._context.journal.commit(
            Unit("stream.shown", (outbox_rows.record_message_id(part.row.outbox_id, part.message_id, now),))
        )

    async def _try_edit(self, part: StreamPart, chain: Chain) -> bool:
        """Edits a part. Returns False if the platform will never allow it."""
        try:
            await self._api().edit_message(self._chat.type, self._chat.id, part.message_id, parse_chain(chain))
        except NotSupportedError:
            part.not_editable = True
        except PlatformRefused as refusal:
            if not refusal.permanent:
                raise
            part.not_editable = True
        else:
            part.shown_chain = chain
        return not part.not_editable

    def _back_off(self, retry_after: float | None) -> float:
        """Returns the seconds to wait after a refusal. If the platform named a time, edits become less frequent from
        now on.
        """
        if retry_after is None:
            return max(self._interval, MIN_RETRY_SECONDS)
        self._interval = min(self._interval * 2, MAX_EDIT_INTERVAL_SECONDS)
        return max(self._interval, retry_after)
