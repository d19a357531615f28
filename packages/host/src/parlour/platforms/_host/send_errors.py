"""Records the last send of each bot that its platform refused or did not acknowledge.

It is shown with the bot's status until a send to the same chat succeeds, or for a limited time.
"""

from parlour.core.model.ports import Clock
from parlour_sdk.values import dataclass

SHOWN_MILLISECONDS = 10 * 60 * 1000


@dataclass(frozen=True, slots=True)
class Refusal:
    chat: str
    sentence: str
    at: int


class RefusedSends:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last: dict[str, Refusal] = {}

    def refused(self, bot_id: str, chat: str, reason: str) -> None:
        self._note(bot_id, chat, f"what was sent to {chat} was not taken: {reason}")

    def unanswered(self, bot_id: str, chat: str, reason: str) -> None:
        self._note(bot_id, chat, f"what was sent to {chat} may not have arrived: {reason}")

    def _note(self, bot_id: str, chat: str, sentence: str) -> None:
        self._last[bot_id] = Refusal(chat, sentence, self._clock.now())

    def taken(self, bot_id: str, chat: str) -> None:
        if self._last and (last := self._last.get(bot_id)) is not None and last.chat == chat:
            del self._last[bot_id]

    def of(self, bot_id: str) -> str:
        last = self._last.get(bot_id)
        return last.sentence if last is not None and self._clock.now() - last.at < SHOWN_MILLISECONDS else ""

    def forget(self, bot_id: str) -> None:
        self._last.pop(bot_id, None)
