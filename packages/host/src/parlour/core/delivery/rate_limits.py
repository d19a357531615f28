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
        self._latest: dict[str, Pause] = {}
        """The latest pause by account."""
        self._calls: dict[str, deque[float]] = {}

    def delay(self, room: RateScope, limits: PlatformLimits, share: float = 1.0) -> float:
        """Returns the seconds until a call is possible, if calls may use this share of a window."""
        return max(self._free_at.get(room.name, 0.0) - _now(), self.unspaced_delay(room, limits, share))

    def unspaced_delay(self, room: RateScope, limits: PlatformLimits, share: float = 1.0) -> float:
        """Returns the delay for a call that needs no spacing from the messages of its chat."""
        now = _now()
        free = [now + self.pause_left(room)]
        for name, calls, seconds in _windows(room, limits):
            made, most = self._calls.get(name, ()), max(1, int(calls * share))
            if len(made) >= most:
                free.append(made[-most] + seconds)
        return max(0.0, max(free) - now)

    def reserve(self, room: RateScope, limits: PlatformLimits, edit: bool = False, longest: float = inf) -> float:
        """Reserves the next slot and returns the seconds until it is due. Reserves nothing if that is more than
        `longest`.
        """
        now, wait = _now(), self.delay(room, limits)
        if wait > longest:
            return wait
        per_second = limits.edits_per_second if edit and limits.edits_per_second else limits.sends_per_second
        self._free_at[room.name] = now + wait + 1 / per_second
        self._count(room, limits, now + wait)
        return wait

    def count_unspaced(self, room: RateScope, limits: PlatformLimits) -> None:
        """Counts a call without spacing that is made now."""
        self._count(room, limits, _now())

    def _count(self, room: RateScope, limits: PlatformLimits, at: float) -> None:
        for name, calls, _ in _windows(room, limits):
            self._calls.setdefault(name, deque(maxlen=calls)).append(at)
        self._prune(_now())

    def record_pause(self, room: RateScope, refused: PlatformRefused) -> None:
        """Records the time before which the platform accepts nothing, if it named one."""
        if refused.retry_after is None:
            return
        now = _now()
        pause = Pause(room.name, now, now + refused.retry_after)
        if refused.account_wide:
            self._extend_pause(room.account, pause.until)
            return
        self._extend_pause(room.name, pause.until)
        if not isinstance(refused, PlatformOffline):
            self._pause_account(room.account, pause)

    def _pause_account(self, account: str, pause: Pause) -> None:
        before, self._latest[account] = self._latest.get(account), pause
        if (
            before is not None
            and before.scope != pause.scope
            and pause.announced_at - before.announced_at < SHARED_PAUSE_WINDOW_SECONDS
        ):
            self._extend_pause(account, min(before.until, pause.until))

    def _extend_pause(self, name: str, until: float) -> None:
        self._paused_until[name] = max(self._paused_until.get(name, 0.0), until)

    async def wait_pause(self, room: RateScope) -> None:
        """Returns when no pause is left, including pauses that are announced during the wait."""
        wait = self.pause_left(room)
        if wait:
            await asyncio.sleep(wait)
            await self.wait_pause(room)

    def pause_left(self, room: RateScope) -> float:
        """Returns the seconds that are left of a pause."""
        if not self._paused_until:
            return 0.0
        return max(0.0, max(self._paused_until.get(name, 0.0) for name in (room.name, room.account)) - _now())

    def _prune(self, now: float) -> None:
        if len(self._free_at) > MAX_TRACKED_SCOPES:
            self._free_at = {name: free for name, free in self._free_at.items() if free > now}
            self._paused_until = {name: until for name, until in self._paused_until.items() if until > now}
        if len(self._calls) > MAX_TRACKED_SCOPES:
            self._calls = {name: made for name, made in self._calls.items() if made[-1] > now - MINUTE_SECONDS}


def edit_interval(room: RateScope, limits: PlatformLimits) -> float:
    """Returns the seconds between two edits of a streamed message, such that the limits are never exhausted."""
    by_minute = limits.group_calls_per_minute if room.type == "group" else 0
    return max(1 / limits.edits_per_second, MINUTE_SECONDS / by_minute if by_minute else 0.0)


def _windows(room: RateScope, limits: PlatformLimits) -> Iterator[tuple[str, int, float]]:
    if limits.group_calls_per_minute and room.type == "group":
        yield room.name, limits.group_calls_per_minute, MINUTE_SECONDS
    if limits.calls_per_second:
        yield room.account, limits.calls_per_second, 1.0


def _now() -> float:
    return asyncio.get_running_loop().time()
