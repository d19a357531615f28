"""Split the bytes of a response into events, whatever the boundaries of the blocks. Each event has a size limit."""

import json
import re
from typing import Any, Final, Protocol

from ...values import dataclass
from .errors import ServiceFailure

MAX_EVENT_BYTES = 1024 * 1024
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_JSON_MARK: Final = re.compile(rb'["\\{}\[\]]')
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event of a stream. JSON texts that are not in an SSE stream have only `data`."""

    data: str
    name: str = ""
    id: str = ""
    comments: tuple[str, ...] = ()
    """Comment lines before or within the event."""

    def json(self) -> Any:
        """Returns the parsed data. Raises ServiceFailure if it is no JSON."""
        try:
            return json.loads(self.data)
        except (ValueError, RecursionError):
            raise ServiceFailure("protocol", "an event is no JSON") from None

    def json_values(self) -> list[Any]:
        """Returns the parsed data, or that of each line: some servers send several JSON texts in one event."""
        try:
            return [self.json()]
        except ServiceFailure:
            return [ServerEvent(line).json() for line in self.data.splitlines() if line.strip()]

    def json_object(self) -> dict[str, Any]:
        """Returns the parsed data. Raises ServiceFailure if it is no JSON object."""
        value = self.json()
        if not isinstance(value, dict):
            raise ServiceFailure("protocol", "an event is no JSON object")
        return value


class StreamSplitter(Protocol):
    """Splits a stream. `feed` and `finish` raise ServiceFailure if an event is too large or malformed."""

    def feed(self, block: bytes) -> list[ServerEvent]: ...

    def finish(self) -> list[ServerEvent]: ...


class _LineBuffer:
    """Joins blocks to lines that end with CR, LF or CRLF."""

    def __init__(self) -> None:
        self._partial = bytearray()
        self._at_start = True
        self._after_carriage_return = False

    def feed(self, block: bytes) -> list[bytes]:
        if self._after_carriage_return and block.startswith(b"\n"):
            block = block[1:]
            self._after_carriage_return = False
        if not block:
            return []
        lines, start = [], 0
        for match in _LINE_END.finditer(block):
            self._partial += block[start : match.start()]
            start = match.end()
            lines.append(self._take())
        self._partial += block[start:]
        self._after_carriage_return = block.endswith(b"\r")
        return lines

    @property
    def size(self) -> int:
        return len(self._partial)

    def rest(self) -> list[bytes]:
        return [self._take()] if self._partial else []

    def _take(self) -> bytes:
        line = bytes(self._partial)
        self._partial.clear()
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BYTE_ORDER_MARK)
        return line


class EventStreamSplitter:
    """Splits a stream of server-sent events. The last event needs no blank line after it."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._lines = _LineBuffer()
        self._limit = max_event_bytes
        self._last_id = ""
        self._data: list[str] = []
        self._comments: list[str] = []
        self._name = ""
        self._size = 0

    def feed(self, block: bytes) -> list[ServerEvent]:
        events: list[ServerEvent] = []
        for line in self._lines.feed(block):
            self._read_line(line, events)
        _check_size(self._size + self._lines.size, self._limit)
        return events

    def finish(self) -> list[ServerEvent]:
        events: list[ServerEvent] = []
        for line in (*self._lines.rest(), b""):
            self._read_line(line, events)
        return events

    def _read_line(self, line: bytes, events: list[ServerEvent]) -> None:
        if not line:
            if self._data:
                data, comments = "\n".join(self._data), tuple(self._comments)
                events.append(ServerEvent(data, self._name, self._last_id, comments))
            self._reset()
            return
        self._size += len(line)
        _check_size(self._size, self._limit)
        name, _, value = line.decode(errors="replace").partition(":")
        value = value.removeprefix(" ")
        match name:
            case "":
                self._comments.append(value)
            case "data":
                self._data.append(value)
            case "event":
                self._name = value
            case "id" if "\0" not in value:
                self._last_id = value

    def _reset(self) -> None:
        self._data, self._comments, self._name, self._size = [], [], "", 0


class JsonLinesSplitter:
    """Splits a stream with one JSON text per line; blank lines are ignored."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._lines = _LineBuffer()
        self._limit = max_event_bytes

    def feed(self, block: bytes) -> list[ServerEvent]:
        events = self._events(self._lines.feed(block))
        _check_size(self._lines.size, self._limit)
        return events

    def finish(self) -> list[ServerEvent]:
        return self._events(self._lines.rest())

    def _events(self, lines: list[bytes]) -> list[ServerEvent]:
        for line in lines:
            _check_size(len(line), self._limit)
        return [ServerEvent(line.decode(errors="replace")) for line in lines if line.strip()]


class JsonTextSplitter:
    """Splits JSON objects and arrays that follow each other, with or without white space between them."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._limit = max_event_bytes
        self._partial = bytearray()
        self._depth = 0
        self._in_string = False
        self._position = 0
        self._escaped = -1

    def feed(self, block: bytes) -> list[ServerEvent]:
        events: list[ServerEvent] = []
        start = 0
        for match in _JSON_MARK.finditer(block):
            if not self._ends_text(match.group(), self._position + match.start()):
                continue
            self._partial += block[start : match.end()]
            start = match.end()
            events.append(self._take())
        self._partial += block[start:]
        self._position += len(block)
        if self._depth == 0:
            self._check_blank(bytes(self._partial))
            self._partial.clear()
        _check_size(len(self._partial), self._limit)
        return events

    def finish(self) -> list[ServerEvent]:
        self._check_blank(bytes(self._partial))
        return []

    def _ends_text(self, mark: bytes, position: int) -> bool:
        if self._in_string:
            if position == self._escaped:
                return False
            if mark == b"\\":
                self._escaped = position + 1
            elif mark == b'"':
                self._in_string = False
            return False
        if mark == b'"':
            self._in_string = True
        elif mark in b"{[":
            self._depth += 1
        elif mark in b"}]":
            self._depth -= 1
            return self._depth <= 0
        return False

    def _take(self) -> ServerEvent:
        _check_size(len(self._partial), self._limit)
        text = bytes(self._partial).strip()
        self._partial.clear()
        if self._depth < 0 or not text.startswith((b"{", b"[")):
            raise ServiceFailure("protocol", "the stream has something between two JSON texts")
        return ServerEvent(text.decode(errors="replace"))

    def _check_blank(self, rest: bytes) -> None:
        if rest.strip():
            raise ServiceFailure("protocol", "the stream has something that is no complete JSON text")


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        raise ServiceFailure("protocol", f"an event is larger than {limit:,} bytes")
