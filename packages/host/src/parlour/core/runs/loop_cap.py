"""How many runs a conversation may begin in a minute, so that two bots never talk each other into the night.

Whoever asks with a key or in the web chat is no bot, and a person who writes to the bot alone may write as fast as they
like.
"""

from collections import deque

from parlour.core.delivery.addresses import PLATFORM
from parlour.core.events.envelope import RecordedEvent
from parlour.core.ports import Clock

MINUTE_MILLISECONDS = 60_000
KEPT = 10_000
"""Conversations that are remembered before those that went quiet are let go."""


class LoopCap:
    def __init__(self, per_minute: int, clock: Clock) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._begun: dict[str, deque[int]] = {}

    def allow(self, per_minute: int) -> None:
        """From now on."""
        self._per_minute = per_minute

    def admits(self, event: RecordedEvent) -> bool:
        """Whether one more may begin now; it counts then."""
        if not self.has_room(event):
            return False
        self.count(event)
        return True

    def has_room(self, event: RecordedEvent) -> bool:
        return not self._limits(event) or len(self._recent(event.conversation_id)) < self._per_minute

    def count(self, event: RecordedEvent) -> None:
        if self._limits(event):
            self._recent(event.conversation_id).append(self._clock.now())

    def _limits(self, event: RecordedEvent) -> bool:
        """A limit of 0 is none."""
        envelope = event.envelope
        of_people = envelope.surface == PLATFORM and not envelope.principal
        return bool(self._per_minute) and of_people and envelope.data.get("chat_type") != "private"

    def _recent(self, conversation_id: str) -> deque[int]:
        now = self._clock.now()
        begun = self._begun.get(conversation_id)
        if begun is None:
            self._let_go(now)
            begun = self._begun[conversation_id] = deque()
        while begun and begun[0] <= now - MINUTE_MILLISECONDS:
            begun.popleft()
        return begun

    def _let_go(self, now: int) -> None:
        if len(self._begun) >= KEPT:
            before = now - MINUTE_MILLISECONDS
            self._begun = {name: begun for name, begun in self._begun.items() if begun and begun[-1] > before}
