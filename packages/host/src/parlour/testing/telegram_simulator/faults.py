"""Plans faults and rate limits of the simulated Telegram in the form of the Bot API."""

import math
from dataclasses import dataclass, field

from parlour.testing.simulator import RateWindows, SimulatorFaults

from .failures import Failed


@dataclass
class Faults(SimulatorFaults[Failed]):
    in_chat: tuple[float, float] = (6, 5.0)
    """Number of messages and edits per number of seconds; more are refused. Telegram asks for one a
    second and tolerates a burst.
    """
    in_group: tuple[float, float] = (20, 60.0)
    altogether: tuple[float, float] = (30, 1.0)
    _rates: RateWindows = field(default_factory=RateWindows, init=False)

    @property
    def refused(self) -> int:
        """Number of calls beyond the limit."""
        return self._rates.refused

    def refuse(
        self, method: str, code: int = 400, words: str = "Bad Request: it failed", skip: int = 0, **parameters: int
    ) -> None:
        self.refuse_with(method, Failed(code, words, parameters or None), skip=skip)

    def too_many(self, method: str, retry_after: int = 1, times: int = 1) -> None:
        for _ in range(times):
            self.refuse(method, 429, f"Too Many Requests: retry after {retry_after}", retry_after=retry_after)

    def check_rate(self, chat_id: int) -> None:
        """Raises Failed when there were too many calls; refused calls don't count."""
        in_group = {f"group {chat_id}": self.in_group} if chat_id < 0 else {}
        limits = {f"chat {chat_id}": self.in_chat, "all": self.altogether, **in_group}
        if seconds := self._rates.seconds_to_wait(limits):
            wait = max(1, math.ceil(seconds))
            raise Failed(429, f"Too Many Requests: retry after {wait}", {"retry_after": wait})
