"""Time limits, number of attempts and maximum response size of model calls."""

from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class ModelTimeouts:
    """Limits of a model call. Times are in seconds."""

    connect: float = 10
    first_token: float = 120
    """Time from the request to the first byte of its response."""
    stall: float = 60
    """Maximum time between two blocks of a response."""
    total: float = 600
    attempts: int = 3
    first_pause: float = 0.5
    """Pause before the first retry, unless the service asks for another one; it doubles with each."""
    longest_wait: float = 20
    """Maximum pause before a retry; if the service asks for a longer one, the call fails."""
    answer_bytes: int = 32 * 1024 * 1024
