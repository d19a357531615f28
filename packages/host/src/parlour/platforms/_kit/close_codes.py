"""Decides what follows when a platform closes a WebSocket: continue the session, begin a new one, or stop."""

from collections.abc import Mapping
from dataclasses import field

from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class ClosePolicy:
    """Meanings of a platform's close codes. Any other code continues the session."""

    stop: Mapping[int, str] = field(default_factory=dict)
    """Codes after which a retry is useless until the operator changes something, each with a message."""
    restart: frozenset[int] = frozenset()
    """Codes after which the session can't be continued."""
    delays: Mapping[int, float] = field(default_factory=dict)
    """Codes after which the platform wants a pause, in seconds."""
    reasons: Mapping[int, str] = field(default_factory=dict)
    """Codes with a readable reason for the operator."""

    def ends_session(self, code: int) -> bool:
        return code in self.restart

    def delay(self, code: int) -> float:
        return self.delays.get(code, 0.0)

    def describe(self, service: str, code: int) -> str:
        reason = self.reasons.get(code)
        return f"{service} closed the connection: {reason}" if reason else f"{service} closed the connection ({code})"

    def describe_status(self, service: str, status: int, headers: Mapping[str, str] | None = None) -> str:
        """Describes an HTTP response instead of a WebSocket. A platform may say more in its headers."""
        return f"{service} answered with HTTP status {status}"
