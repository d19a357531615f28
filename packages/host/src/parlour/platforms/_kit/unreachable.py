"""Says what an operator can do if no connection to a platform can be opened."""

from parlour.core.platforms.port import PlatformOffline

OFFLINE_RETRY_SECONDS = 1.0
CHECK_ADDRESS = "check the network, a proxy, or the address in the bot's form"


class PlatformUnreachable(PlatformOffline):
    """Raised when no connection can be opened. `service` names the platform or its server."""

    def __init__(self, service: str, reason: str) -> None:
        super().__init__(f"{service} can't be reached: {reason}", retry_after=OFFLINE_RETRY_SECONDS)


def with_advice(error: Exception, advice: str = CHECK_ADDRESS) -> str:
    """Returns the text of an error, with what to check if no connection could be opened."""
    return f"{error}; {advice}" if isinstance(error, PlatformUnreachable) else str(error)
