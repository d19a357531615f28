"""Opens the journal that the settings name. Drivers are imported only when they are needed."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from parlour.core.cluster.member import SINGLE_HOST, ClusterMember
from parlour.core.journal import Journal, StorageFailed


@asynccontextmanager
async def open_journal(
    url: str,
    file: Path,
    *,
    exclusive: bool = False,
    copy_before_upgrade: bool = True,
    member: ClusterMember | None = None,
) -> AsyncIterator[Journal]:
    """Opens PostgreSQL at the address, or SQLite in the file if there is no address, with all tables.

    Raises StorageFailed. `exclusive` keeps other Hosts off the database; for a file, the lock on its data directory
    does that. `copy_before_upgrade` copies a file before its schema is changed. `member` is the place of a Host that
    shares the database with others.
    """
    async with _postgres(url, exclusive, member) if url else _sqlite(file, copy_before_upgrade) as journal:
        yield journal


async def current_revision(url: str, file: Path) -> str | None:
    """Returns the revision of the database, or None if there is none yet. Raises StorageFailed."""
    if not url:
        from . import migrate

        return migrate.current_revision(file)
    with _driver():
        from .postgres import migrate as elsewhere
    return await elsewhere.current_revision(url)


async def dump(url: str, file: Path) -> None:
    """Copies everything in PostgreSQL to a new SQLite file. Raises StorageFailed."""
    with _driver():
        from .postgres import dump as copying
    await copying.dump(url, file)


async def load(file: Path, url: str) -> None:
    """Copies a SQLite file into an empty PostgreSQL database. Raises StorageFailed."""
    with _driver():
        from .postgres import dump as copying
    await copying.load(file, url)


@asynccontextmanager
async def _sqlite(file: Path, copy: bool) -> AsyncIterator[Journal]:
    from . import migrate
    from .sqlite import SqliteJournal

    migrate.ensure(file, copy=copy)
    async with SqliteJournal(file) as journal:
        yield journal


@asynccontextmanager
async def _postgres(url: str, exclusive: bool, member: ClusterMember | None) -> AsyncIterator[Journal]:
    with _driver():
        from .postgres import PostgresJournal, migrate
    await migrate.ensure(url)
    place = member or SINGLE_HOST
    async with PostgresJournal(url, exclusive=exclusive, slot=place.slot, host_id=place.host_id) as journal:
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
