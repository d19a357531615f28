"""A failure around the journal is reported, loses nothing, and ends with its cause."""

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from parlour.core.journal import Row, Search, Select, StorageFailed
from parlour.core.store.tables import EVENTS, META, TRANSCRIPT
from parlour.stores.sqlite import SqliteJournal, fulltext
from parlour.testing.journal_contract import commit, contents, event, meta, searchable

COMMITTING = """
import asyncio, sys
from pathlib import Path
from parlour.core.journal import GuardFailed
from parlour.stores.sqlite import SqliteJournal
from parlour.testing.journal_contract import commit, event, meta, searchable

async def main():
    async with SqliteJournal(Path(sys.argv[1])) as journal:
        async def writer(name):
            for number in range(1_000_000):
                text = f"{name} {number} {sys.argv[2]}"
                ((row,), *_) = await commit(journal, event(text), meta(text), searchable(text, "rain " * 10))
                print(row["seq"], flush=True)
                try:
                    await commit(journal, event(text + " lost"), meta(text))
                    raise SystemExit("this name is taken")
                except GuardFailed:
                    pass
        await asyncio.gather(*(writer(name) for name in range(20)))

asyncio.run(main())
"""

FILLING = """
import asyncio, resource, sys
from pathlib import Path
from parlour.core.journal import StorageFailed
from parlour.stores.sqlite import SqliteJournal
from parlour.testing.journal_contract import commit, event, insert, meta

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

async def attempt(journal, number):
    try:
        await commit(journal, event(f"{number}"), meta(f"{number}", "x" * 50_000))
        return "done"
    except StorageFailed as failure:
        return failure.code

async def main():
    async with SqliteJournal(Path(sys.argv[1])) as journal:
        limit(1_000_000)
        numbers = iter(range(1_000_000))
        outcomes = []
        while "storage_full" not in outcomes:
            outcomes += await asyncio.gather(*(attempt(journal, next(numbers)) for _ in range(10)))
        outcomes += await asyncio.gather(*(attempt(journal, next(numbers)) for _ in range(10)))
        limit(resource.RLIM_INFINITY)
        outcomes.append(await attempt(journal, "last"))
        print(*outcomes)

asyncio.run(main())
"""


def stored(database: Path) -> tuple[list[Row], list[Row]]:
    """Returns the events and the meta rows, after an integrity check of the file."""

    async def read() -> tuple[list[Row], list[Row]]:
        async with SqliteJournal(database) as journal:
            return await contents(journal, EVENTS), await contents(journal, META)

    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    return asyncio.run(read())


def found(database: Path) -> set[str]:
    """Returns the result of a search, after an integrity check of the index."""

    async def search() -> list[Row]:
        async with SqliteJournal(database) as journal:
            return await journal.search(Search(TRANSCRIPT, "words", ("rain",), limit=1_000_000))

    rows = asyncio.run(search())
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("INSERT INTO transcript_words (transcript_words) VALUES ('integrity-check')")
    return {str(row["transcript_id"]) for row in rows}


def test_every_acknowledged_unit_survives_kill_9(database: Path) -> None:
    moments = random.Random(7)
    for start in range(4):
        command = [sys.executable, "-c", COMMITTING, str(database), str(start)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(moments.randrange(1, 1500))]
            process.send_signal(signal.SIGKILL)
            lines += process.stdout.readlines()
        acknowledged = {int(line) for line in lines if line.endswith(b"\n")}
        assert acknowledged
        events, rows = stored(database)
        assert [row["seq"] for row in events] == list(range(1, len(events) + 1))
        assert acknowledged <= {row["seq"] for row in events}
        assert {row["name"] for row in rows} == {row["event_id"] for row in events}, "no unit is there by half"
        assert found(database) == {row["event_id"] for row in events}


