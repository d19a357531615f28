"""Keeps to what a platform takes: spacing in a chat, calls within a window, and the pauses that it asks for.

Whoever has to be heard books a turn and waits for it; whoever only shows how far something has grown looks whether
there is room.
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
MINUTE = 60.0
SPARE = 0.75
"""What growing messages leave alone of a window is there for whole ones."""
MOMENT = 1.0
"""Some platforms don't say whose pause it is. Two chats that are told of one within a moment have it in common."""


@dataclass(frozen=True, slots=True)
class Pause:
    """That a chat was told of."""

    room: str
    told_at: float
    until: float


class Pace:
    def __init__(self) -> None:
        self._free_at: dict[str, float] = {}
        self._held: dict[str, float] = {}
        self._latest: dict[str, Pause] = {}
        """By account."""
        self._calls: dict[str, deque[float]] = {}

    def wait(self, room: Room, limits: Limits, share: float = 1.0) -> float:
        """Seconds until there is room for a call, if calls may use this share of a window."""
        return max(self._free_at.get(room.name, 0.0) - _now(), self.wait_beside(room, limits, share))

    def wait_beside(self, room: Room, limits: Limits, share: float = 1.0) -> float:
        """The same for a call that keeps no distance from the messages of its chat."""
        now = _now()
        free = [now + self.held(room)]
        for name, calls, seconds in _windows(room, limits):
            made, most = self._calls.get(name, ()), max(1, int(calls * share))
            if len(made) >= most:
                free.append(made[-most] + seconds)
        return max(0.0, max(free) - now)

    def book(self, room: Room, limits: Limits, edit: bool = False, longest: float = inf) -> float:
        """The next turn is taken, unless it comes later than so; seconds until it comes."""
        now, wait = _now(), self.wait(room, limits)
        if wait > longest:
            return wait
        per_second = limits.edits_per_second if edit and limits.edits_per_second else limits.sends_per_second
        self._free_at[room.name] = now + wait + 1 / per_second
        self._count(room, limits, now + wait)
        return wait

    def note_beside(self, room: Room, limits: Limits) -> None:
        """Such a call is made now."""
        self._count(room, limits, _now())

    def _count(self, room: Room, limits: Limits, at: float) -> None:
        for name, calls, _ in _windows(room, limits):
            self._calls.setdefault(name, deque(maxlen=calls)).append(at)
        self._forget(_now())

    def hold(self, room: Room, refused: PlatformRefused) -> None:
        """The platform named a time before which it takes nothing."""
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
        """Returns when no such time is ahead; a further one may be named meanwhile."""
        wait = self.held(room)
        if wait:
            await asyncio.sleep(wait)
            await self.pause(room)

    def held(self, room: Room) -> float:
        """Seconds that are left of such a pause."""
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
    """Seconds between two edits of a message that grows, so that they go on for as long as it does."""
    by_minute = limits.group_calls_per_minute if room.type == "group" else 0
    return max(1 / limits.edits_per_second, MINUTE / by_minute if by_minute else 0.0)


def _windows(room: Room, limits: Limits) -> Iterator[tuple[str, int, float]]:
    if limits.group_calls_per_minute and room.type == "group":
        yield room.name, limits.group_calls_per_minute, MINUTE
    if limits.calls_per_second:
        yield room.account, limits.calls_per_second, 1.0


def _now() -> float:
    return asyncio.get_running_loop().time()
