"""Decides whether to send a failure notice on a platform: only to users who addressed the bot, and not too often."""

from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ports import Clock
from parlour.core.routing.filters import mentions_bot

from .targets import PLATFORM

NOTICE_INTERVAL_MILLISECONDS = 600_000
"""Milliseconds between two failure notices in one conversation."""
MAX_TRACKED_CONVERSATIONS = 10_000
"""Conversations that are tracked before expired entries are removed."""


class NoticePolicy:
    """Limits failure notices on platforms. On the Host's own surfaces the sender waits, so a notice is always sent."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last_notice_at: dict[str, int] = {}

    def suppression_reason(self, event: RecordedEvent) -> str:
        """Returns the reason not to send a notice; empty if it should be sent."""
        envelope = event.envelope
        if envelope.surface != PLATFORM or envelope.principal:
            return ""
        if not _addresses_bot(envelope):
            return "nobody had addressed the bot"
        if self._clock.now() - self._last_notice_at.get(event.conversation_id, 0) < NOTICE_INTERVAL_MILLISECONDS:
            return "this conversation was told of a failure less than 10 minutes ago"
        return ""

    def record_sent(self, conversation_id: str) -> None:
        """Records that a notice for this conversation was committed."""
        now = self._clock.now()
        if len(self._last_notice_at) >= MAX_TRACKED_CONVERSATIONS:
            self._last_notice_at = {
                name: at for name, at in self._last_notice_at.items() if now - at < NOTICE_INTERVAL_MILLISECONDS
            }
        self._last_notice_at[conversation_id] = now


def _addresses_bot(envelope: EventEnvelope) -> bool:
    """Returns whether the sender addressed the bot: in a group by mention or reply. Joins and requests do not count."""
    spoken = envelope.event_type.startswith(("message.", "interaction."))
    return spoken and (envelope.data.get("chat_type") != "group" or mentions_bot(envelope))