def test_a_full_disk_fails_whole_units_and_commits_succeed_when_there_is_room(database: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", FILLING, str(database)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    outcomes = result.stdout.split()
    assert set(outcomes) == {"done", "storage_full"}
    assert outcomes[-1] == "done"
    events, rows = stored(database)
    assert [row["seq"] for row in events] == list(range(1, outcomes.count("done") + 1))
    assert {row["event_id"] for row in events} == {row["name"] for row in rows}


async def test_a_locked_database_fails_the_batch_and_works_again_when_unlocked(database: Path) -> None:
    async with SqliteJournal(database, busy_timeout=0.05) as journal:
        await commit(journal, event("before"))
        with closing(sqlite3.connect(database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            outcomes = await asyncio.gather(
                *(commit(journal, event(f"{number}")) for number in range(5)), return_exceptions=True
            )
            assert {outcome.code for outcome in outcomes if isinstance(outcome, StorageFailed)} == {"storage_busy"}
            assert len(outcomes) == 5
            assert len(await contents(journal, EVENTS)) == 1, "reading goes on"
            other.execute("ROLLBACK")
        assert list(await commit(journal, event("after"))) == [[{"seq": 2}]]


async def test_a_writer_waits_for_a_short_lock_of_another_program(database: Path) -> None:
    async with SqliteJournal(database) as journal:
        with closing(sqlite3.connect(database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            waiting = asyncio.create_task(commit(journal, meta("patient")))
            await journal.read(Select(META))
            assert not waiting.done()
            other.execute("ROLLBACK")
            await waiting
        assert len(await contents(journal, META)) == 1


async def test_a_search_reports_a_locked_database_and_works_again_when_unlocked(database: Path) -> None:
    async with SqliteJournal(database, busy_timeout=0.05) as journal:
        await commit(journal, searchable("a", "rain"))
        query = Search(TRANSCRIPT, "words", ("rain",))
        with closing(sqlite3.connect(database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StorageFailed) as failure:
                await journal.search(query)
            assert failure.value.code == "storage_busy"
            other.execute("ROLLBACK")
        assert len(await journal.search(query)) == 1


async def test_a_failing_index_update_does_not_block_commits(
    database: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with SqliteJournal(database) as journal:
        with monkeypatch.context() as broken:
            broken.setattr(
                fulltext, "INDEX_PENDING", replace(fulltext.INDEX_PENDING, text="INSERT INTO nothing VALUES (1)")
            )
            for name in ("a", "b"):
                await commit(journal, searchable(name, "rain " * fulltext.BATCH_CHARACTERS))
            await commit(journal, meta("after"))
        assert "updating the full-text index failed; new rows wait" in caplog.text
        assert len(await journal.search(Search(TRANSCRIPT, "words", ("rain",)))) == 2


async def test_a_database_that_is_locked_at_the_start_is_reported(database: Path) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageFailed, match="locked by another program") as failure:
            await SqliteJournal(database, busy_timeout=0.01).open()
    assert failure.value.code == "storage_busy"


async def test_a_read_only_database_is_reported(unprivileged: Path) -> None:
    with pytest.raises(StorageFailed, match="can't be written") as failure:
        await SqliteJournal(unprivileged).open()
    assert failure.value.code == "storage_readonly"


async def test_a_missing_database_is_reported_and_not_created(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="check that it exists"):
        await SqliteJournal(tmp_path / "absent.db").open()
    assert os.listdir(tmp_path) == []


async def test_a_file_that_is_not_a_database_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "parlour.db"
    path.write_bytes(b"nothing like a database " * 1000)
    with pytest.raises(StorageFailed, match="restore a backup") as failure:
        await SqliteJournal(path).open()
    assert failure.value.code == "storage_corrupt"


async def test_a_damaged_page_fails_only_statements_that_need_it(database: Path) -> None:
    async with SqliteJournal(database) as journal:
        await commit(journal, *(meta(f"{number}", "x" * 3000) for number in range(200)))
        await commit(journal, event("whole"))
    with closing(sqlite3.connect(database)) as connection:
        [(root,)] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'meta'").fetchall()
    with database.open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\xff" * 4096)
    async with SqliteJournal(database) as journal:
        for damaged in (journal.read(Select(META)), commit(journal, meta("more"))):
            with pytest.raises(StorageFailed, match="damaged") as failure:
                await damaged
            assert failure.value.code == "storage_corrupt"
        assert [row["event_id"] for row in await contents(journal, EVENTS)] == ["whole"]
        assert list(await commit(journal, event("more"))) == [[{"seq": 2}]]
