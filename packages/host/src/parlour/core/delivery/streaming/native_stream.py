"""Streams a message through the platform's own streaming API, as fast as the platform accepts it."""

import asyncio
import logging
from contextlib import suppress

from parlour.core.delivery.rate_limits import STREAM_SHARE
from parlour.core.delivery.rendering.parts import strip_reasoning
from parlour.core.delivery.targets import ChatTarget, parse_chain, row_chain
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import SendReceipt
from parlour.core.platforms.api import PlatformStream
from parlour.core.platforms.manifest import PlatformLimits
from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour_sdk.protocol.platform_api import NotSupportedError

from .streamed_message import StreamContext, WhenIdle, exceeds_limit, wait_unless_set, wait_until_idle

logger = logging.getLogger(__name__)

DEFAULT_APPENDS_PER_SECOND = 4.0
"""Appends per second if the manifest declares no edit rate."""
INTERRUPTED_REASON = "the answer was interrupted"


class NativeStream:
    """A message that is streamed by the platform's own API."""

    def __init__(self, context: StreamContext, row: OutboxRow, limits: PlatformLimits, wait_idle: WhenIdle) -> None:
        self._context = context
        self._row = row
        self._chat = ChatTarget(row)
        self._limits = limits
        self._interval = 1 / (limits.edits_per_second or DEFAULT_APPENDS_PER_SECOND)
        self._text = ""
        self._appended_text = ""
        """The text that was appended so far, without reasoning."""
        self._shown_text = ""
        self._stream: PlatformStream | None = None
        self._uncertain = False
        self._changed = asyncio.Event()
        self._closing = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._run(wait_idle))

    @property
    def rows(self) -> list[OutboxRow]:
        return [self._row]

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

    async def is_fully_shown(self, row: OutboxRow) -> bool:
        """Returns False: the end of the stream always has to be sent."""
        return False

    async def finish(self, row: OutboxRow) -> SendReceipt:
        await asyncio.wait([self._task])
        if self._stream is not None:
            stream, self._stream = self._stream, None
            self._uncertain = True
            try:
                result = await stream.finish(parse_chain(row_chain(row)))
            except PlatformRefused:
                self._stream, self._uncertain = stream, False
                raise
            return SendReceipt(result.message_id or "")
        if self._uncertain and not row.possibly_repeated:
            self._uncertain = False
            raise PlatformUncertain("its first words may have been shown")
        return await self._chat.send_row(
            self._chat.api(self._context.bots), row, self._context.languages, use_new_key=True
        )

    def adopt_message(self, row: OutboxRow, message_id: str) -> bool:
        """Returns False: a message that is found is complete, because the platform received its end."""
        return False

    async def retract(self, row: OutboxRow) -> None:
        await asyncio.wait([self._task])
        stream, self._stream = self._stream, None
        if stream is not None:
            with suppress(PlatformRefused, PlatformUncertain):
                await stream.fail(INTERRUPTED_REASON)

    async def _run(self, wait_idle: WhenIdle) -> None:
        try:
            await wait_until_idle(wait_idle, self._closing)
            while not self._closing.is_set():
                await self._changed.wait()
                self._changed.clear()
                await wait_unless_set(self._closing, await self._append_paced())
        except (NotSupportedError, PlatformRefused, PlatformUncertain, TimeoutError, OSError) as error:
            logger.warning("outbox row %s is not streamed any further: %s", self._row.outbox_id, error)
        except Exception:  # an error of the adapter; the final text is still sent
            logger.exception("outbox row %s is not streamed any further", self._row.outbox_id)

    async def _append_paced(self) -> float:
        """Appends the next text and returns the seconds to wait. If the platform accepts nothing now, it is tried again
        then.
        """
        rate_limiter, scope = self._context.rate_limiter, self._chat.rate_scope
        wait = rate_limiter.unspaced_delay(scope, self._limits, STREAM_SHARE)
        if wait:
            self._changed.set()
            return wait
        try:
            await self._append()
        except PlatformRefused as refusal:
            if refusal.retry_after is None:
                raise
            rate_limiter.record_pause(scope, refusal)
            self._changed.set()
            return max(self._interval, refusal.retry_after)
        return self._interval

    async def _append(self) -> None:
        answer = strip_reasoning(self._text, is_partial=True)
        if (
            self._closing.is_set()
            or exceeds_limit(self._text)
            or not answer.startswith(self._appended_text)
            or answer == self._appended_text
        ):
            return
        self._context.rate_limiter.count_unspaced(self._chat.rate_scope, self._limits)
        if self._stream is None:
            api, chat = self._chat.api(self._context.bots), self._chat
            try:
                self._stream = await api.open_stream(chat.type, chat.id, self._row.outbox_id, chat.thread_id)
            except (PlatformUncertain, TimeoutError, OSError):
                self._uncertain = True
                raise
        self._shown_text = answer
        await self._stream.append(answer.removeprefix(self._appended_text))
        self._appended_text = answer
