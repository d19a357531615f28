"""Whether somebody on a platform is told that there is no answer: only who addressed the bot, and not too often."""

from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ports import Clock
from parlour.core.routing.filters import mentions_bot

from .targets import PLATFORM

PAUSE_MILLISECONDS = 600_000
KEPT = 10_000


class Tact:
    """On the Host's own surfaces whoever asked is always told; they wait for it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._told: dict[str, int] = {}

    def silence(self, event: RecordedEvent) -> str:
        """Why nothing should be said, in words; empty when it should be."""
        envelope = event.envelope
        if envelope.surface != PLATFORM or envelope.principal:
            return ""
        if not _addressed(envelope):
            return "nobody had addressed the bot"
        if self._clock.now() - self._told.get(event.conversation_id, 0) < PAUSE_MILLISECONDS:
            return "this conversation was told of a failure less than 10 minutes ago"
        return ""

    def told(self, conversation_id: str) -> None:
        """What was to be said is durable."""
        now = self._clock.now()
        if len(self._told) >= KEPT:
            self._told = {name: at for name, at in self._told.items() if now - at < PAUSE_MILLISECONDS}
        self._told[conversation_id] = now


def _addressed(envelope: EventEnvelope) -> bool:
    """In a group, who mentioned the bot or answered it; a join or a friend's request addresses nobody."""
    spoken = envelope.event_type.startswith(("message.", "interaction."))
    return spoken and (envelope.data.get("chat_type") != "group" or mentions_bot(envelope))
