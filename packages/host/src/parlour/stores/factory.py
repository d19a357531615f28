"""Opens the journal that the settings name. The drivers are loaded when they are needed."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from parlour.core.journal import Journal, StorageFailed


@asynccontextmanager
async def opened(url: str, file: Path, *, alone: bool = False) -> AsyncIterator[Journal]:
    """PostgreSQL at the address, or SQLite in the file when there is none; with all tables. Raises StorageFailed.

    `alone` keeps another Host off the database. For a file, the lock on its data directory does that.
    """
    async with _postgres(url, alone) if url else _sqlite(file) as journal:
        yield journal


async def current(url: str, file: Path) -> str | None:
    """The database's revision; None when there is none yet. Raises StorageFailed."""
    if not url:
        from . import migrate

        return migrate.current(file)
    with _driver():
        from .postgres import migrate as elsewhere
    return await elsewhere.current(url)


async def dump(url: str, file: Path) -> None:
    """All that is in PostgreSQL, as a new file of SQLite. Raises StorageFailed."""
    with _driver():
        from .postgres import dump as copying
    await copying.dump(url, file)


async def load(file: Path, url: str) -> None:
    """What is in a file of SQLite into an empty database of PostgreSQL. Raises StorageFailed."""
    with _driver():
        from .postgres import dump as copying
    await copying.load(file, url)


@asynccontextmanager
async def _sqlite(file: Path) -> AsyncIterator[Journal]:
    from . import migrate
    from .sqlite import SqliteJournal

    migrate.ensure(file)
    async with SqliteJournal(file) as journal:
        yield journal


@asynccontextmanager
async def _postgres(url: str, alone: bool) -> AsyncIterator[Journal]:
    with _driver():
        from .postgres import PostgresJournal, migrate
    await migrate.ensure(url)
    async with PostgresJournal(url, alone=alone) as journal:
        yield journal


@contextmanager
def _driver() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "asyncpg":
            raise
        raise StorageFailed(
            "storage_driver_missing",
            "database.url names a PostgreSQL database, and the package asyncpg is not installed: "
            "install it with pip install 'parlour[postgres]', or empty database.url.",
        ) from error
