"""Reads and writes lines of IRC: tags, source, command and parameters. No sent line can contain another."""

import re
from datetime import datetime

from parlour_sdk.values import dataclass

MAX_LINE_BYTES = 512
MAX_TAG_BYTES = 4094
_ESCAPES = {":": ";", "s": " ", "r": "\r", "n": "\n", "\\": "\\"}
_ESCAPED = {";": "\\:", " ": "\\s", "\r": "\\r", "\n": "\\n", "\\": "\\\\"}
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_FORMATTING = re.compile(r"\x03(?:\d{1,2}(?:,\d{1,2})?)?|\x04(?:[0-9a-fA-F]{6})?|[\x02\x0f\x11\x16\x1d\x1e\x1f]")


@dataclass(frozen=True, slots=True)
class IrcLine:
    """One line that the server sent."""

    text: str
    tags: dict[str, str]
    source: str
    """The server, or `nick!user@host`."""
    command: str
    params: tuple[str, ...]

    @property
    def nick(self) -> str:
        return self.source.partition("!")[0]

    @property
    def mask(self) -> tuple[str, str]:
        """The user and the host of the source; empty for a server."""
        user, _, host = self.source.partition("!")[2].partition("@")
        return user, host

    def param(self, place: int) -> str:
        """Returns a parameter, or an empty text."""
        return self.params[place] if place < len(self.params) else ""

    @property
    def last(self) -> str:
        return self.params[-1] if self.params else ""


def read_line(data: bytes) -> str:
    """Decodes a line; clients of old use other encodings than UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def parse_line(text: str) -> IrcLine:
    """Parses a line. Raises ValueError if it has no command."""
    rest, tags, source = text, dict[str, str](), ""
    if rest.startswith("@"):
        encoded, _, rest = rest[1:].partition(" ")
        tags = dict(_tag(each) for each in encoded.split(";") if each)
        rest = rest.lstrip(" ")
    if rest.startswith(":"):
        source, _, rest = rest[1:].partition(" ")
        rest = rest.lstrip(" ")
    middle, separator, trailing = rest.partition(" :")
    command, *params = middle.split()
    if separator:
        params.append(trailing)
    return IrcLine(text, tags, source, command.upper(), tuple(params))


def line_time(line: IrcLine) -> int:
    """Returns the time of a line in milliseconds; 0 if the server does not name it."""
    text = line.tags.get("time", "")
    try:
        return round(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000) if text else 0
    except ValueError:
        return 0


def format_line(command: str, *params: str, tags: dict[str, str] | None = None) -> bytes:
    """Returns a line with its end. Control characters are left out, so that text never becomes a command."""
    *middle, last = params if params else ("",)
    words = [command, *(_word(each) for each in middle)]
    if params:
        words.append(f":{clean(last)}")
    prefix = f"@{';'.join(f'{name}={_escape(value)}' for name, value in tags.items())} " if tags else ""
    return f"{prefix}{' '.join(words)}\r\n".encode()


def clean(text: str) -> str:
    """Removes control characters; the mark of CTCP stays."""
    return _CONTROL.sub(lambda match: match[0] if match[0] == "\x01" else "", text)


def without_formatting(text: str) -> str:
    """Removes colours and other formatting, which only clients of IRC understand."""
    return _FORMATTING.sub("", text)


def _word(text: str) -> str:
    """Returns a parameter that is not the last one. Raises ValueError if it would be read as several."""
    if not text or text.startswith(":") or _CONTROL.search(text) or " " in text:
        raise ValueError("a name on IRC has no blanks and does not begin with a colon")
    return text


def _tag(encoded: str) -> tuple[str, str]:
    name, _, value = encoded.partition("=")
    plain = re.sub(r"\\(.?)", lambda match: _ESCAPES.get(match[1], match[1]), value, flags=re.DOTALL)
    return name, plain


def _escape(value: str) -> str:
    return "".join(_ESCAPED.get(character, character) for character in value)
