"""Chooses the language in which the Host speaks to the sender of an event."""

from parlour.core.model.event import EventEnvelope, RecordedEvent

from .catalogue import DEFAULT_LANGUAGE, matched, text


class Languages:
    """The person's own language where it is known, otherwise that of the workspace."""

    def __init__(self, workspace: str = DEFAULT_LANGUAGE) -> None:
        self._workspace = workspace

    def use(self, workspace: str) -> None:
        """Changes the workspace's language from now on."""
        self._workspace = workspace

    def of(self, envelope: EventEnvelope) -> str:
        return self.of_locale(envelope.locale)

    def of_locale(self, locale: str) -> str:
        """The workspace's language where the locale is empty or asks for a language that the Host does not have."""
        return matched(locale) or self._workspace

    def text(self, event: RecordedEvent, key: str, **values: object) -> str:
        """The sentence in the language of the event's sender."""
        return text(key, self.of(event.envelope), **values)
