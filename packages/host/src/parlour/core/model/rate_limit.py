"""Rate limits as values: how often something may happen, counted in windows, days or a token bucket.

`core/store/limits.py` counts the uses.
"""

from datetime import datetime, timedelta
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo

from parlour_sdk.values import dataclass

from .ids import ConversationId, LimitPolicyId

RateLimitKind = Literal["fixed", "sliding", "day", "bucket"]
NO_CONVERSATION = ConversationId("")


@dataclass(frozen=True, slots=True)
class RateLimit:
    """A limit of one policy. It holds for each subject by itself, over restarts and over several Hosts.

    `fixed` counts in windows of equal length and `day` in calendar days of a time zone. `sliding` adds the share of the
    window before that is not over yet, so that two full windows never meet. `bucket` refills evenly.
    """

    policy_id: LimitPolicyId
    kind: RateLimitKind
    count: int
    """Uses per window; of a bucket: the uses that are refilled in the time of a window."""
    window_ms: int = 60_000
    burst: int = 0
    """Uses that a full bucket has; 0 means `count`."""
    time_zone: str = "UTC"
    """Time zone of calendar days."""

    def __post_init__(self) -> None:
        if self.count < 1 or self.window_ms < 1 or self.burst < 0:
            raise ValueError(
                f"limit '{self.policy_id}': count and window_ms must be above 0, burst must not be below 0"
            )

    @property
    def shape(self) -> str:
        """Returns the key of its counters; a policy whose shape changes starts with new counters."""
        return f"day:{self.time_zone}" if self.kind == "day" else f"{self.kind}:{self.window_ms}"

    @property
    def capacity(self) -> int:
        return self.burst or self.count

    @property
    def refill_us(self) -> int:
        """Microseconds in which a bucket gets one use back, rounded up."""
        return -(-self.window_ms * 1000 // self.count)

    def window(self, moment: int) -> tuple[int, int]:
        """Returns start and end of the window that a time in milliseconds belongs to."""
        if self.kind == "day":
            return _day(moment, self.time_zone)
        start = moment - moment % self.window_ms
        return start, start + self.window_ms


@dataclass(frozen=True, slots=True)
class LimitSubject:
    """The person, chat, agent or other thing that a limit counts for."""

    key: str
    conversation_id: ConversationId = NO_CONVERSATION
    """Conversation that the counter is deleted with; empty if the subject is not one."""


@dataclass(frozen=True, slots=True)
class LimitState:
    """The remaining uses of a limit."""

    now: int
    """Time for which this is calculated: that of the caller, or a later one at which another Host counted."""
    left: int
    available_at: int
    """Time at which the requested uses fit, if there are no others; `now` if they fit already."""


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


def _day(moment: int, time_zone: str) -> tuple[int, int]:
    day = datetime.fromtimestamp(moment / 1000, _zone(time_zone)).replace(hour=0, minute=0, second=0, microsecond=0)
    following = day + timedelta(days=1)
    return round(day.replace(fold=0).timestamp() * 1000), round(following.replace(fold=0).timestamp() * 1000)
