"""Decides whether to send a failure notice on a platform: only to users who addressed the bot, and not too often."""

from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ports import Clock
from parlour.core.routing.filters import mentions_bot

from .targets import PLATFORM

PAUSE_MILLISECONDS = 600_000
"""Milliseconds between two failure notices in one conversation."""
KEPT = 10_000
"""Conversations that are tracked before expired entries are removed."""


class Tact:
    """Limits failure notices on platforms. On the Host's own surfaces the sender waits, so a notice is always sent."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._told: dict[str, int] = {}

    def silence(self, event: RecordedEvent) -> str:
        """Returns the reason not to send a notice; empty if it should be sent."""
        envelope = event.envelope
        if envelope.surface != PLATFORM or envelope.principal:
            return ""
        if not _addressed(envelope):
            return "nobody had addressed the bot"
        if self._clock.now() - self._told.get(event.conversation_id, 0) < PAUSE_MILLISECONDS:
            return "this conversation was told of a failure less than 10 minutes ago"
        return ""

    def told(self, conversation_id: str) -> None:
        """Records that a notice for this conversation was committed."""
        now = self._clock.now()
        if len(self._told) >= KEPT:
            self._told = {name: at for name, at in self._told.items() if now - at < PAUSE_MILLISECONDS}
        self._told[conversation_id] = now


def _addressed(envelope: EventEnvelope) -> bool:
    """Returns whether the sender addressed the bot: in a group by mention or reply. Joins and requests do not count."""
    spoken = envelope.event_type.startswith(("message.", "interaction."))
    return spoken and (envelope.data.get("chat_type") != "group" or mentions_bot(envelope))
