"""Chooses the language in which the Host speaks to the sender of an event."""

from parlour.core.events.envelope import LOCALE, EventEnvelope, RecordedEvent

from .catalogue import DEFAULT_LANGUAGE, matched, text


class Languages:
    """The person's own language where it is known, otherwise that of the workspace."""

    def __init__(self, workspace: str = DEFAULT_LANGUAGE) -> None:
        self._workspace = workspace

    def use(self, workspace: str) -> None:
        """Changes the workspace's language from now on."""
        self._workspace = workspace

    def of(self, envelope: EventEnvelope) -> str:
        locale = envelope.actor.data.get(LOCALE)
        return (matched(locale) if isinstance(locale, str) else None) or self._workspace

    def text(self, event: RecordedEvent, key: str, **values: object) -> str:
        """The sentence in the language of the event's sender."""
        return text(key, self.of(event.envelope), **values)
