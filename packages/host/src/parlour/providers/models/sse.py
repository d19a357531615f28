"""Splits a stream of bytes into server-sent events, independent of block boundaries.

It does not interpret their data.
"""

MAX_LINE_BYTES = 4 * 1024 * 1024


class EventTooLong(Exception):
    """Raised when one line of the stream is longer than any event of a model."""


class SseSplitter:
    """Incremental parser. `feed` returns the data of each complete event; lines end with \\n, \\r\\n or \\r."""

    def __init__(self) -> None:
        self._buffer = b""
        self._data: list[bytes] = []
        self._has_begun = False

    def feed(self, block: bytes) -> list[bytes]:
        text = self._buffer + block
        if not self._has_begun:
            text, self._has_begun = text.removeprefix(b"\xef\xbb\xbf"), len(text) >= 3
        *lines, self._buffer = _lines(text)
        if len(self._buffer) > MAX_LINE_BYTES:
            raise EventTooLong
        return [event for line in lines if (event := self._process_line(line)) is not None]

    def end(self) -> list[bytes]:
        """Returns the last event if no empty line followed it."""
        last, self._buffer = self._buffer, b""
        events = [self._process_line(last.removesuffix(b"\r")), self._process_line(b"")]
        return [event for event in events if event is not None]

    def _process_line(self, line: bytes) -> bytes | None:
        """Processes one line. All fields but data are ignored, because models put the kind of event into the data."""
        if not line:
            event, self._data = self._data, []
            return b"\n".join(event) if event else None
        if line.startswith(b"data:"):
            self._data.append(line[6:] if line[5:6] == b" " else line[5:])
        return None


def _lines(text: bytes) -> list[bytes]:
    """Splits into lines, the last of which is incomplete. A final \\r may be half of a line end, so it stays there."""
    if b"\r" not in text:
        return text.split(b"\n")
    ends_in_return = text.endswith(b"\r")
    body = text[:-1] if ends_in_return else text
    lines = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    if ends_in_return:
        lines[-1] += b"\r"
    return lines
