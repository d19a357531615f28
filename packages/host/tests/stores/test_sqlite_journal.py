"""The SQLite journal passes the contract suite, groups its commits, and keeps its log short."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from parlour.core.journal import Delete, Journal, Receipt, Search, Select, StorageFailed, Unit, where
from parlour.core.store.tables import EVENTS, META, RUN_EVENTS, TRANSCRIPT
from parlour.stores.sqlite import SqliteJournal
from parlour.stores.sqlite.fulltext import BATCH_CHARACTERS
from parlour.testing.journal_contract import JournalContract, commit, contents, event, insert, meta, searchable


class TestSqliteJournal(JournalContract):
    @pytest.fixture
    async def journal(self, database: Path) -> AsyncIterator[Journal]:
        async with SqliteJournal(database) as journal:
            yield journal


async def test_units_share_transactions_under_load(database: Path) -> None:
    async with SqliteJournal(database) as journal:
        await asyncio.gather(*(commit(journal, meta(f"{number}")) for number in range(1000)))
        assert journal.transactions <= 1000 / 50
        assert len(await contents(journal, META)) == 1000


async def test_a_single_caller_does_not_wait_for_a_batch(database: Path) -> None:
    async with SqliteJournal(database) as journal:
        for number in range(5):
            await commit(journal, meta(f"{number}"))
        assert journal.transactions == 5


async def test_a_batchable_unit_shares_the_transaction_of_the_next(database: Path) -> None:
    async with SqliteJournal(database) as journal:
        waiting = asyncio.ensure_future(journal.commit(Unit("test", (meta("first"),), can_batch=True)))
        await asyncio.sleep(0)
        await commit(journal, meta("second"))
        await waiting
        assert journal.transactions == 1
        assert [row["name"] for row in await contents(journal, META)] == ["first", "second"]


async def test_an_unbatched_unit_is_acknowledged_before_batchable_ones(database: Path) -> None:
    done: list[str] = []

    async def commit_and_note(journal: Journal, name: str, can_batch: bool) -> None:
        await journal.commit(Unit("test", (meta(name),), can_batch=can_batch))
        done.append(name)

    async with SqliteJournal(database) as journal:
        await asyncio.gather(
            commit_and_note(journal, "may wait", True), commit_and_note(journal, "is waited for", False)
        )
        assert (journal.transactions, done) == (1, ["is waited for", "may wait"])


async def test_the_prepare_callback_runs_before_the_commit_is_durable(database: Path) -> None:
    """The prepare callback runs before other connections can see the rows."""
    seen: list[tuple[Receipt, int]] = []
    prepared = asyncio.Event()

    def on_prepared(receipt: Receipt) -> None:
        with closing(sqlite3.connect(database)) as other:
            [(count,)] = other.execute("SELECT count(*) FROM events")
        seen.append((receipt, int(count)))
        prepared.set()

    async with SqliteJournal(database) as journal:
        released = threading.Event()
        journal._writer._thread_tasks.put(
            lambda: released.wait() and None
        )  # the thread is busy until `released` is set
        committing = asyncio.ensure_future(journal.commit(Unit("test", (event("1"),)), on_prepared))
        await prepared.wait()
        assert not committing.done()
        released.set()
        assert seen == [(await committing, 0)]


async def test_a_failing_prepare_callback_does_not_fail_the_unit(
    database: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def on_prepared(receipt: Receipt) -> None:
        raise ValueError("not prepared")

    async with SqliteJournal(database) as journal:
        await journal.commit(Unit("test", (meta("a"),)), on_prepared)
        await commit(journal, meta("b"))
        assert len(await contents(journal, META)) == 2
    assert "the prepare callback of unit test failed" in caplog.text


async def test_batchable_units_alone_are_committed_after_a_short_wait(database: Path) -> None:
    async with SqliteJournal(database) as journal:
        units = [Unit("test", (meta(f"{number}"),), can_batch=True) for number in range(3)]
        await asyncio.gather(*map(journal.commit, units))
        assert journal.transactions == 1
        assert len(await contents(journal, META)) == 3


async def test_closing_commits_a_waiting_unit(database: Path) -> None:
    async with SqliteJournal(database) as journal:
        waiting = asyncio.ensure_future(journal.commit(Unit("test", (meta("first"),), can_batch=True)))
        await asyncio.sleep(0)
    await waiting
    async with SqliteJournal(database) as journal:
        assert len(await contents(journal, META)) == 1


async def test_the_log_stays_short_under_load(database: Path) -> None:
    log = f"{database}-wal"
    longest = 0

    async def writer(journal: Journal, name: int) -> None:
        nonlocal longest
        for number in range(400):
            await commit(journal, insert(RUN_EVENTS, run_id=f"{name}", sequence=number, data="x" * 500))
            longest = max(longest, os.stat(log).st_size)

    async with SqliteJournal(database) as journal:
        await asyncio.gather(*(writer(journal, name) for name in range(50)))
        [newest] = await journal.read(Select(RUN_EVENTS, where(run_id="49", sequence=399)))
        assert newest["data"] == "x" * 500
    assert os.stat(database).st_size > 10 * 2**20
    assert longest < 16 * 2**20
    assert os.listdir(os.path.dirname(database)) == ["parlour.db"]


async def test_a_reader_far_behind_does_not_stop_the_writer(database: Path) -> None:
    async with SqliteJournal(database) as journal:
        with closing(sqlite3.connect(database, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            assert reader.execute("SELECT count(*) FROM meta").fetchall() == [(0,)]
            for number in range(8):
                await commit(journal, meta(f"{number}", "x" * 2**20))
            assert reader.execute("SELECT count(*) FROM meta").fetchall() == [(0,)]
            reader.execute("COMMIT")
        assert len(await contents(journal, META)) == 8


async def test_closing_waits_for_an_active_checkpoint(database: Path) -> None:
    for opening in range(3):
        async with SqliteJournal(database) as journal:
            for number in range(6):
                await commit(journal, meta(f"{opening} {number}", "x" * 2**20))
        assert os.listdir(os.path.dirname(database)) == ["parlour.db"]


async def test_closing_finishes_submitted_units_and_refuses_later_ones(database: Path) -> None:
    journal = SqliteJournal(database)
    await journal.open()
    commits = [asyncio.create_task(commit(journal, meta(f"{number}"))) for number in range(500)]
    await asyncio.sleep(0)
    await journal.close()
    assert all(task.done() and not task.exception() for task in commits)
    for refused in (commit(journal, meta("late")), journal.read(Select(META))):
        with pytest.raises(StorageFailed) as failure:
            await refused
        assert failure.value.code == "storage_closed"
    await journal.close()
    async with SqliteJournal(database) as again:
        assert len(await contents(again, META)) == 500


async def test_cancelled_callers_neither_undo_nor_delay_other_units(database: Path) -> None:
    async with SqliteJournal(database) as journal:
        tasks = [asyncio.create_task(commit(journal, event(f"{number}"))) for number in range(100)]
        reads = [asyncio.create_task(journal.read(Select(META))) for _ in range(10)]
        await asyncio.sleep(0)
        for task in (*tasks[::2], *reads):
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert sum(isinstance(outcome, asyncio.CancelledError) for outcome in outcomes) == 50
        assert [row["seq"] for row in await contents(journal, EVENTS)] == list(range(1, 101))


async def test_readers_cannot_write(database: Path) -> None:
    async with SqliteJournal(database) as journal:
        [reader, *_] = journal._readers._connections
        with pytest.raises(sqlite3.OperationalError):
            reader.execute("DELETE FROM meta")


def indexed(database: Path) -> int:
    with closing(sqlite3.connect(database)) as connection:
        [(count,)] = connection.execute("SELECT count(*) FROM transcript_words_docsize")
        return int(count)


async def test_a_search_finds_rows_from_before_a_restart(database: Path) -> None:
    async with SqliteJournal(database) as journal:
        await commit(journal, searchable("a", "rain"), searchable("b", "rain"), searchable("c", "rain"))
    assert indexed(database) == 0, "a few rows are not indexed yet"
    async with SqliteJournal(database) as journal:
        await commit(journal, Delete(TRANSCRIPT, where(transcript_id="b")))
        found = await journal.search(Search(TRANSCRIPT, "words", ("rain",)))
        assert [row["transcript_id"] for row in found] == ["c", "a"]
    assert indexed(database) == 2


async def test_many_rows_are_indexed_before_a_search(database: Path) -> None:
    async with SqliteJournal(database) as journal:
        for number in range(3):
            await commit(journal, searchable(f"{number}", "rain " * (BATCH_CHARACTERS // 8)))
    assert indexed(database) == 2, "the third is not indexed yet"


async def test_two_journals_of_one_database_find_rows_of_each_other(on_sqlite: list[Journal]) -> None:
    for number, journal in enumerate(on_sqlite):
        await commit(journal, searchable(f"{number}", "rain"))
    for journal in on_sqlite:
        found = await journal.search(Search(TRANSCRIPT, "words", ("rain",)))
        assert [row["transcript_id"] for row in found] == ["1", "0"]
