"""Encodes texts for PostgreSQL, which can't store the character NUL, while the other journals can.

NUL is written as two characters, and so is the one that begins such a pair. Encoded texts compare like the texts
themselves, so equality, order and prefixes work as on the other journals.
"""

import re
from typing import Any

MARK = "\x01"
_WRITTEN = str.maketrans({"\0": MARK + "\x01", MARK: MARK + "\x02"})
_PAIR = re.compile("\x01([\x01\x02])")


def encode_text(value: Any) -> Any:
    """Returns the text as it is stored; other values are unchanged."""
    return value.translate(_WRITTEN) if isinstance(value, str) else value


def decode_text(value: Any) -> Any:
    """Returns the original of a stored text; other values are unchanged."""
    if type(value) is str and MARK in value:
        return _PAIR.sub(lambda pair: "\0" if pair[1] == "\x01" else MARK, value)
    return value
