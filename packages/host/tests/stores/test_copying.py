"""A PostgreSQL database is copied unchanged into a file and into another database."""

from pathlib import Path

from parlour.core.journal import Delete, Row, Search, where
from parlour.core.store.tables import EVENTS, JOBS, LIMITS, META, STORAGE, TABLES, TRANSCRIPT
from parlour.stores import factory
from parlour.stores.postgres.dump import ROWS_PER_BATCH
from parlour.stores.postgres.numbers import SLOT_COUNT
from parlour.testing.journal_contract import commit, contents, event, insert, meta, searchable
from parlour.testing.postgres_server import PostgresServer

ODD = "nul \0, mark \x01, 中文 🎉"


async def everything(url: str, file: Path) -> dict[str, list[Row]]:
    async with factory.open_journal(url, file) as journal:
        return {table.name: await contents(journal, table) for table in TABLES}


async def fill(url: str) -> None:
    """Writes more than a batch, bytes, unusual texts, searchable words, and numbered rows without the last ones."""
    async with factory.open_journal(url, Path()) as journal:
        await commit(journal, *(meta(f"{number:05d}", ODD) for number in range(2 * ROWS_PER_BATCH + 1)))
        await commit(journal, insert(STORAGE, area="a", owner="o", name=ODD, value=bytes(range(256)), size_bytes=2**60))
        await commit(journal, insert(LIMITS, policy_id="p", subject=ODD, shape="bucket:60000", used=3, full_at=2**55))
        await commit(journal, *(event(str(number)) for number in range(5)))
        await commit(journal, insert(JOBS, job_id="j", kind="webhook", payload=ODD, state="failed", max_attempts=3))
        await commit(journal, Delete(EVENTS, where(event_id="4")), searchable("t", "apple tart"))


async def test_a_copy_has_the_same_rows_and_continues_their_numbers(postgres: PostgresServer, tmp_path: Path) -> None:
    first, second = (postgres.url(postgres.create()) for _ in range(2))
    await fill(first)

    await factory.dump(first, tmp_path / "copy.db")
    await factory.load(tmp_path / "copy.db", second)

    original = await everything(first, tmp_path)
    assert original[JOBS.name][0]["payload"] == ODD
    assert len(original[META.name]) >= 2 * ROWS_PER_BATCH + 1
    assert [(row["subject"], row["used"], row["full_at"]) for row in original[LIMITS.name]] == [(ODD, 3, 2**55)]
    assert await everything("", tmp_path / "copy.db") == original
    assert await everything(second, tmp_path) == original
    for url, number in (("", 5 * SLOT_COUNT + 1), (second, 6 * SLOT_COUNT)):
        async with factory.open_journal(url, tmp_path / "copy.db") as journal:
            [[numbered]] = await commit(journal, event("next"))
            assert numbered["seq"] == number, "the number of a deleted row is not reused"
            found = await journal.search(Search(TRANSCRIPT, "words", ("tart",)))
            assert [row["transcript_id"] for row in found] == ["t"]
