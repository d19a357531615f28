"""Tests a Host's own view of its lease: the gate of effects closes before the lease ends, and opens with a renewal."""

import asyncio
from collections.abc import Callable

import pytest

from parlour.core.cluster.leases import (
    BEAT_SECONDS,
    EFFECT_MARGIN_SECONDS,
    LEASE_SECONDS,
    HostFacts,
    HostLease,
    LeaseKeeper,
)
from parlour.core.cluster.ownership import PartLost
from parlour.core.journal import StorageFailed
from parlour.core.model.ids import HostId
from parlour.testing.memory_journal import MemoryDatabase
from parlour.testing.memory_leases import MemoryHostLeases

ANN = HostId("ann")


class HandClock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_the_gate_is_open_until_shortly_before_the_end_of_the_lease() -> None:
    clock = HandClock()
    lease = HostLease(clock)
    lease.extend(clock.seconds)
    clock.seconds += LEASE_SECONDS - EFFECT_MARGIN_SECONDS - 0.01
    assert lease.effect_gate() is None
    clock.seconds += 0.01
    gate = lease.effect_gate()
    assert gate is not None
    gate.close()  # type: ignore[attr-defined]


async def test_an_effect_waits_for_the_renewal() -> None:
    clock = HandClock()
    lease = HostLease(clock)
    gate = lease.effect_gate()
    assert gate is not None
    waiting = asyncio.ensure_future(gate)
    await asyncio.sleep(0)
    assert not waiting.done()
    lease.extend(clock.seconds)
    await waiting


async def test_a_renewal_that_was_asked_for_too_long_ago_opens_nothing() -> None:
    clock = HandClock()
    lease = HostLease(clock)
    asked_at = clock.seconds
    clock.seconds += 7  # the process was paused between question and answer
    lease.extend(asked_at)
    gate = lease.effect_gate()
    assert gate is not None
    waiting = asyncio.ensure_future(gate)
    await asyncio.sleep(0)
    lease.extend(asked_at)
    await asyncio.sleep(0)
    assert not waiting.done()
    lease.lose()
    with pytest.raises(PartLost):
        await waiting


async def test_a_fenced_host_has_no_effects_and_is_told_once() -> None:
    told: list[str] = []
    lease = HostLease(HandClock(), lambda: told.append("lost"))
    lease.extend(100.0)
    lease.lose()
    lease.lose()
    assert told == ["lost"]
    gate = lease.effect_gate()
    assert gate is not None
    with pytest.raises(PartLost):
        await gate


class FailingLeases(MemoryHostLeases):
    """Leases in a database that can be cut off or stop answering."""

    is_cut = False
    hangs = False

    async def renew(self, host_id: HostId) -> bool:
        if self.is_cut:
            raise StorageFailed("storage_unreachable", "the database does not answer")
        if self.hangs:
            await asyncio.Event().wait()
        return await super().renew(host_id)


async def beats(count: int, work: Callable[[], None]) -> None:
    """Lets a keeper beat for a while."""
    for _ in range(count):
        await asyncio.sleep(BEAT_SECONDS)
        work()


@pytest.mark.parametrize("fault", ["is_cut", "hangs"])
async def test_a_keeper_outlasts_a_short_failure_and_ends_after_it_was_fenced(fault: str) -> None:
    loop = asyncio.get_running_loop()
    leases = FailingLeases(MemoryDatabase(), lambda: round(loop.time() * 1000))
    await leases.join(HostFacts(ANN, "ann", "1"))
    lease = HostLease(loop.time)
    keeping = asyncio.create_task(LeaseKeeper(leases, ANN, lease).serve())
    await beats(2, lambda: None)
    assert lease.effect_gate() is None
    setattr(leases, fault, True)
    await beats(2, lambda: None)
    assert lease.effect_gate() is None
    await beats(5, lambda: None)
    gate = lease.effect_gate()
    assert gate is not None
    setattr(leases, fault, False)
    await gate
    assert await leases.fence_expired() == []
    setattr(leases, fault, True)
    await beats(8, lambda: None)
    assert await leases.fence_expired() == [ANN]
    setattr(leases, fault, False)
    await keeping
    assert lease.is_lost
