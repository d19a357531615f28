"""Reads the responses of IMAP: atoms, strings, literals and lists; and writes its arguments."""

import base64
from typing import Final

Value = str | bytes | list["Value"] | None
"""An atom is a str, a string or literal is bytes, NIL is None, and a list is a list of values."""
MAX_DEPTH: Final = 40
_ENDS: Final = frozenset(b" ()")


class ImapUnreadable(ValueError):
    """Raised for a response that is no IMAP."""


def parse(line: bytes, literals: list[bytes]) -> list[Value]:
    """Returns the values of a response. Each `{n}` at the end of a line was replaced by a zero byte, and its content
    is in `literals`, in order.
    """
    values, position = _values(line, 0, iter(literals), 0)
    if position != len(line):
        raise ImapUnreadable("a list is closed twice")
    return values


def _values(line: bytes, position: int, literals: "object", depth: int) -> tuple[list[Value], int]:
    if depth > MAX_DEPTH:
        raise ImapUnreadable("lists are nested too deeply")
    values: list[Value] = []
    while position < len(line):
        match line[position : position + 1]:
            case b" ":
                position += 1
            case b"(":
                inner, position = _values(line, position + 1, literals, depth + 1)
                if line[position : position + 1] != b")":
                    raise ImapUnreadable("a list is not closed")
                values.append(inner)
                position += 1
            case b")":
                return values, position
            case b'"':
                quoted, position = _quoted(line, position + 1)
                values.append(quoted)
            case b"\0":
                values.append(next(literals))  # type: ignore[call-overload]
                position += 1
            case _:
                atom, position = _atom(line, position)
                values.append(None if atom.upper() == "NIL" else atom)
    return values, position


def _quoted(line: bytes, position: int) -> tuple[bytes, int]:
    content = bytearray()
    while position < len(line):
        byte = line[position]
        if byte == ord('"'):
            return bytes(content), position + 1
        if byte == ord("\\") and position + 1 < len(line):
            position += 1
        content.append(line[position])
        position += 1
    raise ImapUnreadable("a string is not closed")


def _atom(line: bytes, position: int) -> tuple[str, int]:
    """Reads an atom; one such as BODY[HEADER.FIELDS (A B)] contains blanks and parentheses within its brackets."""
    start, brackets = position, 0
    while position < len(line) and (brackets or line[position] not in _ENDS):
        brackets += {ord("["): 1, ord("]"): -1}.get(line[position], 0)
        brackets = max(brackets, 0)
        position += 1
    return line[start:position].decode("utf-8", "replace"), position


def quoted(text: str) -> str:
    """Returns a quoted string. Raises ValueError if the text needs a literal."""
    if not text.isascii() or set(text) & set("\r\n\0"):
        raise ValueError("this text can't be a quoted string")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def folder_name(name: str) -> str:
    """Returns the name of a folder in the modified UTF-7 of IMAP, quoted."""
    encoded, pending = "", ""
    for character in name + "\0":
        if character.isascii():
            if pending:
                text = base64.b64encode(pending.encode("utf-16-be")).decode().rstrip("=").replace("/", ",")
                encoded, pending = f"{encoded}&{text}-", ""
            encoded += "&-" if character == "&" else character
        else:
            pending += character
    return quoted(encoded.removesuffix("\0"))
