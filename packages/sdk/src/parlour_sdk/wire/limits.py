"""The limits of one connection. Other modules decide which connections get more than the defaults."""

from typing import Final

from ..values import dataclass

MEBIBYTE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class WireLimits:
    """Limits of one side of a connection; use `dataclasses.replace` to change one, and `math.inf` to lift a rate."""

    frame_bytes: int = 2 * MEBIBYTE
    """The largest frame, sent or received."""
    unary_calls: int = 128
    """Calls in flight per direction."""
    streams: int = 1000
    """Streams served at the same time."""
    window: int = 128
    """Parts of a stream that may be out unacknowledged; both sides must agree."""
    frames_per_second: float = 5000
    bytes_per_second: float = 16 * MEBIBYTE
    cancel_grace: float = 5.0
    """Seconds after which a cancelled call frees its slot even if it was never answered."""
    max_depth: int = 64
    """Levels of nesting in a frame, its own object included."""
    max_elements: int = 50_000
    """Opening brackets and commas in a frame, which bounds the values it holds and the time they take."""
    unread_answer_bytes: int = 4 * MEBIBYTE
    """Immediate answers (ping, refusals) owed to a side that asks without ever reading, before it is cut off."""


DEFAULT_LIMITS: Final = WireLimits()
