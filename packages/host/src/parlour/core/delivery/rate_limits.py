"""Keeps to a platform's rate limits: spacing within a chat, calls per window, and pauses that the platform asks for.

Complete messages reserve a slot and wait for it; updates of streamed messages only check whether one is free.
"""

import asyncio
from collections import deque
from collections.abc import Iterator
from math import inf

from parlour.core.platforms.manifest import PlatformLimits
from parlour.core.platforms.port import PlatformOffline, PlatformRefused
from parlour_sdk.values import dataclass

from .targets import RateScope

MAX_TRACKED_SCOPES = 10_000
"""Chats and accounts that are tracked before expired entries are removed."""
MINUTE_SECONDS = 60.0
STREAM_SHARE = 0.75
"""The share of a window that streamed updates may use; the rest is left for complete messages."""
SHARED_PAUSE_WINDOW_SECONDS = 1.0
"""Seconds within which pauses of two chats count as one pause of the account; some platforms don't say which it is."""


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause that the platform announced for a chat."""

    scope: str
    announced_at: float
    until: float


class PlatformRateLimiter:
    """Tracks calls and pauses per chat and account. Times are those of the event loop."""

    def __init__(self) -> None:
        self._free_at: dict[str, float] = {}
        self._paused_until: dict[str, float] = {}
        self._latest_pauses: dict[str, Pause] = {}
        """The latest pause by account."""
        self._calls: dict[str, deque[float]] = {}

    def delay(self, scope: RateScope, limits: PlatformLimits, share: float = 1.0) -> float:
        """Returns the seconds until a call is possible, if calls may use this share of a window."""
        return max(self._free_at.get(scope.name, 0.0) - _now(), self.unspaced_delay(scope, limits, share))

    def unspaced_delay(self, scope: RateScope, limits: PlatformLimits, share: float = 1.0) -> float:
        """Returns the delay for a call that needs no spacing from the messages of its chat."""
        now = _now()
        free = [now + self.pause_left(scope)]
        for name, calls, seconds in _windows(scope, limits):
            call_times, limit = self._calls.get(name, ()), max(1, int(calls * share))
            if len(call_times) >= limit:
                free.append(call_times[-limit] + seconds)
        return max(0.0, max(free) - now)

    def reserve(self, scope: RateScope, limits: PlatformLimits, edit: bool = False, max_wait: float = inf) -> float:
        """Reserves the next slot and returns the seconds until it is due. Reserves nothing if that is more than
        `max_wait`.
        """
        now, wait = _now(), self.delay(scope, limits)
        if wait > max_wait:
            return wait
        per_second = limits.edits_per_second if edit and limits.edits_per_second else limits.sends_per_second
        self._free_at[scope.name] = now + wait + 1 / per_second
        self._count(scope, limits, now + wait)
        return wait

    def count_unspaced(self, scope: RateScope, limits: PlatformLimits) -> None:
        """Counts a call without spacing that is made now."""
        self._count(scope, limits, _now())

    def _count(self, scope: RateScope, limits: PlatformLimits, at: float) -> None:
        for name, calls, _ in _windows(scope, limits):
            self._calls.setdefault(name, deque(maxlen=calls)).append(at)
        self._prune(_now())

    def record_pause(self, scope: RateScope, refusal: PlatformRefused) -> None:
        """Records the time before which the platform accepts nothing, if it named one."""
        if refusal.retry_after is None:
            return
        now = _now()
        pause = Pause(scope.name, now, now + refusal.retry_after)
        if refusal.account_wide:
            self._extend_pause(scope.account, pause.until)
            return
        self._extend_pause(scope.name, pause.until)
        if not isinstance(refusal, PlatformOffline):
            self._pause_account(scope.account, pause)

    def _pause_account(self, account: str, pause: Pause) -> None:
        previous, self._latest_pauses[account] = self._latest_pauses.get(account), pause
        if (
            previous is not None
            and previous.scope != pause.scope
            and pause.announced_at - previous.announced_at < SHARED_PAUSE_WINDOW_SECONDS
        ):
            self._extend_pause(account, min(previous.until, pause.until))

    def _extend_pause(self, name: str, until: float) -> None:
        self._paused_until[name] = max(self._paused_until.get(name, 0.0), until)

    async def wait_pause(self, scope: RateScope) -> None:
        """Returns when no pause is left, including pauses that are announced during the wait."""
        wait = self.pause_left(scope)
        if wait:
            await asyncio.sleep(wait)
            await self.wait_pause(scope)

    def pause_left(self, scope: RateScope) -> float:
        """Returns the seconds that are left of a pause."""
        if not self._paused_until:
            return 0.0
        return max(0.0, max(self._paused_until.get(name, 0.0) for name in (scope.name, scope.account)) - _now())

    def _prune(self, now: float) -> None:
        if len(self._free_at) > MAX_TRACKED_SCOPES:
            self._free_at = {name: free for name, free in self._free_at.items() if free > now}
            self._paused_until = {name: until for name, until in self._paused_until.items() if until > now}
        if len(self._calls) > MAX_TRACKED_SCOPES:
            self._calls = {
                name: call_times for name, call_times in self._calls.items() if call_times[-1] > now - MINUTE_SECONDS
            }


def edit_interval(scope: RateScope, limits: PlatformLimits) -> float:
    """Returns the seconds between two edits of a streamed message, such that the limits are never exhausted."""
    by_minute = limits.group_calls_per_minute if scope.type == "group" else 0
    return max(1 / limits.edits_per_second, MINUTE_SECONDS / by_minute if by_minute else 0.0)


def _windows(scope: RateScope, limits: PlatformLimits) -> Iterator[tuple[str, int, float]]:
    if limits.group_calls_per_minute and scope.type == "group":
        yield scope.name, limits.group_calls_per_minute, MINUTE_SECONDS
    if limits.chat_calls_per_minute:
        yield f"{scope.name}/minute", limits.chat_calls_per_minute, MINUTE_SECONDS
    if limits.calls_per_second:
        yield scope.account, limits.calls_per_second, 1.0


def _now() -> float:
    return asyncio.get_running_loop().time()
