"""A database of PostgreSQL goes into a file and into another database, row by row as it was."""

from pathlib import Path

from parlour.core.journal import Delete, Row, Search, where
from parlour.core.store.tables import EVENTS, META, STORAGE, TABLES, TRANSCRIPT
from parlour.stores import factory
from parlour.stores.postgres.dump import ROWS_PER_BATCH
from parlour.testing.journal_contract import commit, contents, event, insert, meta, searchable
from parlour.testing.postgres_server import PostgresServer

ODD = "nul \0, mark \x01, 中文 🎉"


async def everything(url: str, file: Path) -> dict[str, list[Row]]:
    async with factory.open_journal(url, file) as journal:
        return {table.name: await contents(journal, table) for table in TABLES}


async def fill(url: str) -> None:
    """More than a batch, bytes, texts that need care, words to be found, and numbers whose last rows are gone."""
    async with factory.open_journal(url, Path()) as journal:
        await commit(journal, *(meta(f"{number:05d}", ODD) for number in range(2 * ROWS_PER_BATCH + 1)))
        await commit(journal, insert(STORAGE, area="a", owner="o", name=ODD, value=bytes(range(256)), size_bytes=2**60))
        await commit(journal, *(event(str(number)) for number in range(5)))
        await commit(journal, Delete(EVENTS, where(event_id="4")), searchable("t", "apple tart"))


async def test_what_is_copied_is_the_same_and_goes_on_with_its_numbers(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    first, second = (postgres.url(postgres.create()) for _ in range(2))
    await fill(first)

    await factory.dump(first, tmp_path / "copy.db")
    await factory.load(tmp_path / "copy.db", second)

    was = await everything(first, tmp_path)
    assert len(was[META.name]) >= 2 * ROWS_PER_BATCH + 1
    assert await everything("", tmp_path / "copy.db") == was
    assert await everything(second, tmp_path) == was
    for url in ("", second):
        async with factory.open_journal(url, tmp_path / "copy.db") as journal:
            [[numbered]] = await commit(journal, event("next"))
            assert numbered["seq"] == 6, "the number of a row that is gone is not given again"
            found = await journal.search(Search(TRANSCRIPT, "words", ("tart",)))
            assert [row["transcript_id"] for row in found] == ["t"]
