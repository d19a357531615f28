"""The PostgreSQL journal passes the contract suite, groups its commits, and shares a database with other journals."""

import asyncio
import itertools
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import asyncpg
import pytest

from parlour.core.journal import Increment, Journal, Select, Statement, StorageFailed, Update, where
from parlour.core.store.tables import EVENTS, INBOX, META
from parlour.stores.postgres import PostgresJournal
from parlour.stores.postgres.numbers import SLOT_COUNT
from parlour.testing.journal_contract import JournalContract, commit, contents, event, insert, meta
from parlour.testing.postgres_server import PostgresServer

from .polling import eventually

COMMITTING = """
import asyncio, sys
from parlour.stores.postgres import PostgresJournal
from parlour.stores.postgres.numbers import SLOT_COUNT
from parlour.testing.journal_contract import commit, event, meta

async def main(url, process):
    async with PostgresJournal(url) as journal:
        async def writer(name):
            for number in range(1_000_000):
                text = f"{process} {name} {number}"
                ((row,), _) = await commit(journal, event(text), meta(text))
                print(row["seq"], flush=True)
        await asyncio.gather(*(writer(name) for name in range(10)))

asyncio.run(main(*sys.argv[1:]))
"""


class TestPostgresJournal(JournalContract):
    number_step = SLOT_COUNT

    @pytest.fixture
    async def journal(self, url: str) -> AsyncIterator[Journal]:
        async with PostgresJournal(url) as journal:
            yield journal


async def until_connected(server: PostgresServer, database: str, count: int) -> None:
    """Waits until the server has noticed closed connections and ended their transactions."""
    query = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}'"
    await asyncio.to_thread(eventually, lambda: server.execute(query) == [f"{count}"])


