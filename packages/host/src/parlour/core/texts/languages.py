"""Chooses the language of the Host's own texts for the sender of an event."""

from parlour.core.model.event import EventEnvelope, RecordedEvent

from .catalogue import DEFAULT_LANGUAGE, match_language, text


class Languages:
    """Chooses the sender's own language if it is known, otherwise that of the workspace."""

    def __init__(self, workspace: str = DEFAULT_LANGUAGE) -> None:
        self._workspace = workspace

    def set_workspace_language(self, workspace: str) -> None:
        """Changes the language of the workspace."""
        self._workspace = workspace

    def for_event(self, envelope: EventEnvelope) -> str:
        return self.for_locale(envelope.locale)

    def for_locale(self, locale: str) -> str:
        """Returns the language of a locale; if the Host does not have it or the locale is empty, the workspace's."""
        return match_language(locale) or self._workspace

    def text(self, event: RecordedEvent, key: str, **values: object) -> str:
        """Returns a sentence in the language of the event's sender."""
        return text(key, self.for_event(event.envelope), **values)
