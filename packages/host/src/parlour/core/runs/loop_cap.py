"""How many runs a conversation may begin in a minute, so that two bots never talk each other into the night."""

from collections import deque

from parlour.core.ports import Clock

MINUTE_MILLISECONDS = 60_000
KEPT = 10_000
"""Conversations that are remembered before those that went quiet are let go."""


class LoopCap:
    def __init__(self, per_minute: int, clock: Clock) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._begun: dict[str, deque[int]] = {}

    def admits(self, conversation_id: str) -> bool:
        """Whether one more may begin now; it counts then. A limit of 0 is none."""
        if not self._per_minute:
            return True
        now = self._clock.now()
        begun = self._begun.get(conversation_id)
        if begun is None:
            self._let_go(now)
            begun = self._begun[conversation_id] = deque()
        while begun and begun[0] <= now - MINUTE_MILLISECONDS:
            begun.popleft()
        if len(begun) >= self._per_minute:
            return False
        begun.append(now)
        return True

    def _let_go(self, now: int) -> None:
        if len(self._begun) >= KEPT:
            before = now - MINUTE_MILLISECONDS
            self._begun = {name: begun for name, begun in self._begun.items() if begun and begun[-1] > before}