def started(url: str, name: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", COMMITTING, url, name], stdout=subprocess.PIPE)


async def numbers(journal: Journal) -> list[int]:
    return [row["seq"] for row in await journal.read(Select(EVENTS, columns=("seq",), order=("seq",)))]


def numbered(count: int, slot: int = 0) -> list[int]:
    """Returns the first numbers of a slot."""
    return [counter * SLOT_COUNT + slot for counter in range(1, count + 1)]


async def test_units_share_transactions_under_load(url: str) -> None:
    async with PostgresJournal(url) as journal:
        await asyncio.gather(*(commit(journal, meta(f"{number}")) for number in range(1000)))
        assert journal.transactions <= 1000 / 50
        assert len(await contents(journal, META)) == 1000


async def test_a_single_caller_does_not_wait_for_a_batch(url: str) -> None:
    async with PostgresJournal(url) as journal:
        for number in range(5):
            await commit(journal, meta(f"{number}"))
        assert journal.transactions == 5


async def test_large_units_do_not_share_a_transaction(url: str) -> None:
    async with PostgresJournal(url) as journal:
        await asyncio.gather(*(commit(journal, meta(f"{number}", "x" * 3 * 2**20)) for number in range(3)))
        assert journal.transactions == 3
        assert {len(row["value"]) for row in await contents(journal, META)} == {3 * 2**20}


async def test_closing_finishes_submitted_units_and_refuses_later_ones(url: str) -> None:
    journal = PostgresJournal(url)
    await journal.open()
    commits = [asyncio.create_task(commit(journal, meta(f"{number}"))) for number in range(500)]
    reads = [asyncio.create_task(journal.read(Select(META, point_read=few))) for few in (False, True) * 10]
    await asyncio.sleep(0)
    await journal.close()
    assert all(task.done() and not task.exception() for task in (*commits, *reads))
    for refused in (
        commit(journal, meta("late")),
        journal.read(Select(META)),
        journal.read(Select(META, point_read=True)),
    ):
        with pytest.raises(StorageFailed) as failure:
            await refused
        assert failure.value.code == "storage_closed"
    await journal.close()
    async with PostgresJournal(url) as again:
        assert len(await contents(again, META)) == 500


async def test_a_closed_journal_leaves_no_connection_and_no_row(
    postgres: PostgresServer, url: str, postgres_database: str
) -> None:
    async with PostgresJournal(url) as journal:
        await commit(journal, meta("a"))
        await asyncio.gather(contents(journal, META), journal.read(Select(META, where(name="a"), point_read=True)))
    await until_connected(postgres, postgres_database, 0)
    assert postgres.execute("SELECT count(*) FROM journal_writers", postgres_database) == ["0"]


async def test_cancelled_callers_neither_undo_nor_delay_other_units(url: str) -> None:
    async with PostgresJournal(url) as journal:
        tasks = [asyncio.create_task(commit(journal, event(f"{number}"))) for number in range(100)]
        reads = [asyncio.create_task(journal.read(Select(META, point_read=few))) for few in (False, True) * 10]
        await asyncio.sleep(0)
        for task in (*tasks[::2], *reads):
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert sum(isinstance(outcome, asyncio.CancelledError) for outcome in outcomes) == 50
        assert await numbers(journal) == numbered(100)
        assert await journal.read(Select(META, point_read=True)) == []


async def test_readers_cannot_write(url: str) -> None:
    async with PostgresJournal(url) as journal:
        await journal.read(Select(META, where(name="a"), point_read=True))
        for connection in (await journal._readers._take_connection(), await journal._point_reader._ensure_connection()):
            with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
                await connection.execute("DELETE FROM meta")


async def test_more_readers_than_connections_are_all_answered(url: str) -> None:
    async with PostgresJournal(url) as journal:
        await commit(journal, *(meta(f"{number}") for number in range(50)))
        answers = await asyncio.gather(*(contents(journal, META) for _ in range(100)))
        assert {len(rows) for rows in answers} == {50}


async def test_a_slow_list_does_not_delay_queries_by_key(url: str) -> None:
    async with PostgresJournal(url, retry_seconds=30) as journal:
        await commit(journal, meta("a"), insert(INBOX, event_seq=1))
        other = await asyncpg.connect(url)
        async with other.transaction():
            await other.execute("LOCK TABLE inbox IN ACCESS EXCLUSIVE MODE")
            lists = [asyncio.create_task(journal.read(Select(INBOX))) for _ in range(20)]
            assert await journal.read(Select(META, where(name="a"), point_read=True)) == [{"name": "a", "value": ""}]
            assert not any(each.done() for each in lists)
        assert [len(rows) for rows in await asyncio.gather(*lists)] == [1] * 20
        await other.close()


async def test_two_journals_number_without_gap_and_in_the_order_they_commit(url: str) -> None:
    async with PostgresJournal(url) as one, PostgresJournal(url) as other, PostgresJournal(url) as watching:

        async def writer(journal: Journal, name: str) -> None:
            latest = 0
            for number in range(40):
                ((row,), _) = await commit(journal, event(f"{name} {number}"), meta(f"{name} {number}"))
                assert row["seq"] > latest
                latest = row["seq"]

        writers = [writer(one, f"one {number}") for number in range(5)]
        writers += [writer(other, f"other {number}") for number in range(5)]
        writing = asyncio.gather(*writers)
        while not writing.done():
            seen = await numbers(watching)
            assert seen == numbered(len(seen)), "a reader that sees a number sees all before it"
        await writing
        assert await numbers(watching) == numbered(400)


async def test_journals_with_different_slots_number_without_gap_and_never_alike(url: str) -> None:
    slots = (0, 1, SLOT_COUNT - 1)
    async with AsyncExitStack() as stack:
        journals = [await stack.enter_async_context(PostgresJournal(url, slot=slot)) for slot in slots]
        names = itertools.product(range(len(slots)), range(60))
        await asyncio.gather(*(commit(journals[slot], event(f"{slot} {number}")) for slot, number in names))
        found = await numbers(journals[0])
    for slot in slots:  # a slot begins above what the others have reached by then
        own = sorted(number for number in found if number % SLOT_COUNT == slot)
        assert own == list(range(own[0], own[0] + 60 * SLOT_COUNT, SLOT_COUNT))
    assert len(set(found)) == len(found) == 60 * len(slots)


async def test_a_slot_that_is_used_for_the_first_time_continues_above_all_others(url: str) -> None:
    async with PostgresJournal(url) as one:
        await commit(one, *(event(f"{number}") for number in range(100)))
        async with PostgresJournal(url, slot=5) as other:
            [[first]] = await commit(other, event("first"))
    assert first["seq"] == 101 * SLOT_COUNT + 5


async def test_writers_of_different_slots_do_not_wait_for_each_other(url: str) -> None:
    async with PostgresJournal(url, slot=1) as one, PostgresJournal(url, slot=2, retry_seconds=0.2) as other:
        await commit(one, event("one"))
        await commit(other, event("two"))
        holder = await asyncpg.connect(url)
        async with holder.transaction():  # like a batch of slot 2 whose commit takes long
            await holder.execute("SELECT FROM journal_counters WHERE slot = 2 FOR UPDATE")
            await commit(one, event("three"))
            with pytest.raises(StorageFailed) as failure:
                await commit(other, event("four"))
        await holder.close()
    assert failure.value.code == "storage_busy"


@pytest.mark.parametrize("slot", [-1, SLOT_COUNT])
def test_a_slot_that_does_not_exist_is_refused(slot: int) -> None:
    with pytest.raises(ValueError, match="slots are 0 to 63"):
        PostgresJournal("postgresql://nowhere", slot=slot)


async def test_killed_writer_processes_leave_no_gap(postgres: PostgresServer, url: str, postgres_database: str) -> None:
    processes = [started(url, f"{number}") for number in range(2)]
    acknowledged: list[bytes] = []
    async with PostgresJournal(url) as watching:
        for process, count in zip(processes, (150, 400), strict=True):
            assert process.stdout is not None
            acknowledged += [await asyncio.to_thread(process.stdout.readline) for _ in range(count)]
            seen = await numbers(watching)
            assert seen == numbered(len(seen))
            process.send_signal(signal.SIGKILL)
            acknowledged += await asyncio.to_thread(process.stdout.readlines)
            process.stdout.close()
            process.wait()
        await until_connected(postgres, postgres_database, 2)
        events, rows = await contents(watching, EVENTS), await contents(watching, META)
    seqs = [int(line) for line in acknowledged if line.endswith(b"\n")]
    assert len(seqs) == len(set(seqs)) >= 550
    assert [each["seq"] for each in events] == numbered(len(events))
    assert set(seqs) <= {each["seq"] for each in events}
    assert {each["name"] for each in rows} == {each["event_id"] for each in events}, "no unit is there by half"


async def test_deadlocked_units_are_retried(postgres: PostgresServer, url: str, postgres_database: str) -> None:
    postgres.execute(f"ALTER DATABASE {postgres_database} SET deadlock_timeout = '5ms'")
    deadlocks = f"SELECT deadlocks FROM pg_stat_database WHERE datname = '{postgres_database}'"
    before = postgres.execute(deadlocks)
    upwards: list[Statement] = [
        Update(INBOX, {"attempts": Increment()}, where(event_seq=number)) for number in range(60)
    ]
    rounds = 0
    async with PostgresJournal(url) as one, PostgresJournal(url) as other:
        await commit(one, *(insert(INBOX, event_seq=number) for number in range(60)))
        for rounds in itertools.count(1):
            await asyncio.gather(
                *(commit(one, *upwards) for _ in range(3)), *(commit(other, *reversed(upwards)) for _ in range(3))
            )
            if rounds % 5 == 0 and postgres.execute(deadlocks) != before:
                break
            assert rounds < 200, "two that go opposite ways never met"
        assert {row["attempts"] for row in await contents(one, INBOX)} == {6 * rounds}
    postgres.execute(f"ALTER DATABASE {postgres_database} RESET deadlock_timeout")


async def test_a_row_locked_by_another_program_fails_only_its_unit(url: str) -> None:
    async with PostgresJournal(url, retry_seconds=0.2) as journal:
        await commit(journal, meta("held"), meta("free"))
        other = await asyncpg.connect(url)
        async with other.transaction():
            await other.execute("UPDATE meta SET value = 'theirs' WHERE name = 'held'")
            held, free, counted = await asyncio.gather(
                commit(journal, Update(META, {"value": "ours"}, where(name="held"))),
                commit(journal, Update(META, {"value": "ours"}, where(name="free"))),
                commit(journal, event("e")),
                return_exceptions=True,
            )
        await other.close()
        assert isinstance(held, StorageFailed)
        assert held.code == "storage_busy"
        assert (list(free), list(counted)) == ([[]], [[{"seq": SLOT_COUNT}]])  # type: ignore[arg-type]
        await commit(journal, Update(META, {"value": "ours"}, where(name="held", value="theirs")))


async def test_a_second_host_on_the_same_database_is_refused_until_the_first_is_gone(url: str) -> None:
    async with PostgresJournal(url, exclusive=True):
        with pytest.raises(StorageFailed, match="already served by another Host") as failure:
            await PostgresJournal(url, exclusive=True, retry_seconds=0.1).open()
        assert failure.value.code == "storage_served"
        async with PostgresJournal(url) as other:
            await commit(other, meta("a command line may write"))
    async with PostgresJournal(url, exclusive=True) as next_one:
        assert len(await contents(next_one, META)) == 1


async def test_the_server_uses_synchronous_commits(postgres: PostgresServer, url: str, postgres_database: str) -> None:
    postgres.execute(f"ALTER DATABASE {postgres_database} SET synchronous_commit = off")
    try:
        async with PostgresJournal(url) as journal:
            assert await journal._writer._session.connection.fetchval("SHOW synchronous_commit") == "on"
    finally:
        postgres.execute(f"ALTER DATABASE {postgres_database} RESET synchronous_commit")


async def test_a_key_that_is_too_long_for_an_index_is_refused_with_a_reason(url: str) -> None:
    async with PostgresJournal(url) as journal:
        with pytest.raises(StorageFailed, match="too long") as failure:
            await commit(journal, event("undone"), meta(os.urandom(5000).hex()))
        assert failure.value.code == "storage_failed"
        assert list(await commit(journal, event("kept"))) == [[{"seq": SLOT_COUNT}]]
