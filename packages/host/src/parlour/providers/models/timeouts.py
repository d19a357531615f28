"""How long a service is waited for, how often it is asked, and how much is taken from it."""

from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """Times in seconds."""

    connect: float = 10
    first_token: float = 120
    """From the request to the first byte of its answer."""
    stall: float = 60
    """Between two pieces of an answer."""
    total: float = 600
    attempts: int = 3
    longest_wait: float = 20
    """A service that wants to be left alone for longer is not waited for."""
    answer_bytes: int = 32 * 1024 * 1024
