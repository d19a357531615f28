"""Revision 0014 gives pending work its part on both databases, and numbers rows of PostgreSQL above all old ones.

The rows were written by a Host of revision 0012 on PostgreSQL, which was killed with one event in flight and one
waiting. Rows of a bot and of the queue of remote workers are added to them.
"""

import json
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, closing
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import create_engine

from parlour.core.cluster.parts import part_of
from parlour.core.journal import Journal, Row, Select, Table, where
from parlour.core.model.ids import NO_BOT, BotId, ConversationId, PartId
from parlour.core.pagination import Cursors
from parlour.core.store.inbox import Inbox
from parlour.core.store.outbox_rows import OutboxStore
from parlour.core.store.remote_queue import RemoteQueueStore
from parlour.core.store.tables import AUDIT, EVENTS, INBOX, OUTBOX, QUEUE, RUNS, TRANSCRIPT
from parlour.http.pagination import Pages
from parlour.stores import factory, migrate
from parlour.stores.postgres import PostgresJournal
from parlour.stores.postgres import migrate as postgres_migrate
from parlour.stores.postgres.numbers import SLOT_COUNT
from parlour.testing.journal_contract import commit, contents, event, filled
from parlour.testing.postgres_server import PostgresServer

SAVED = json.loads((Path(__file__).parent / "data" / "host_at_0012.json").read_text())
TABLES: dict[str, list[dict[str, Any]]] = SAVED["tables"]
CHAT, SLOW = (TABLES["runs"][index]["conversation_id"] for index in (0, -1))
OLD_EVENTS = [row["seq"] for row in TABLES["events"]]
MAX_SAFE_NUMBER = 2**53 - 1
"""The highest number that JavaScript represents exactly."""


def row_of(table: Table, **values: Any) -> dict[str, Any]:
    """Returns a row as revision 0012 has it."""
    row = filled(table, **values)
    del row["part"]
    return row


ADDED: dict[str, list[dict[str, Any]]] = {
    "events": [{**TABLES["events"][0], "seq": 7, "event_id": "of a bot", "bot_id": "b1", "conversation_id": "c1"}],
    "inbox": [row_of(INBOX, event_seq=7, lane="c1", state="owed")],
    "outbox": [
        {**TABLES["outbox"][0], "seq": 5, "outbox_id": "o", "bot_id": "b1", "conversation_id": "c1", "state": "pending"}
    ],
    "runs": [row_of(RUNS, run_id="r", bot_id="b1", conversation_id="c1", status="queued")],
    "queue": [row_of(QUEUE, run_id="r")],
}
ROWS = {name: TABLES.get(name, []) + ADDED.get(name, []) for name in {**TABLES, **ADDED}}
COUNTERS = {**SAVED["counters"], "events": 7, "outbox": 5}


def create_file(path: Path) -> None:
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        config = migrate.alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0012")
    engine.dispose()
    with closing(sqlite3.connect(path)) as connection, connection:
        for table, rows in ROWS.items():
            for row in rows:
                marks = ", ".join("?" * len(row))
                connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))


