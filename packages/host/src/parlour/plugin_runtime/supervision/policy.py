"""Limits and times for supervising plugins, and how long a failed plugin waits for its next start."""

from collections import deque
from collections.abc import Callable
from dataclasses import field

from parlour.core.backoff import exponential_delay
from parlour_sdk.values import dataclass
from parlour_sdk.wire import WireLimits


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """Delays between starts of a plugin that fails, and when it is given up for a while."""

    first_delay_seconds: float = 1.0
    max_delay_seconds: float = 60.0
    give_up_after: int = 5
    within_seconds: float = 600.0


@dataclass(frozen=True, slots=True)
class HealthPolicy:
    """Decides when a plugin that does not answer counts as hanging."""

    ping_seconds: float = 10.0
    missed_pings: int = 3
    ignored_cancel_seconds: float = 30.0
    """Seconds after its cancellation at which a run that continues counts as ignoring it."""


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """The most that one plugin may use, and how often that is checked. A manifest can ask for less memory, but not
    for more.
    """

    memory_mb: int = 2048
    data_mb: int = 1024
    data_files: int = 100_000
    open_files: int = 1024
    processes: int = 200
    niceness: int = 5
    process_check_seconds: float = 2.0
    """Seconds between checks of its processes and their memory."""
    data_check_seconds: float = 10.0
    """Seconds between checks of its data folder."""


@dataclass(frozen=True, slots=True)
class SupervisionPolicy:
    """All limits and times of one plugin runtime. Each is a setting, explained where it is used."""

    start_seconds: float = 30.0
    stop_seconds: float = 5.0
    drain_seconds: float = 30.0
    """Seconds that a replaced process has to finish its runs."""
    concurrent_starts: int = 8
    restart: RestartPolicy = RestartPolicy()
    health: HealthPolicy = HealthPolicy()
    resource_limits: ResourceLimits = ResourceLimits()
    wire: WireLimits = field(default_factory=WireLimits)


class FailureWindow:
    """The recent failures of one plugin."""

    def __init__(self, policy: RestartPolicy, clock: Callable[[], float]) -> None:
        self._policy = policy
        self._clock = clock
        self._times: deque[float] = deque()

    @property
    def count(self) -> int:
        return len(self._times)

    @property
    def too_many(self) -> bool:
        return self.count >= self._policy.give_up_after

    def record(self) -> float:
        """Records a failure and returns the seconds until the next start.

        After too many failures, these are the seconds until none of them counts any more.
        """
        now = self._clock()
        self._times.append(now)
        while self._times[0] < now - self._policy.within_seconds:
            self._times.popleft()
        if self.too_many:
            return self._policy.within_seconds
        return exponential_delay(self.count, self._policy.first_delay_seconds, self._policy.max_delay_seconds)

    def advice(self) -> str:
        """Returns what to do about the failures; empty unless they are too many."""
        if not self.too_many:
            return ""
        minutes = f"{self._policy.within_seconds / 60:g} minutes"
        failed = f"it failed {self.count} times within {minutes}"
        return f" ({failed} and is tried again only in {minutes}; restart it when that is mended)"

    def clear(self) -> None:
        self._times.clear()
