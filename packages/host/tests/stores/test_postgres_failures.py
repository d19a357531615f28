"""A failure between the journal and its server is reported, loses and repeats nothing, and ends with its cause."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest

from parlour.core.journal import Increment, Journal, Select, StorageFailed, Update, where
from parlour.core.store.tables import EVENTS, INBOX, META
from parlour.stores.postgres import PostgresJournal, migrate
from parlour.stores.postgres.numbers import SLOT_COUNT
from parlour.stores.postgres.session import REPLACED, WriterIdentity, open_session
from parlour.testing.journal_contract import commit, contents, event, insert, meta
from parlour.testing.postgres_server import PostgresServer

from .polling import eventually
from .proxy import Proxy

WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name LIKE 'parlour%'"


@pytest.fixture(scope="module")
def killable() -> Iterator[PostgresServer]:
    """A separate server for these tests, since they stop and kill it."""
    with PostgresServer() as server:
        yield server


@pytest.fixture
def killable_url(killable: PostgresServer) -> str:
    url = killable.url(killable.create())
    asyncio.run(migrate.ensure(url))
    return url


@pytest.fixture
async def proxy(postgres: PostgresServer) -> AsyncIterator[Proxy]:
    async with Proxy(postgres.folder / ".s.PGSQL.5432") as proxy:
        yield proxy


async def failure_of(url: str) -> StorageFailed:
    with pytest.raises(StorageFailed) as failure:
        await PostgresJournal(url).open()
    return failure.value


async def count_both_ways(journal: Journal) -> list[int]:
    """Returns how many rows of meta a list and a query by key find."""
    rows = [await journal.read(Select(META, point_read=few)) for few in (False, True)]
    return [len(each) for each in rows]


# The server stops and starts again


async def test_units_and_queries_fail_without_a_server_and_work_again_after_its_start(
    killable: PostgresServer, killable_url: str
) -> None:
    async with PostgresJournal(killable_url, retry_seconds=0.2) as journal:
        await commit(journal, meta("before"))
        assert await count_both_ways(journal) == [1, 1]
        await asyncio.to_thread(killable.stop)
        refused = await asyncio.gather(
            *(commit(journal, meta(f"{number}")) for number in range(100)),
            journal.read(Select(META)),
            journal.read(Select(META, point_read=True)),
            return_exceptions=True,
        )
        assert {each.code for each in refused if isinstance(each, StorageFailed)} == {"storage_unreachable"}
        assert all(isinstance(each, StorageFailed) for each in refused)
        await asyncio.to_thread(killable.start)
        await commit(journal, meta("after"))
        assert await count_both_ways(journal) == [2, 2]


async def test_a_restart_of_the_server_is_waited_for(killable: PostgresServer, killable_url: str) -> None:
    async with PostgresJournal(killable_url, retry_seconds=60) as journal:
        await commit(journal, meta("before"))
        await count_both_ways(journal)
        await asyncio.to_thread(killable.stop)
        waiting = [asyncio.create_task(commit(journal, event(f"{number}"))) for number in range(100)]
        counts = asyncio.create_task(count_both_ways(journal))
        await asyncio.to_thread(killable.start)
        assert [receipt[0][0]["seq"] for receipt in await asyncio.gather(*waiting)] == [
            SLOT_COUNT * number for number in range(1, 101)
        ]
        assert await counts == [1, 1]


async def test_a_server_killed_in_mid_load_loses_and_doubles_nothing(
    killable: PostgresServer, killable_url: str
) -> None:
    acknowledged: list[int] = []
    enough = asyncio.Event()
    kills = 2

    async def writer(journal: Journal, name: int) -> None:
        number = 0
        while not done.is_set():
            text = f"{name} {number}"
            ((row,), _) = await commit(journal, event(text), meta(text))
            acknowledged.append(row["seq"])
            number += 1
            enough.set()

    async with PostgresJournal(killable_url, retry_seconds=60) as journal:
        done = asyncio.Event()
        writing = asyncio.gather(*(writer(journal, name) for name in range(20)))
        for _ in range(kills):
            enough.clear()
            await asyncio.wait_for(enough.wait(), 30)
            await asyncio.to_thread(killable.kill)
            await asyncio.to_thread(killable.start)
        enough.clear()
        await asyncio.wait_for(enough.wait(), 30)
        done.set()
        await writing
        events, rows = await contents(journal, EVENTS), await contents(journal, META)
    numbers = [SLOT_COUNT * number for number in range(1, len(events) + 1)]
    assert sorted(acknowledged) == [each["seq"] for each in events] == numbers
    assert {each["name"] for each in rows} == {each["event_id"] for each in events}


# A connection is lost during a unit


async def test_a_committed_unit_whose_response_was_lost_is_confirmed_and_not_repeated(
    proxy: Proxy, postgres: PostgresServer, postgres_database: str
) -> None:
    async with PostgresJournal(proxy.url(postgres_database), retry_seconds=30) as journal:
        await commit(journal, insert(INBOX, event_seq=1))
        count = Update(INBOX, {"attempts": Increment()}, where(event_seq=1))
        await commit(journal, event("first"), count)
        proxy.drops_responses = True
        committing = asyncio.create_task(commit(journal, event("second"), count))
        count_query = "SELECT count(*) FROM events"
        await asyncio.to_thread(eventually, lambda: postgres.execute(count_query, postgres_database) == ["2"])
        assert not committing.done()
        proxy.cut()
        assert list(await committing) == [[{"seq": 2 * SLOT_COUNT}], []]
        assert [row["attempts"] for row in await contents(journal, INBOX)] == [2]
        assert list(await commit(journal, event("third"))) == [[{"seq": 3 * SLOT_COUNT}]]


async def test_an_uncertain_unit_fails_only_when_the_journal_closes(
    proxy: Proxy, postgres: PostgresServer, postgres_database: str
) -> None:
    journal = PostgresJournal(proxy.url(postgres_database), retry_seconds=0.2)
    await journal.open()
    await commit(journal, meta("known"))
    proxy.drops_responses = True
    doubtful = asyncio.create_task(commit(journal, meta("doubtful")))
    count_query = "SELECT count(*) FROM meta"
    await asyncio.to_thread(eventually, lambda: postgres.execute(count_query, postgres_database) == ["2"])
    proxy.refuse()
    proxy.cut()
    with pytest.raises(StorageFailed) as certain:
        await commit(journal, meta("after"))
    assert certain.value.code == "storage_unreachable"
    assert not doubtful.done()
    await journal.close()
    with pytest.raises(StorageFailed, match="is not known") as failure:
        await doubtful
    assert failure.value.code == "storage_uncertain"
    assert postgres.execute(count_query, postgres_database) == ["2"]


async def test_a_unit_that_never_reached_the_server_is_sent_by_the_next_connection(
    proxy: Proxy, postgres_database: str
) -> None:
    async with PostgresJournal(proxy.url(postgres_database), retry_seconds=30) as journal:
        await commit(journal, event("first"))
        proxy.drops_requests = True
        committing = asyncio.create_task(commit(journal, event("second")))
        await proxy.request_dropped.wait()
        proxy.cut()
        assert list(await committing) == [[{"seq": 2 * SLOT_COUNT}]]


async def test_a_unit_whose_connection_the_server_ended_is_committed_once(
    postgres: PostgresServer, url: str, postgres_database: str
) -> None:
    async with PostgresJournal(url, retry_seconds=30) as journal:
        await commit(journal, insert(INBOX, event_seq=1))
        other = await asyncpg.connect(url)
        async with other.transaction():
            await other.execute("SELECT * FROM inbox FOR UPDATE")
            count = Update(INBOX, {"attempts": Increment()}, where(event_seq=1))
            committing = asyncio.create_task(commit(journal, event("once"), count))
            await asyncio.to_thread(eventually, lambda: postgres.execute(WAITING) == ["1"])
            postgres.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                f"WHERE wait_event_type = 'Lock' AND datname = '{postgres_database}'"
            )
        await other.close()
        assert list(await committing) == [[{"seq": SLOT_COUNT}], []]
        assert [row["attempts"] for row in await contents(journal, INBOX)] == [1]


async def test_a_replaced_writer_can_not_write(url: str) -> None:
    one = await open_session(url, WriterIdentity(), timeout=1)
    other = await open_session(url, WriterIdentity(), timeout=1)
    assert await other.recover_outcomes(one) == [], "no batch was active"
    with pytest.raises(asyncpg.PostgresError) as failure:
        await one.execute_batch({}, "[[]]")
    assert failure.value.sqlstate == REPLACED
    assert await other.execute_batch({}, "[[]]") == [[]]
    await one.close()
    await other.close()


async def test_a_unit_that_ends_its_connections_fails_alone(
    postgres: PostgresServer, url: str, postgres_database: str
) -> None:
    """The unit behaves like one that needs more memory than the server has."""
    postgres.execute(
        "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "PERFORM pg_terminate_backend(pg_backend_pid()); RETURN new; END $$; "
        "CREATE TRIGGER deadly BEFORE INSERT ON meta FOR EACH ROW WHEN (new.name = 'deadly') EXECUTE FUNCTION die()",
        postgres_database,
    )
    try:
        async with PostgresJournal(url) as journal:
            names = ["a", "deadly", "b"]
            outcomes = await asyncio.gather(*(commit(journal, meta(name)) for name in names), return_exceptions=True)
            assert isinstance(outcomes[1], StorageFailed)
            assert [row["name"] for row in await contents(journal, META)] == ["a", "b"]
    finally:
        postgres.execute("DROP FUNCTION die CASCADE", postgres_database)


# Records of writers


async def test_records_of_dead_writers_are_deleted(postgres: PostgresServer, url: str, postgres_database: str) -> None:
    row = "INSERT INTO journal_writers VALUES ('{}', 0, '[]', false, now() - interval '{}')"
    postgres.execute(row.format("old", "2 days"), postgres_database)
    postgres.execute(row.format("young", "2 hours"), postgres_database)
    async with PostgresJournal(url):
        known = postgres.execute("SELECT writer_id FROM journal_writers", postgres_database)
        assert "young" in known
        assert "old" not in known
        assert len(known) == 2


async def test_an_idle_writer_whose_record_was_deleted_continues(
    postgres: PostgresServer, url: str, postgres_database: str
) -> None:
    async with PostgresJournal(url) as journal:
        await commit(journal, event("first"))
        postgres.execute("DELETE FROM journal_writers", postgres_database)
        assert list(await commit(journal, event("second"))) == [[{"seq": 2 * SLOT_COUNT}]]


# Databases that can't be opened


async def test_a_wrong_password_is_reported_and_not_echoed(postgres: PostgresServer, postgres_database: str) -> None:
    access = postgres.folder / "pg_hba.conf"
    before = access.read_text()
    postgres.execute("CREATE ROLE guarded LOGIN PASSWORD 'right'")
    access.write_text("local all guarded scram-sha-256\n" + before)
    postgres.execute("SELECT pg_reload_conf()")
    try:
        failure = await failure_of(f"postgresql://guarded:hunter2@/{postgres_database}?host={postgres.folder}")
        absent = await failure_of(f"postgresql://nobody:hunter2@/{postgres_database}?host={postgres.folder}")
    finally:
        access.write_text(before)
        postgres.execute("SELECT pg_reload_conf()")
        postgres.execute("DROP ROLE guarded")
    for each in (failure, absent):
        assert each.code == "storage_refused"
        assert "user or the password" in each.message
        assert "hunter2" not in each.message


async def test_a_missing_database_is_named(postgres: PostgresServer) -> None:
    failure = await failure_of(postgres.url("nowhere"))
    assert failure.code == "storage_absent"
    assert "nowhere" in failure.message
    assert "create it" in failure.message


@pytest.mark.parametrize("place", ["127.0.0.1:1", "no-such-host.invalid", "/?host=/nowhere"])
async def test_a_server_that_does_not_answer_is_named(place: str) -> None:
    url = (
        f"postgresql:///parlour?host={place[7:]}"
        if place.startswith("/")
        else f"postgresql://u:hunter2@{place}/parlour"
    )
    failure = await failure_of(url)
    assert failure.code == "storage_unreachable"
    assert "start it" in failure.message
    assert "hunter2" not in failure.message


async def test_another_service_at_the_address_is_reported() -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        failure = await failure_of(f"postgresql://u:hunter2@127.0.0.1:{port}/parlour")
    assert failure.code in ("storage_unreachable", "storage_failed")
    assert "hunter2" not in failure.message


async def test_a_database_in_another_encoding_is_refused(postgres: PostgresServer) -> None:
    postgres.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    failure = await failure_of(postgres.url("latin"))
    postgres.drop("latin")
    assert "LATIN1" in failure.message
    assert "UTF8" in failure.message


async def test_missing_privileges_of_the_database_user_are_named(postgres: PostgresServer, new_database: str) -> None:
    postgres.execute("CREATE ROLE guest LOGIN")
    url = f"postgresql://guest@/{new_database}?host={postgres.folder}"
    try:
        with pytest.raises(StorageFailed, match="CREATE on the schema") as creating:
            await migrate.ensure(url)
        await migrate.ensure(postgres.url(new_database))
        writing = await failure_of(url)
        assert creating.value.code == writing.code == "storage_readonly"
        postgres.execute(f"REVOKE TEMPORARY ON DATABASE {new_database} FROM PUBLIC", new_database)
        postgres.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO guest", new_database)
        assert "TEMPORARY" in (await failure_of(url)).message
    finally:
        postgres.execute("DROP OWNED BY guest", new_database)
        postgres.execute("DROP ROLE guest")


async def test_a_database_that_became_read_only_is_reported_and_retried(
    postgres: PostgresServer, url: str, postgres_database: str
) -> None:
    async with PostgresJournal(url) as journal:
        await commit(journal, meta("before"))
        await journal._writer._session.connection.execute("SET default_transaction_read_only = on")
        with pytest.raises(StorageFailed, match="read-only") as failure:
            await commit(journal, meta("refused"))
        assert failure.value.code == "storage_readonly"
        await commit(journal, meta("after"))


def test_a_missing_driver_is_reported_with_the_package_to_install(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys; from pathlib import Path; sys.modules['asyncpg'] = None\n"
        "from parlour.core.journal import StorageFailed; from parlour.stores.factory import open_journal\n"
        "async def main():\n"
        "    try:\n"
        "        async with open_journal('postgresql://u:hunter2@localhost/parlour', Path('unused')): pass\n"
        "    except StorageFailed as failure: print(failure.code, failure.message)\n"
        "asyncio.run(main())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.startswith("storage_driver_missing")
    assert "parlour[postgres]" in done.stdout
    assert "hunter2" not in done.stdout


def test_the_driver_is_not_loaded_for_sqlite(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys; from pathlib import Path; from parlour.stores.factory import open_journal\n"
        "async def main():\n"
        "    async with open_journal('', Path('parlour.db')): pass\n"
        "asyncio.run(main()); print('asyncpg' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == "False\n"
