"""Composes ids of several parts into one string and back without loss, and shortens idempotency keys."""

import base64
import hashlib
import uuid

SEPARATOR = "|"
_ESCAPES = {"%": "%25", SEPARATOR: "%7C"}
_CHARACTERS = {escape: character for character, escape in _ESCAPES.items()}


def compose_id(*parts: str) -> str:
    """Joins parts, such as `user|agent`. A separator within a part is escaped, so that any text is possible."""
    if not parts:
        raise ValueError("a composed id has at least one part")
    return SEPARATOR.join("".join(_ESCAPES.get(character, character) for character in part) for part in parts)


def split_id(composed: str, count: int) -> tuple[str, ...]:
    """Returns the parts of a composed id. Raises ValueError if it was not composed of this many parts."""
    parts = composed.split(SEPARATOR)
    if len(parts) != count:
        raise ValueError(f"an id of {count} parts is expected, as {SEPARATOR.join(['part'] * count)}")
    return tuple(_unescape(part) for part in parts)


def short_key(key: str, length: int) -> str:
    """Returns a key of at most this many letters and digits that is the same for the same idempotency key."""
    digest = base64.b32encode(hashlib.sha256(key.encode()).digest()).decode().rstrip("=").lower()
    return digest[:length]


def uuid_key(key: str) -> str:
    """Returns a UUID that is the same for the same idempotency key."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, key))


def _unescape(part: str) -> str:
    pieces = part.split("%")
    text = pieces[0]
    for piece in pieces[1:]:
        escape = f"%{piece[:2]}"
        if escape not in _CHARACTERS:
            raise ValueError("the id contains a % that is not part of an escape")
        text += _CHARACTERS[escape] + piece[2:]
    return text
