"""Streams a message by sending its beginning and editing it as more text arrives, as fast as the chat allows.

Text beyond the limit of one message continues in the next one. The outbox delivers the final text: a row that was
streamed is finished here instead of being sent.
"""

import asyncio
import logging
from contextlib import suppress

from parlour.core.delivery.chat_target import Chat, chain_of, parsed
from parlour.core.delivery.rate_limits import SPARE, growing_interval
from parlour.core.delivery.rendering import thinking
from parlour.core.delivery.rendering.parts import Chain, render
from parlour.core.journal import GuardFailed, StorageFailed, Unit
from parlour.core.model.delivery_policy import DeliveryPolicy
from parlour.core.model.outbox_row import Outgoing
from parlour.core.model.ports import Sent
from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour.core.store import ledger, outbox_rows
from parlour_sdk.protocol.platform_api import NotSupportedError
from parlour_sdk.values import dataclass

from .streamed_message import Clear, Stage, outgrown, until_clear

logger = logging.getLogger(__name__)

SLOWEST_SECONDS = 30.0
"""Maximum seconds between two edits after the platform asked to slow down."""
AWAY_SECONDS = 2.0
"""Minimum seconds before the next edit after one that was not accepted or not acknowledged."""


@dataclass(slots=True)
class Bubble:
    """One message of the platform."""

    row: Outgoing
    message_id: str = ""
    shown: Chain | None = None
    doubtful: bool = False
    """True if its first send was not acknowledged."""
    stuck: bool = False
    """True if it can't be edited any more."""