def create_server_database(postgres: PostgresServer, name: str) -> None:
    script = StringIO()
    command.upgrade(migrate.alembic_config(script), "base:0012", sql=True)
    statements = [script.getvalue()]
    for table, rows in ROWS.items():
        for row in rows:
            values = ", ".join(
                f"'{value.replace(chr(39), chr(39) * 2)}'" if isinstance(value, str) else str(value)
                for value in row.values()
            )
            statements.append(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({values});")
    statements += [f"INSERT INTO journal_counters VALUES ('{name}', {last});" for name, last in COUNTERS.items()]
    postgres.execute("\n".join(statements), name)


@pytest.fixture(params=["sqlite", "postgres"])
async def journal(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Journal]:
    url = ""
    if request.param == "sqlite":
        create_file(tmp_path / "parlour.db")
    else:
        postgres, name = request.getfixturevalue("postgres"), request.getfixturevalue("new_database")
        create_server_database(postgres, name)
        url = postgres.url(name)
    async with factory.open_journal(url, tmp_path / "parlour.db") as opened:
        yield opened


@pytest.fixture
async def old_url(postgres: PostgresServer, new_database: str) -> str:
    """A database of the release before on PostgreSQL, upgraded."""
    create_server_database(postgres, new_database)
    await postgres_migrate.ensure(postgres.url(new_database))
    return postgres.url(new_database)


def expected_part(row: Row) -> PartId:
    return part_of(BotId(row["bot_id"]), ConversationId(row["conversation_id"]))


async def test_existing_pending_work_gets_its_part(journal: Journal) -> None:
    runs, outbox = await contents(journal, RUNS), await contents(journal, OUTBOX)
    assert [row["part"] for row in runs + outbox] == [expected_part(row) for row in runs + outbox]
    assert {row["part"] for row in outbox} == {part_of(NO_BOT, CHAT), "bot:b1"}
    inbox = {row["event_seq"]: row["part"] for row in await contents(journal, INBOX)}
    assert inbox == {5: part_of(NO_BOT, SLOW), 6: part_of(NO_BOT, SLOW), 7: "bot:b1"}
    assert [row["part"] for row in await contents(journal, QUEUE)] == ["bot:b1"]


async def test_pending_work_is_read_by_part(journal: Journal) -> None:
    of_bot, of_chat = PartId("bot:b1"), part_of(NO_BOT, SLOW)
    inbox, outbox, queue = Inbox(journal), OutboxStore(journal), RemoteQueueStore(journal)
    assert [row["event_seq"] for row in await inbox.all()] == [5, 6, 7]
    assert [row["event_seq"] for row in await inbox.all(of_bot)] == [7]
    assert [row["event_seq"] for row in await inbox.all(of_chat)] == [5, 6]
    assert [row.outbox_id for row in await outbox.unfinished(of_bot)] == ["o"]
    assert await outbox.unfinished(of_chat) == []
    assert (await queue.run_ids(), await queue.run_ids(of_bot), await queue.run_ids(of_chat)) == ({"r"}, {"r"}, set())


async def test_cursors_of_before_continue_where_they_ended(journal: Journal) -> None:
    [[added]] = await commit(journal, event("new"))
    database_id = next(row["value"] for row in TABLES["meta"] if row["name"] == "database_id")
    pages, cursors = Pages(journal, Cursors(database_id)), SAVED["cursors"]

    async def numbers(*query: Any) -> list[int]:
        return [item["seq"] for item in (await pages.page(*query))["items"]]

    assert await numbers(EVENTS, (), "seq", dict, 100, cursors["events"]) == [4, 3, 2, 1]
    assert await numbers(EVENTS, (), "seq", dict, 100, None) == [added["seq"], 7, 6, 5, 4, 3, 2, 1]
    assert await numbers(AUDIT, where(kind="admin"), "seq", dict, 100, None) == [3, 2, 1]
    of_chat = where(conversation_id=CHAT)
    assert await numbers(TRANSCRIPT, of_chat, "seq", dict, 100, cursors["transcript"], "ascending") == [4, 5, 6, 7, 8]


async def test_sqlite_numbers_continue_without_a_gap(tmp_path: Path) -> None:
    create_file(tmp_path / "parlour.db")
    async with factory.open_journal("", tmp_path / "parlour.db") as journal:
        [[first], [second]] = await commit(journal, event("first"), event("second"))
    assert (first["seq"], second["seq"]) == (8, 9)


async def test_every_slot_numbers_above_all_old_rows(old_url: str) -> None:
    slots = (0, 1, SLOT_COUNT - 1)
    async with AsyncExitStack() as stack:
        journals = [await stack.enter_async_context(PostgresJournal(old_url, slot=slot)) for slot in slots]
        for slot, journal in zip(slots, journals, strict=True):
            [[row]] = await commit(journal, event(f"slot {slot}"))
            assert row["seq"] > max(ROWS["events"][-1]["seq"], *OLD_EVENTS)
            assert row["seq"] % SLOT_COUNT == slot
        rows = await journals[0].read(Select(EVENTS, columns=("seq",)))
    assert len({row["seq"] for row in rows}) == len(OLD_EVENTS) + 1 + len(slots)


@pytest.mark.parametrize("last", [0, 1, 63, 64, 65, 10**12])
async def test_new_numbers_are_above_the_old_counter_and_safe_in_javascript(
    postgres: PostgresServer, new_database: str, last: int
) -> None:
    script = StringIO()
    command.upgrade(migrate.alembic_config(script), "base:0012", sql=True)
    postgres.execute(f"{script.getvalue()} INSERT INTO journal_counters VALUES ('events', {last})", new_database)
    await postgres_migrate.ensure(postgres.url(new_database))
    for slot in (0, SLOT_COUNT - 1):
        async with PostgresJournal(postgres.url(new_database), slot=slot) as journal:
            [[row]] = await commit(journal, event(f"{slot}"))
        assert last < row["seq"] <= last + 4 * SLOT_COUNT < MAX_SAFE_NUMBER


async def test_a_backup_of_upgraded_rows_is_restored_with_parts_on_either_database(
    old_url: str, postgres: PostgresServer, tmp_path: Path
) -> None:
    async with PostgresJournal(old_url, slot=3) as journal:
        [[newest]] = await commit(journal, event("newest"))
        parts = [row["part"] for row in await contents(journal, INBOX)]
    target = postgres.url(postgres.create())
    await factory.dump(old_url, tmp_path / "copy.db")
    await factory.load(tmp_path / "copy.db", target)
    opened: list[Callable[[], Any]] = [
        lambda: factory.open_journal("", tmp_path / "copy.db"),
        lambda: factory.open_journal(target, tmp_path),
    ]
    for open_copy in opened:
        async with open_copy() as copy:
            assert [row["part"] for row in await contents(copy, INBOX)] == parts
            [[row]] = await commit(copy, event("next"))
            assert row["seq"] > newest["seq"]
