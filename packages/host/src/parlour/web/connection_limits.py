"""Counts open connections, in all and by address, and says which new one is refused."""

import resource
from collections import Counter
from collections.abc import Callable
from typing import Literal

from parlour.http.client_address import TrustedProxies, is_loopback_address, limit_key
from parlour_sdk.values import dataclass

Reason = Literal["total", "address", "head_bytes", "head_time", "silent"]
MIN_RESERVED_FILES = 128
"""Open files that are left for the database, plugins and whatever else the Host opens."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """The limits in force."""

    total: int
    per_address: int
    head_seconds: float
    silent_seconds: float


def connections_within_file_limit(wanted: int) -> int:
    """Returns how many connections there can be, leaving a quarter of the open files to everything else."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return wanted
    return max(1, min(wanted, files - max(MIN_RESERVED_FILES, files // 4)))


class ConnectionLimits:
    """Loopback and trusted proxies have no limit of their own: behind them are many clients."""

    def __init__(self, allowance: Allowance, proxies: TrustedProxies, count: Callable[[Reason], None]) -> None:
        self.allowance = allowance
        self._proxies = proxies
        self.count = count
        """Called with the reason for each connection that is refused or cut."""
        self._open = 0
        self._by_address: Counter[str] = Counter()

    @property
    def open(self) -> int:
        return self._open

    def enter(self, address: str) -> Reason | None:
        """Counts a new connection, or says why it is refused. An entered one has to `leave`."""
        if self._open >= self.allowance.total:
            return "total"
        if not self._exempt(address):
            key = limit_key(address)
            if self._by_address[key] >= self.allowance.per_address:
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

    def _exempt(self, address: str) -> bool:
        return is_loopback_address(address) or self._proxies.includes(address)