class EditedMessage:
    """A message that is streamed by edits, in one or more parts."""

    def __init__(
        self,
        stage: Stage,
        row: Outgoing,
        manifest: AdapterManifest,
        policy: DeliveryPolicy,
        quote: str,
        clear: Clear,
    ) -> None:
        self._stage = stage
        self._manifest = manifest
        self._policy = policy
        self._quote = quote
        self._chat = Chat(row)
        self._text = ""
        self._bubbles = [Bubble(row)]
        self._interval = growing_interval(self._chat.room, manifest.limits)
        self._changed = asyncio.Event()
        self._closing = asyncio.Event()
        self._opening = asyncio.Lock()
        self._work = asyncio.get_running_loop().create_task(self._show_growing(clear))

    @property
    def rows(self) -> list[Outgoing]:
        return [bubble.row for bubble in self._bubbles]

    def grow(self, text: str) -> None:
        self._text += text
        self._changed.set()

    def stop(self) -> None:
        self._closing.set()
        self._changed.set()

    async def settled(self) -> None:
        self.stop()
        async with self._opening:
            pass

    async def whole(self, row: Outgoing) -> bool:
        await asyncio.wait([self._work])
        bubble = self._of(row)
        return bool(bubble.message_id) and not bubble.stuck and bubble.shown == chain_of(row)

    async def finish(self, row: Outgoing) -> Sent:
        await asyncio.wait([self._work])
        bubble, chain = self._of(row), chain_of(row)
        if bubble.doubtful and self._manifest.idempotent:
            await self._send_first(bubble, chain)
        if bubble.message_id and not bubble.stuck:
            if bubble.shown == chain:
                return Sent(bubble.message_id)
            if await self._edited(bubble, chain):
                return Sent(bubble.message_id)
        if bubble.doubtful and not row.possibly_repeated:
            bubble.doubtful = False
            raise PlatformUncertain("its first words may have been shown")
        return await self._chat.send_row(self._api(), row, self._stage.languages, again=bubble.stuck)

    def found(self, row: Outgoing, message_id: str) -> bool:
        bubble = self._of(row)
        bubble.message_id, bubble.doubtful, bubble.shown = message_id, False, None
        return True

    async def withdraw(self, row: Outgoing) -> None:
        """Deletes a part that the final text does not need."""
        await asyncio.wait([self._work])
        bubble = self._of(row)
        try:
            if bubble.message_id:
                await self._api().delete_message(self._chat.type, self._chat.id, bubble.message_id)
        except (PlatformRefused, PlatformUncertain, NotSupportedError) as error:
            logger.warning("outbox row %s: the part that was shown could not be deleted: %s", row.outbox_id, error)

    def _of(self, row: Outgoing) -> Bubble:
        return next(bubble for bubble in self._bubbles if bubble.row.outbox_id == row.outbox_id)

    def _api(self) -> PlatformApi:
        return self._chat.api(self._stage.bots)

    async def _show_growing(self, clear: Clear) -> None:
        try:
            await until_clear(clear, self._closing)
            while not self._closing.is_set():
                await self._changed.wait()
                self._changed.clear()
                await self._show_parts()
        except (NotSupportedError, StorageFailed, GuardFailed) as error:
            logger.warning("outbox row %s is not streamed any further: %s", self._chat.name, error)
        except Exception:  # an error of the adapter; the final text is sent all the same
            logger.exception("outbox row %s is not streamed any further", self._chat.name)

    async def _show_parts(self) -> None:
        if outgrown(self._text):
            return
        message = {"content": thinking.spoken(self._text, growing=True)}
        for number, part in enumerate(render(message, self._manifest, self._policy, self._quote)):
            if self._closing.is_set():
                return
            bubble = self._bubbles[number] if number < len(self._bubbles) else await self._begin_next()
            if bubble is None or self._lost(bubble):
                return
            if bubble.shown != part.chain and not await self._shown(bubble, part.chain):
                return

    async def _shown(self, bubble: Bubble, chain: Chain) -> bool:
        """Shows a chain within the rate limit. Returns False if the platform accepts nothing now; later there may be
        more text.
        """
        pace, limits = self._stage.pace, self._manifest.limits
        wait = pace.wait(self._chat.room, limits, SPARE)
        if wait:
            self._changed.set()
            await self._rest(wait)
            return False
        pace.book(self._chat.room, limits, edit=bool(bubble.message_id))
        pause = await self._show(bubble, chain)
        if bubble.shown != chain:
            self._changed.set()
        await self._rest(pause)
        return True

    async def _begin_next(self) -> Bubble | None:
        """Stores a row for the next part before its first send, as long as the run is active."""
        async with self._opening:
            if self._closing.is_set():
                return None
            now = self._stage.clock.now()
            row = self._chat.further_row(self._stage.ids.new(), now)
            guard = ledger.touch(row.run_id, now)
            await self._stage.journal.commit(Unit("stream.next", (guard, outbox_rows.put(row))))
            self._bubbles.append(Bubble(row))
            return self._bubbles[-1]

    async def _show(self, bubble: Bubble, chain: Chain) -> float:
        """Sends or edits a part, and returns the seconds to wait after it."""
        try:
            if bubble.message_id:
                await self._edited(bubble, chain)
            else:
                await self._send_first(bubble, chain)
        except PlatformRefused as refused:
            self._stage.pace.hold(self._chat.room, refused)
            return self._slower(refused.retry_after)
        except (PlatformUncertain, TimeoutError, OSError) as error:
            logger.warning("outbox row %s: no response while streaming: %s", bubble.row.outbox_id, error)
            return self._slower(None)
        return self._interval

    def _lost(self, bubble: Bubble) -> bool:
        """Returns whether nothing more can be shown in a part. Not for an uncertain send of an idempotent platform:
        sending again returns the message id.
        """
        return bubble.stuck or (bubble.doubtful and not self._manifest.idempotent)

    async def _send_first(self, bubble: Bubble, chain: Chain) -> None:
        again, bubble.doubtful = bubble.doubtful, True
        try:
            sent = await self._chat.send(self._api(), chain, bubble.row.outbox_id)
        except PlatformRefused as refused:
            bubble.doubtful = again
            if refused.permanent:
                self._closing.set()
            raise
        bubble.message_id, bubble.shown, bubble.doubtful = sent.platform_message_id, None if again else chain, False
        bubble.stuck = not bubble.message_id
        now = self._stage.clock.now()
        await self._stage.journal.commit(
            Unit("stream.shown", (outbox_rows.bubble(bubble.row.outbox_id, bubble.message_id, now),))
        )

    async def _edited(self, bubble: Bubble, chain: Chain) -> bool:
        """Edits a part. Returns False if the platform will never allow it."""
        try:
            await self._api().edit_message(self._chat.type, self._chat.id, bubble.message_id, parsed(chain))
        except NotSupportedError:
            bubble.stuck = True
        except PlatformRefused as refused:
            if not refused.permanent:
                raise
            bubble.stuck = True
        else:
            bubble.shown = chain
        return not bubble.stuck

    def _slower(self, retry_after: float | None) -> float:
        """Returns the seconds to wait after a refusal. If the platform named a time, edits become less frequent from
        now on.
        """
        if retry_after is None:
            return max(self._interval, AWAY_SECONDS)
        self._interval = min(self._interval * 2, SLOWEST_SECONDS)
        return max(self._interval, retry_after)

    async def _rest(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closing.wait()
