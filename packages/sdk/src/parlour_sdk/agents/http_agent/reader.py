"""Defines EventReader, which a runner implements to read the events of its service."""

from abc import ABC, abstractmethod
from collections.abc import Iterable

from .splitters import ServerEvent, StreamSplitter
from .updates import Update


class EventReader(ABC):
    """Turns the native events of one answer into updates. It does no input or output, so that it is easy to test."""

    @abstractmethod
    def read(self, event: ServerEvent) -> Iterable[Update] | None:
        """Returns the updates of an event, or None if its type is unknown. Raises ServiceFailure for an error event."""

    def finish(self) -> Iterable[Update]:
        """Returns the updates at the end of the stream: `[StreamEnd()]` if the service sends no last event."""
        return ()


def read_stream(blocks: Iterable[bytes], splitter: StreamSplitter, reader: EventReader) -> list[Update]:
    """Reads a recorded stream to its end: the fixture tests of a reader need no server."""
    updates: list[Update] = []
    for block in blocks:
        for event in splitter.feed(block):
            updates += reader.read(event) or ()
    for event in splitter.finish():
        updates += reader.read(event) or ()
    return [*updates, *reader.finish()]
