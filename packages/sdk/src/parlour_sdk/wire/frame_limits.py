"""Rejects frames that would be expensive to parse, by counting bytes; frame fields are not examined.

Frames with few brackets pass after two counts. Only a frame that exceeds this cheap bound is scanned outside its
strings, in a few passes at C speed, so rejecting a malicious frame costs less than reading it did.
"""

from typing import Final

from parlour_sdk.wire.errors import FrameTooLarge, MalformedFrame
from parlour_sdk.wire.limits import WireLimits

_AS_SQUARE: Final = bytes.maketrans(b"{}", b"[]")
_NOT_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in b"{}[]")


def check_frame_limits(frame: bytes, limits: WireLimits) -> None:
    """Raises `MalformedFrame` if the frame is too large, nested too deeply or has too many elements."""
    size = len(frame)
    if size > limits.frame_bytes:
        raise FrameTooLarge(limits.frame_bytes)
    bracket_count = frame.count(b"[") + frame.count(b"{")
    # Every element takes at least two bytes, so in a short frame the commas needn't be counted.
    within_element_limit = size <= 2 * limits.max_elements or bracket_count + frame.count(b",") <= limits.max_elements
    if not within_element_limit or bracket_count > limits.max_depth:
        _check_structure(frame, limits)


def _check_structure(frame: bytes, limits: WireLimits) -> None:
    structure = _outside_strings(frame, limits)
    if structure.count(b"[") + structure.count(b"{") + structure.count(b",") > limits.max_elements:
        raise _too_many_elements(limits)
    brackets = structure.translate(_AS_SQUARE, _NOT_BRACKETS)
    for _ in range(limits.max_depth):  # each pass removes the innermost level
        without_innermost = brackets.replace(b"[]", b"")
        if len(without_innermost) == len(brackets):
            break
        brackets = without_innermost
    if brackets:
        raise MalformedFrame(f"a frame may be nested {limits.max_depth} levels deep, with every bracket closed")


def _outside_strings(frame: bytes, limits: WireLimits) -> bytes:
    """Returns the frame without its strings.

    It is correct for valid JSON: a backslash starts an escape, so pairs of them, counted from the left, are escaped
    backslashes. The parser stops where the JSON is invalid, so a wrong count after that point does no harm.
    """
    if b"\\" in frame:
        frame = frame.replace(b"\\\\", b"").replace(b'\\"', b"")
    if frame.count(b'"') > 4 * limits.max_elements + 4:  # a key and a value per element, two quotes each
        raise _too_many_elements(limits)
    return b"".join(frame.split(b'"')[::2])


def _too_many_elements(limits: WireLimits) -> MalformedFrame:
    return MalformedFrame(f"a frame may hold at most {limits.max_elements} elements")
