"""Keeps to a platform's rate limits: spacing within a chat, calls per window, and pauses that the platform asks for.

Complete messages reserve a slot and wait for it; updates of streamed messages only check whether one is free.
"""

import asyncio
from collections import deque
from collections.abc import Iterator
from math import inf

from parlour.core.platforms.manifest import Limits
from parlour.core.platforms.port import PlatformAway, PlatformRefused
from parlour_sdk.values import dataclass

from .targets import Room

REMEMBERED = 10_000
"""Chats and accounts that are tracked before expired entries are removed."""
MINUTE = 60.0
SPARE = 0.75
"""The share of a window that streamed updates may use; the rest is left for complete messages."""
MOMENT = 1.0
"""Seconds within which pauses of two chats count as one pause of the account; some platforms don't say which it is."""


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause that the platform announced for a chat."""

    room: str
    told_at: float
    until: float


class Pace:
    """Tracks calls and pauses per chat and account. Times are those of the event loop."""

    def __init__(self) -> None:
        self._free_at: dict[str, float] = {}
        self._held: dict[str, float] = {}
        self._latest: dict[str, Pause] = {}
        """The latest pause by account."""
        self._calls: dict[str, deque[float]] = {}

    def wait(self, room: Room, limits: Limits, share: float = 1.0) -> float:
        """Returns the seconds until a call is possible, if calls may use this share of a window."""
        return max(self._free_at.get(room.name, 0.0) - _now(), self.wait_beside(room, limits, share))

    def wait_beside(self, room: Room, limits: Limits, share: float = 1.0) -> float:
        """Returns the delay for a call that needs no spacing from the messages of its chat."""
        now = _now()
        free = [now + self.held(room)]
        for name, calls, seconds in _windows(room, limits):
            made, most = self._calls.get(name, ()), max(1, int(calls * share))
            if len(made) >= most:
                free.append(made[-most] + seconds)
        return max(0.0, max(free) - now)

    def book(self, room: Room, limits: Limits, edit: bool = False, longest: float = inf) -> float:
        """Reserves the next slot and returns the seconds until it is due. Reserves nothing if that is more than
        `longest`.
        """
        now, wait = _now(), self.wait(room, limits)
        if wait > longest:
            return wait
        per_second = limits.edits_per_second if edit and limits.edits_per_second else limits.sends_per_second
        self._free_at[room.name] = now + wait + 1 / per_second
        self._count(room, limits, now + wait)
        return wait

    def note_beside(self, room: Room, limits: Limits) -> None:
        """Counts a call without spacing that is made now."""
        self._count(room, limits, _now())

    def _count(self, room: Room, limits: Limits, at: float) -> None:
        for name, calls, _ in _windows(room, limits):
            self._calls.setdefault(name, deque(maxlen=calls)).append(at)
        self._forget(_now())

    def hold(self, room: Room, refused: PlatformRefused) -> None:
        """Records the time before which the platform accepts nothing, if it named one."""
        if refused.retry_after is None:
            return
        now = _now()
        pause = Pause(room.name, now, now + refused.retry_after)
        if refused.everywhere:
            self._keep(room.account, pause.until)
            return
        self._keep(room.name, pause.until)
        if not isinstance(refused, PlatformAway):
            self._keep_in_common(room.account, pause)

    def _keep_in_common(self, account: str, pause: Pause) -> None:
        before, self._latest[account] = self._latest.get(account), pause
        if before is not None and before.room != pause.room and pause.told_at - before.told_at < MOMENT:
            self._keep(account, min(before.until, pause.until))

    def _keep(self, name: str, until: float) -> None:
        self._held[name] = max(self._held.get(name, 0.0), until)

    async def pause(self, room: Room) -> None:
        """Returns when no pause is left, including pauses that are announced during the wait."""
        wait = self.held(room)
        if wait:
            await asyncio.sleep(wait)
            await self.pause(room)

    def held(self, room: Room) -> float:
        """Returns the seconds that are left of a pause."""
        if not self._held:
            return 0.0
        return max(0.0, max(self._held.get(name, 0.0) for name in (room.name, room.account)) - _now())

    def _forget(self, now: float) -> None:
        if len(self._free_at) > REMEMBERED:
            self._free_at = {name: free for name, free in self._free_at.items() if free > now}
            self._held = {name: until for name, until in self._held.items() if until > now}
        if len(self._calls) > REMEMBERED:
            self._calls = {name: made for name, made in self._calls.items() if made[-1] > now - MINUTE}


def growing_interval(room: Room, limits: Limits) -> float:
    """Returns the seconds between two edits of a streamed message, such that the limits are never exhausted."""
    by_minute = limits.group_calls_per_minute if room.type == "group" else 0
    return max(1 / limits.edits_per_second, MINUTE / by_minute if by_minute else 0.0)


def _windows(room: Room, limits: Limits) -> Iterator[tuple[str, int, float]]:
    if limits.group_calls_per_minute and room.type == "group":
        yield room.name, limits.group_calls_per_minute, MINUTE
    if limits.calls_per_second:
        yield room.account, limits.calls_per_second, 1.0


def _now() -> float:
    return asyncio.get_running_loop().time()
