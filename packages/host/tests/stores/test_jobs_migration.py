"""Revision 0013 moves pending deliveries to listeners and webhooks into jobs, on both databases."""

import sqlite3
from contextlib import closing
from io import StringIO
from pathlib import Path
from typing import Any

from alembic import command
from sqlalchemy import create_engine

from parlour.core.cluster.parts import bot_part, shard_part
from parlour.core.jobs.job import Job
from parlour.core.jobs.job_rows import restore_job
from parlour.core.journal import Journal, Select
from parlour.core.plugin_hooks.retries import ListenerDelivery
from parlour.core.store.tables import JOBS
from parlour.core.webhooks.webhook_delivery import WebhookDelivery
from parlour.stores import migrate
from parlour.stores.postgres import PostgresJournal
from parlour.stores.postgres import migrate as postgres_migrate
from parlour.stores.sqlite import SqliteJournal
from parlour.testing.postgres_server import PostgresServer

CONFIG = '{"url":"https://hooks.example/a:b","retry_count":3,"sealed_secret":"<s>"}'
BOT = """{"id":"bot","name":"Ann's: bot","adapter":"line"}"""
ROWS: dict[str, list[dict[str, Any]]] = {
    "events": [
        {"seq": 7, "bot_id": "bot", "event_id": "a", "body": "{}"},
        {"seq": 8, "bot_id": "", "event_id": "b", "body": "{}"},
    ],
    "listening": [
        {"event_seq": 8, "plugin_id": "acme/böse", "past": "", "observing": 1, "not_before": 99, "created_at": 5},
        {"event_seq": 7, "plugin_id": "acme/log", "past": '["a: 1","b"]', "attempts": 2, "not_before": 50},
        {"event_seq": 6, "plugin_id": "acme/log", "past": "", "created_at": 1},
    ],
    "webhook_calls": [
        {
            "call_id": "01900000-0000-7000-8000-000000000001",
            "bot_id": "bot",
            "request": f'{{"bot":{BOT},"config":{CONFIG}}}',
            "event_seq": 7,
            "attempts": 2,
            "not_before": 60,
            "created_at": 6,
        }
    ],
}
"""Rows as a Host of revision 0012 wrote them; the event with the number 6 was deleted."""


def literal(value: str | int) -> str:
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def inserts(columns: dict[str, list[tuple[str, bool]]]) -> list[str]:
    """Returns the statements for the rows; columns are given as name and whether they hold text."""
    statements = []
    for table, rows in ROWS.items():
        for row in rows:
            values = [literal(row.get(name, "" if is_text else 0)) for name, is_text in columns[table]]
            names = ", ".join(name for name, _ in columns[table])
            statements.append(f"INSERT INTO {table} ({names}) VALUES ({', '.join(values)})")
    return statements


async def check_jobs(journal: Journal) -> None:
    jobs = [restore_job(row) for row in await journal.read(Select(JOBS, order=("kind", "event_seq", "job_id")))]
    assert [(job.kind, job.order_key, job.event_seq) for job in jobs] == [
        ("listener", "acme/log", 6),
        ("listener", "acme/log", 7),
        ("listener", "acme/böse", 8),
        ("webhook", "01900000-0000-7000-8000-000000000001", 7),
    ]
    assert {job.state for job in jobs} == {"pending"}
    assert len({job.job_id for job in jobs}) == 4
    assert all(len(job.job_id) == 36 for job in jobs)
    assert [job.part for job in jobs] == [shard_part("acme/log"), bot_part("bot"), shard_part("acme/böse"), "bot:bot"]
    assert [ListenerDelivery.from_payload(job.payload) for job in jobs[:3]] == [
        ListenerDelivery(False),
        ListenerDelivery(False, ("a: 1", "b"), 2),
        ListenerDelivery(True),
    ]
    assert [(job.attempts, job.not_before, job.created_at) for job in jobs] == [
        (0, 0, 1),
        (2, 50, 0),
        (0, 99, 5),
        (2, 60, 6),
    ]
    check_webhook(jobs[3])


def check_webhook(job: Job) -> None:
    call = WebhookDelivery.from_job(job)
    assert (call.call_id, job.max_attempts) == ("01900000-0000-7000-8000-000000000001", 4)
    assert call.config["url"] == "https://hooks.example/a:b"
    assert call.bot["name"] == "Ann's: bot"


async def test_pending_deliveries_become_jobs_in_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "parlour.db"
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        config = migrate.alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0012")
    engine.dispose()
    with closing(sqlite3.connect(path)) as database, database:
        columns = {
            table: [
                (name, kind == "TEXT")
                for name, kind in database.execute(f"SELECT name, type FROM pragma_table_info('{table}')")
            ]
            for table in ROWS
        }
        for statement in inserts(columns):
            database.execute(statement)
    migrate.ensure(path)
    async with SqliteJournal(path) as journal:
        await check_jobs(journal)


async def test_pending_deliveries_become_jobs_in_postgresql(postgres: PostgresServer, new_database: str) -> None:
    script = StringIO()
    command.upgrade(migrate.alembic_config(script), "base:0012", sql=True)
    postgres.execute(script.getvalue(), new_database)
    columns = {}
    for table in ROWS:
        query = f"SELECT column_name, data_type FROM information_schema.columns WHERE table_name = '{table}'"
        found = [row.split("|") for row in postgres.execute(query, new_database)]
        columns[table] = [(name, kind == "text") for name, kind in found]
    for statement in inserts(columns):
        postgres.execute(statement, new_database)
    await postgres_migrate.ensure(postgres.url(new_database))
    async with PostgresJournal(postgres.url(new_database)) as journal:
        await check_jobs(journal)
