"""PostgreSQL sends one notice for a batch that changes versions, and a new connection after a lost one."""

import asyncio

from parlour.core.journal import Insert, Unit
from parlour.core.store.table_versions import VersionedJournal, VersionedTables
from parlour.core.store.tables import META, STORAGE
from parlour.stores.postgres import PostgresJournal
from parlour.stores.postgres.notices import PostgresChangeNotices
from parlour.testing.journal_contract import meta


async def test_a_change_of_a_version_is_noticed_by_another_host_and_other_writes_are_not(url: str) -> None:
    notices = PostgresChangeNotices(url)
    async with PostgresJournal(url) as journal, asyncio.timeout(20):
        versioned = VersionedJournal(journal, VersionedTables((META,)))
        await notices.wait()  # connects
        waiting = asyncio.create_task(notices.wait())
        storage = {"area": "a", "owner": "o", "name": "n", "value": b"", "size_bytes": 0, "updated_at": 0}
        columns = {name: storage.get(name, "") for name in STORAGE.column_names}
        await versioned.commit(Unit("test.storage", (Insert(STORAGE, columns),)))
        assert not waiting.done()

        await asyncio.gather(*(versioned.commit(Unit("test.meta", (meta(str(n)),))) for n in range(5)))

        await waiting
    await notices.close()


async def test_a_lost_connection_is_replaced_and_counts_as_a_notice(url: str) -> None:
    notices = PostgresChangeNotices(url)
    async with asyncio.timeout(20):
        await notices.wait()
        waiting = asyncio.create_task(notices.wait())
        await asyncio.sleep(0)
        assert notices._connection is not None
        notices._connection.terminate()
        await waiting
        await notices.wait()  # connects again
    assert not notices._connection.is_closed()
    await notices.close()
