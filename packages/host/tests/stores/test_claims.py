"""The database makes a claim exclusive: one of many claimers with separate journals gets the run."""

import asyncio

import pytest

from parlour.core.journal import GuardFailed, Journal, Select, Unit
from parlour.core.store import ledger, remote_queue
from parlour.core.store.ledger import NewRun
from parlour.core.store.tables import QUEUE, RUNS
from parlour.testing import MemoryDatabase, MemoryJournal

RUNS_QUEUED = 20
CLAIMERS = 10


@pytest.fixture
async def in_memory() -> list[Journal]:
    shared = MemoryDatabase()
    return [MemoryJournal(shared), MemoryJournal(shared)]


def queued(number: int) -> Unit:
    run_id = f"run{number:02}"
    row = NewRun(run_id, number, "e", "a", "b", "r", "p", "c", "", "", "", 1, "", "{}", 0, 0, "{}", "queued")
    return Unit("run.queue", (ledger.insert_run(row), remote_queue.insert(run_id, "shard:00", "r", "p", (), 0)))


async def claim(journal: Journal, number: int, claimer: str) -> bool:
    run_id = f"run{number:02}"
    taken = ledger.transition(run_id, "queued", "claimed", 1, claimed_by=claimer, lease_until=2)
    try:
        await journal.commit(Unit("run.claim", (taken, remote_queue.claim(run_id, claimer))))
    except GuardFailed:
        return False
    return True


async def check(journals: list[Journal]) -> None:
    for number in range(RUNS_QUEUED):
        await journals[0].commit(queued(number))

    async def claimer(number: int) -> list[str]:
        name = f"claimer{number}"
        journal = journals[number % len(journals)]
        return [f"run{run:02}" for run in range(RUNS_QUEUED) if await claim(journal, run, name)]

    claimed = await asyncio.gather(*(claimer(number) for number in range(CLAIMERS)))

    assert sorted(run_id for taken in claimed for run_id in taken) == [f"run{run:02}" for run in range(RUNS_QUEUED)]
    runs = {row["run_id"]: row["claimed_by"] for row in await journals[1].read(Select(RUNS))}
    leases = {row["run_id"]: row["lease"] for row in await journals[1].read(Select(QUEUE))}
    assert runs == leases == {run_id: f"claimer{number}" for number, taken in enumerate(claimed) for run_id in taken}


async def test_each_run_is_claimed_once_in_memory(in_memory: list[Journal]) -> None:
    await check(in_memory)


async def test_each_run_is_claimed_once_on_sqlite(on_sqlite: list[Journal]) -> None:
    await check(on_sqlite)


async def test_each_run_is_claimed_once_on_postgres(on_postgres: list[Journal]) -> None:
    await check(on_postgres)
