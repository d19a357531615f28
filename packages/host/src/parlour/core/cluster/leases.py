"""Leases of Hosts that share a database.

A Host renews its lease every half a second. One whose lease is over is fenced by the others: from then on it can commit
nothing, so its parts can be taken over. The database's clock decides about that. The Host itself stops effects outside
shortly before its lease ends by its own clock, which `HostLease` keeps.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

from parlour.core.journal import StorageFailed
from parlour.core.model.ids import HostId
from parlour_sdk.values import dataclass

from .ownership import PartLost

logger = logging.getLogger(__name__)

LEASE_SECONDS = 2.5
BEAT_SECONDS = 0.5
"""Seconds between two renewals of a lease."""
BEAT_TIMEOUT_SECONDS = 1.0
"""Seconds after which a renewal without an answer is given up and tried again."""
MISSED_BEATS_SECONDS = 1.0
"""Seconds without a renewal after which a Host whose connection has ended is fenced before its lease is over."""
EFFECT_MARGIN_SECONDS = 0.2
"""Seconds before the end of a lease from which no effect outside begins."""


@dataclass(frozen=True, slots=True)
class HostFacts:
    """A Host as others see it. Each process has an id of its own, which is never used again."""

    host_id: HostId
    name: str
    version: str
    address: str = ""
    """Where the other Hosts reach it; empty if they can't."""


class HostLeases(Protocol):
    """The leases in the database. All methods raise StorageFailed."""

    async def join(self, host: HostFacts) -> int:
        """Adds a Host with a new lease, and returns its number slot. Raises StorageFailed if all slots are in use."""
        ...

    async def renew(self, host_id: HostId) -> bool:
        """Extends a lease. Returns False if the Host is fenced."""
        ...

    async def fence_expired(self) -> list[HostId]:
        """Fences the Hosts whose lease is over, and frees their parts. Waits for commits of theirs in progress."""
        ...

    async def leave(self, host_id: HostId) -> None:
        """Fences a Host that has finished its work, so that others need not wait for the end of its lease."""
        ...

    async def raise_numbers(self, slot: int) -> None:
        """Makes the numbers of a slot continue above all existing ones, so that they grow within parts taken over."""
        ...


def clock_through_suspend() -> float:
    """Returns the seconds of a clock that never jumps, and counts while the machine is suspended if it can."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)


class HostLease:
    """A Host's own view of its lease. It may be renewed in another thread than the one that asks for it."""

    def __init__(
        self, now: Callable[[], float] = clock_through_suspend, on_lost: Callable[[], None] = lambda: None
    ) -> None:
        """`on_lost` is called once, in the thread that notices that the Host is fenced."""
        self.now = now
        self._on_lost = on_lost
        self._ends_at = 0.0
        self._is_lost = False
        self._lock = threading.Lock()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []

    @property
    def is_lost(self) -> bool:
        return self._is_lost

    def extend(self, asked_at: float) -> None:
        """Counts the lease from the time at which its renewal was asked for."""
        self._ends_at = asked_at + LEASE_SECONDS
        self._wake()

    def lose(self) -> None:
        """Ends the lease for good."""
        with self._lock:
            was_lost, self._is_lost = self._is_lost, True
        if not was_lost:
            self._wake()
            self._on_lost()

    def effect_gate(self) -> Awaitable[None] | None:
        """Returns None while the lease is valid; otherwise what to await. See `Ownership.effect_gate`."""
        return None if self.is_valid else self._wait()

    @property
    def is_valid(self) -> bool:
        """True if an effect outside may begin."""
        return not self._is_lost and self.now() < self._ends_at - EFFECT_MARGIN_SECONDS

    async def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        while not self._is_lost:
            renewed = loop.create_future()
            with self._lock:
                self._waiting.append((loop, renewed))
            if self.is_valid:  # it may have been renewed just before
                return
            await renewed
        raise PartLost("another Host has taken over the work of this one")

    def _wake(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for loop, renewed in waiting:
            loop.call_soon_threadsafe(_resolve, renewed)


class LeaseKeeper:
    """Renews a lease until the Host is fenced."""

    def __init__(self, leases: HostLeases, host_id: HostId, lease: HostLease) -> None:
        self._leases = leases
        self._host_id = host_id
        self._lease = lease

    async def serve(self) -> None:
        """Returns when the Host is fenced."""
        while not self._lease.is_lost:
            asked_at = self._lease.now()
            await self._beat(asked_at)
            await asyncio.sleep(max(0.0, BEAT_SECONDS - (self._lease.now() - asked_at)))

    async def _beat(self, asked_at: float) -> None:
        try:
            async with asyncio.timeout(BEAT_TIMEOUT_SECONDS):
                is_renewed = await self._leases.renew(self._host_id)
        except (StorageFailed, TimeoutError) as failure:
            logger.warning("the lease of this Host was not renewed: %s", failure or "the database did not answer")
            return
        if is_renewed:
            self._lease.extend(asked_at)
        else:
            logger.critical("this Host is fenced: its lease was over, and other Hosts take over its work")
            self._lease.lose()


def _resolve(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
