"""The memory journal passes the journal's contract suite, and its content outlives it."""

import pytest

from parlour.core.journal import Journal, Unit
from parlour.core.store.tables import META
from parlour.testing import MemoryDatabase, MemoryJournal
from parlour.testing.journal_contract import JournalContract, contents, meta


class TestMemoryJournal(JournalContract):
    @pytest.fixture
    async def journal(self) -> Journal:
        return MemoryJournal()


async def test_committed_rows_outlive_the_journal() -> None:
    database = MemoryDatabase()
    await MemoryJournal(database).commit(Unit("test", (meta("kept"),)))
    assert await contents(MemoryJournal(database), META) == [{"name": "kept", "value": ""}]
