"""How many runs a conversation may begin in a minute, so that two bots never talk each other into the night.

Whoever asks with a key or in the web chat is no bot. A person who writes to the bot alone may write as fast as they
like, but nobody goes on so for long: a private chat that does is held to the limit as groups are.
"""

from bisect import bisect_right
from dataclasses import field

from parlour.core.delivery.addresses import PLATFORM
from parlour.core.events.envelope import RecordedEvent
from parlour.core.ports import Clock
from parlour_sdk.values import dataclass

MINUTE_MILLISECONDS = 60_000
PATIENCE_MILLISECONDS = 10 * MINUTE_MILLISECONDS
"""So long a private chat may be beyond the limit without a break."""
HELD_MILLISECONDS = 60 * MINUTE_MILLISECONDS
"""So long it is held to the limit then, since it was last refused."""
KEPT = 1000
"""Conversations that are remembered before those that went quiet are let go."""


@dataclass(slots=True)
class Talk:
    """A conversation of late."""

    begun: list[int] = field(default_factory=list)
    """When its runs of this minute began, the latest if they are too many."""
    beyond_since: int = 0
    """Since when every minute has had too many; 0 if the last one had not."""
    held_until: int = 0

    def lively(self, before: int) -> bool:
        return (bool(self.begun) and self.begun[-1] > before) or self.held_until > before


class LoopCap:
    def __init__(self, per_minute: int, clock: Clock) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._talks: dict[str, Talk] = {}
        self._most = KEPT

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
        if not self._limits(event):
            return True
        talk = self._recent(event)
        if len(talk.begun) < self._per_minute:
            talk.beyond_since = 0
            return True
        return event.envelope.data.get("chat_type") == "private" and self._bears(talk, self._clock.now())

    def count(self, event: RecordedEvent) -> None:
        if self._limits(event):
            talk = self._recent(event)
            talk.begun.append(self._clock.now())
            del talk.begun[: -self._per_minute]

    def _limits(self, event: RecordedEvent) -> bool:
        """A limit of 0 is none."""
        envelope = event.envelope
        return bool(self._per_minute) and envelope.surface == PLATFORM and not envelope.principal

    @staticmethod
    def _bears(talk: Talk, now: int) -> bool:
        talk.beyond_since = talk.beyond_since or now
        held = now < talk.held_until or now >= talk.beyond_since + PATIENCE_MILLISECONDS
        if held:
            talk.held_until = now + HELD_MILLISECONDS
        return not held

    def _recent(self, event: RecordedEvent) -> Talk:
        before = self._clock.now() - MINUTE_MILLISECONDS
        talk = self._talks.get(event.conversation_id)
        if talk is None:
            self._let_go(before)
            talk = self._talks[event.conversation_id] = Talk()
        del talk.begun[: bisect_right(talk.begun, before)]
        return talk

    def _let_go(self, before: int) -> None:
        """Of those that went quiet, when they are as many again as were kept last time."""
        if len(self._talks) >= self._most:
            lively = {name: talk for name, talk in self._talks.items() if talk.lively(before)}
            self._talks, self._most = lively, KEPT + 2 * len(lively)
