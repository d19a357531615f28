"""Streams a message through the platform's own streaming API, as fast as the platform accepts it."""

import asyncio
import logging
from contextlib import suppress

from parlour.core.delivery.chat_target import Chat, chain_of, parsed
from parlour.core.delivery.rate_limits import SPARE
from parlour.core.delivery.rendering import thinking
from parlour.core.model.outbox_row import Outgoing
from parlour.core.model.ports import Sent
from parlour.core.platforms.api import Stream
from parlour.core.platforms.manifest import Limits
from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour_sdk.protocol.platform_api import NotSupportedError

from .streamed_message import Clear, Stage, outgrown, until_clear

logger = logging.getLogger(__name__)

APPENDS_PER_SECOND = 4.0
"""Appends per second if the manifest declares no edit rate."""
BROKEN = "the answer was interrupted"


class NativeStream:
    """A message that is streamed by the platform's own API."""

    def __init__(self, stage: Stage, row: Outgoing, limits: Limits, clear: Clear) -> None:
        self._stage = stage
        self._row = row
        self._chat = Chat(row)
        self._limits = limits
        self._interval = 1 / (limits.edits_per_second or APPENDS_PER_SECOND)
        self._text = ""
        self._handed = ""
        """The text that was appended so far, without reasoning."""
        self._stream: Stream | None = None
        self._doubtful = False
        self._changed = asyncio.Event()
        self._closing = asyncio.Event()
        self._work = asyncio.get_running_loop().create_task(self._hand_on(clear))

    @property
    def rows(self) -> list[Outgoing]:
        return [self._row]

    def grow(self, text: str) -> None:
        self._text += text
        self._changed.set()

    def stop(self) -> None:
        self._closing.set()
        self._changed.set()

    async def settled(self) -> None:
        self.stop()

    async def whole(self, row: Outgoing) -> bool:
        """Returns False: the end of the stream always has to be sent."""
        return False

    async def finish(self, row: Outgoing) -> Sent:
        await asyncio.wait([self._work])
        if self._stream is not None:
            stream, self._stream = self._stream, None
            self._doubtful = True
            try:
                result = await stream.finish(parsed(chain_of(row)))
            except PlatformRefused:
                self._stream, self._doubtful = stream, False
                raise
            return Sent(result.message_id or "")
        if self._doubtful and not row.possibly_repeated:
            self._doubtful = False
            raise PlatformUncertain("its first words may have been shown")
        return await self._chat.send_row(self._chat.api(self._stage.bots), row, self._stage.languages, again=True)

    def found(self, row: Outgoing, message_id: str) -> bool:
        """Returns False: a message that is found is complete, because the platform received its end."""
        return False

    async def withdraw(self, row: Outgoing) -> None:
        await asyncio.wait([self._work])
        stream, self._stream = self._stream, None
        if stream is not None:
            with suppress(PlatformRefused, PlatformUncertain):
                await stream.fail(BROKEN)

    async def _hand_on(self, clear: Clear) -> None:
        try:
            await until_clear(clear, self._closing)
            while not self._closing.is_set():
                await self._changed.wait()
                self._changed.clear()
                await self._rest(await self._next_words())
        except (NotSupportedError, PlatformRefused, PlatformUncertain, TimeoutError, OSError) as error:
            logger.warning("outbox row %s is not streamed any further: %s", self._row.outbox_id, error)
        except Exception:  # an error of the adapter; the final text is sent all the same
            logger.exception("outbox row %s is not streamed any further", self._row.outbox_id)

    async def _next_words(self) -> float:
        """Appends the next text and returns the seconds to wait. If the platform accepts nothing now, it is tried again
        then.
        """
        pace, room = self._stage.pace, self._chat.room
        wait = pace.wait_beside(room, self._limits, SPARE)
        if wait:
            self._changed.set()
            return wait
        try:
            await self._append()
        except PlatformRefused as refused:
            if refused.retry_after is None:
                raise
            pace.hold(room, refused)
            self._changed.set()
            return max(self._interval, refused.retry_after)
        return self._interval

    async def _append(self) -> None:
        spoken = thinking.spoken(self._text, growing=True)
        if (
            self._closing.is_set()
            or outgrown(self._text)
            or not spoken.startswith(self._handed)
            or spoken == self._handed
        ):
            return
        self._stage.pace.note_beside(self._chat.room, self._limits)
        if self._stream is None:
            api, chat = self._chat.api(self._stage.bots), self._chat
            try:
                self._stream = await api.open_stream(chat.type, chat.id, self._row.outbox_id, chat.thread_id)
            except (PlatformUncertain, TimeoutError, OSError):
                self._doubtful = True
                raise
        await self._stream.append(spoken.removeprefix(self._handed))
        self._handed = spoken

    async def _rest(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closing.wait()
