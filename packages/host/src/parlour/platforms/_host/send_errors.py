"""Records the last send of each bot that its platform refused or did not acknowledge.

It is shown with the bot's status until a send to the same chat succeeds, or for a limited time.
"""

from parlour.core.model.ports import Clock
from parlour_sdk.values import dataclass

ERROR_SHOWN_MILLISECONDS = 10 * 60 * 1000


@dataclass(frozen=True, slots=True)
class SendError:
    chat: str
    sentence: str
    at: int


class SendErrors:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last: dict[str, SendError] = {}

    def record_refused(self, bot_id: str, chat: str, reason: str) -> None:
        self._note(bot_id, chat, f"what was sent to {chat} was not taken: {reason}")

    def record_unacknowledged(self, bot_id: str, chat: str, reason: str) -> None:
        self._note(bot_id, chat, f"what was sent to {chat} may not have arrived: {reason}")

    def _note(self, bot_id: str, chat: str, sentence: str) -> None:
        self._last[bot_id] = SendError(chat, sentence, self._clock.now())

    def clear_chat(self, bot_id: str, chat: str) -> None:
        if self._last and (last := self._last.get(bot_id)) is not None and last.chat == chat:
            del self._last[bot_id]

    def current_error(self, bot_id: str) -> str:
        last = self._last.get(bot_id)
        return last.sentence if last is not None and self._clock.now() - last.at < ERROR_SHOWN_MILLISECONDS else ""

    def forget(self, bot_id: str) -> None:
        self._last.pop(bot_id, None)
