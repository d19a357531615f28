"""Counts open connections, in total and by address, and decides whether a new one is refused."""

import logging
import time
from collections import Counter
from collections.abc import Callable
from typing import Literal

from parlour.http.client_address import TrustedProxies, is_loopback_address, limit_key
from parlour_sdk.values import dataclass

logger = logging.getLogger(__name__)

WARNING_INTERVAL_SECONDS = 60.0
"""Seconds between two warnings about refused connections."""
RefusalReason = Literal["total", "address", "head_bytes", "head_time", "silent"]
"""Why a connection is refused or ended."""


@dataclass(frozen=True, slots=True)
class ConnectionQuota:
    """The limits of connections."""

    total: int
    per_address: int
    head_seconds: float
    silent_seconds: float


class ConnectionLimiter:
    """Counts connections. Loopback and trusted proxies, which serve many clients, have no limit per address."""

    def __init__(
        self, allowance: ConnectionQuota, proxies: TrustedProxies, count: Callable[[RefusalReason], None]
    ) -> None:
        self.quota = allowance
        self._proxies = proxies
        self.on_refused = count
        """Called with the reason for each connection that is refused or ended."""
        self._open = 0
        self._by_address: Counter[str] = Counter()
        self._next_warning = 0.0

    @property
    def open(self) -> int:
        return self._open

    def enter(self, address: str) -> RefusalReason | None:
        """Counts a new connection, or returns why it is refused. `leave` must be called for each counted one."""
        if self._open >= self.quota.total:
            self._warn("%d connections are open: new ones are refused", self._open)
            return "total"
        if not self._exempt(address):
            key = limit_key(address)
            if self._by_address[key] >= self.quota.per_address:
                message = (
                    "%d connections from %s are open: more are refused; is it a proxy, name it in http.trusted_proxies"
                )
                self._warn(message, self._by_address[key], key)
                return "address"
            self._by_address[key] += 1
        self._open += 1
        return None

    def leave(self, address: str) -> None:
        self._open -= 1
        key = limit_key(address)
        if self._by_address[key] > 1:
            self._by_address[key] -= 1
        else:
            del self._by_address[key]

    def _warn(self, message: str, *arguments: object) -> None:
        """Logs at most one warning per interval, since refused clients try again."""
        if time.monotonic() >= self._next_warning:
            self._next_warning = time.monotonic() + WARNING_INTERVAL_SECONDS
            logger.warning(message, *arguments)

    def _exempt(self, address: str) -> bool:
        return is_loopback_address(address) or self._proxies.includes(address)
