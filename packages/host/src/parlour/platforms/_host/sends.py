"""Tracks the sends of each bot: those whose acknowledgement is pending, and the last one that failed."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from parlour.core.model.ids import BotId
from parlour.core.model.ports import Clock
from parlour_sdk.values import dataclass

DRAIN_TIMEOUT_SECONDS = 1.0
"""Seconds for which a stopping bot waits for the acknowledgement of its sends."""
ERROR_SHOWN_MILLISECONDS = 10 * 60 * 1000
"""Time for which the error of a send is shown."""


class InFlightSends:
    """Counts the unacknowledged sends of each bot: if it were stopped now, their outcome would stay unknown."""

    def __init__(self) -> None:
        self._sends: Counter[str] = Counter()
        self._ends: dict[str, asyncio.Event] = {}

    @contextmanager
    def track(self, bot_id: BotId) -> Iterator[None]:
        """Counts a send as pending within the `with` block, which ends when the platform has answered."""
        self._sends[bot_id] += 1
        try:
            yield
        finally:
            self._sends[bot_id] -= 1
            if not self._sends[bot_id]:
                del self._sends[bot_id]
                self._ends.pop(bot_id, asyncio.Event()).set()

    async def wait_until_idle(self, bot_id: BotId) -> None:
        """Waits until all sends of the bot are answered, or until the time limit has passed."""
        if bot_id not in self._sends:
            return
        idle = self._ends.setdefault(bot_id, asyncio.Event())
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_TIMEOUT_SECONDS):
                await idle.wait()


@dataclass(frozen=True, slots=True)
class SendError:
    """A send that the platform refused or did not acknowledge."""

    chat: str
    sentence: str
    at: int


class SendErrors:
    """Records the last failed send of each bot.

    It is shown with the bot's status until a send to the same chat succeeds, or for a limited time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last: dict[str, SendError] = {}

    def record_refused(self, bot_id: BotId, chat: str, reason: str) -> None:
        self._note(bot_id, chat, f"what was sent to {chat} was not taken: {reason}")

    def record_unacknowledged(self, bot_id: BotId, chat: str, reason: str) -> None:
        self._note(bot_id, chat, f"what was sent to {chat} may not have arrived: {reason}")

    def _note(self, bot_id: BotId, chat: str, sentence: str) -> None:
        self._last[bot_id] = SendError(chat, sentence, self._clock.now())

    def clear_chat(self, bot_id: BotId, chat: str) -> None:
        if self._last and (last := self._last.get(bot_id)) is not None and last.chat == chat:
            del self._last[bot_id]

    def current_error(self, bot_id: BotId) -> str:
        last = self._last.get(bot_id)
        return last.sentence if last is not None and self._clock.now() - last.at < ERROR_SHOWN_MILLISECONDS else ""

    def forget(self, bot_id: BotId) -> None:
        self._last.pop(bot_id, None)
