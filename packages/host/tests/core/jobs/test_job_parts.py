"""Jobs of several Hosts: each works on those of its parts, also if a key has jobs of several parts."""

import asyncio

from parlour.core.cluster.leased_ownership import LeasedOwnership
from parlour.core.cluster.leases import HostLease
from parlour.core.jobs.job import Job, JobDone, JobResult
from parlour.core.jobs.progress import JobProgress
from parlour.core.model.ids import PartId

from ..support import BreakableJournal, CountedIds, until
from .job_support import JobsWorld, ToyHandler

FIRST, SECOND = PartId("bot:first"), PartId("bot:second")


def owner_of(*parts: PartId) -> LeasedOwnership:
    ownership = LeasedOwnership(HostLease())
    for part in parts:
        ownership.add(part, 1)
    return ownership


class TwoHosts:
    """Two Hosts on one database, each with the part that bears its name."""

    def __init__(self) -> None:
        journal, ids = BreakableJournal(), CountedIds()
        self.owners = owner_of(FIRST), owner_of(SECOND)
        self.first = JobsWorld(journal, ToyHandler(), ids, self.owners[0], "first")
        self.second = JobsWorld(BreakableJournal(journal.database), ToyHandler(), ids, self.owners[1], "second")


async def test_each_host_works_on_its_own_parts_of_a_key_and_keeps_their_order() -> None:
    hosts = TwoHosts()
    for name, part in (("1", FIRST), ("2", SECOND), ("3", FIRST), ("4", SECOND)):
        await hosts.first.add(name, part=part)
    await hosts.second.jobs.recover([SECOND])
    await hosts.first.idle()
    await hosts.second.idle()
    assert hosts.first.handler.names == ["1", "3"]
    assert hosts.second.handler.names == ["2", "4"]
    assert hosts.first.open_rows() == []


async def test_a_job_of_a_part_that_moves_is_interrupted_and_attempted_again_at_once_by_the_next_owner() -> None:
    hosts = TwoHosts()
    started = asyncio.Event()

    async def hang(job: Job, progress: JobProgress) -> JobResult:
        started.set()
        await asyncio.Event().wait()
        return JobDone()

    hosts.first.handler.behaviours["long"] = hang
    await hosts.first.add("long", part=FIRST)
    await started.wait()
    hosts.owners[0].begin_drain(FIRST)
    await hosts.first.jobs.drain(FIRST)
    hosts.owners[0].remove(FIRST)
    hosts.owners[1].add(FIRST, 2)
    await hosts.second.jobs.recover([FIRST])
    await until(lambda: hosts.second.handler.names == ["long"])
    await hosts.second.idle()
    assert hosts.first.handler.names == ["long"]
    assert hosts.first.open_rows() == []


async def test_a_job_of_a_host_that_was_killed_does_not_wait_for_the_end_of_its_lease() -> None:
    hosts = TwoHosts()
    started = asyncio.Event()

    async def hang(job: Job, progress: JobProgress) -> JobResult:
        started.set()
        await asyncio.Event().wait()
        return JobDone()

    hosts.first.handler.behaviours["long"] = hang
    await hosts.first.add("long", part=FIRST)
    await started.wait()
    hosts.first.die()
    hosts.owners[1].add(FIRST, 2)
    begun_at = asyncio.get_running_loop().time()
    await hosts.second.jobs.recover([FIRST])
    await hosts.second.idle()
    assert hosts.second.handler.names == ["long"]
    assert asyncio.get_running_loop().time() - begun_at < 1
