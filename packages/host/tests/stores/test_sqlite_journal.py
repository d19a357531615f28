"""The SQLite journal keeps the journal's contract."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from parlour.core.journal import Journal
from parlour.stores.migrate import ensure
from parlour.stores.sqlite import SqliteJournal
from parlour.testing.journal_contract import JournalContract


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "parlour.db"
    ensure(path)
    return path


class TestSqliteJournal(JournalContract):
    @pytest.fixture
    async def journal(self, template: Path, tmp_path: Path) -> AsyncIterator[Journal]:
        path = Path(shutil.copy(template, tmp_path))
        async with SqliteJournal(path) as journal:
            yield journal
