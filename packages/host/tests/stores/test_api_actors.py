"""Revision 0008 moves the senders that API keys named to ids of their own, on both databases.

The rows were written by a Host of revision 0007: the keys `one` and `two` have the scope chat, `bridge` has platform.
"""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import create_engine

from parlour.core.journal import Journal, Select
from parlour.core.store import event_log
from parlour.core.store.state import scope_key
from parlour.core.store.tables import BUDGET_USES, EVENTS, STATE
from parlour.stores import migrate
from parlour.stores.postgres import PostgresJournal
from parlour.stores.postgres import migrate as postgres_migrate
from parlour.stores.sqlite import SqliteJournal
from parlour.testing.postgres_server import PostgresServer

ROWS: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "data" / "api_actors_at_0007.json").read_text()
)
KEYS = {row["name"]: f"key:{row['key_id']}" for row in ROWS["api_keys"]}
BINDINGS = {json.loads(row["definition"])["name"]: f"{row['agent_id']}:" for row in ROWS["agents"]}
RUNNER = "plugin:test/calling-agent/default"
ANN = 'ann "ö"\n中'
Open = Callable[[], Journal]


def actor_key(agent: str, actor_id: str, actor_type: str = "user") -> str:
    return scope_key("actor", RUNNER, BINDINGS[agent], "", "default", actor_type, actor_id)


def subject_key(subject_id: str, *caller: str) -> str:
    return scope_key("subject", RUNNER, BINDINGS["a"], "", "default", "ticket", subject_id, *caller)


def add_subjects() -> None:
    """Gives some events a subject: two callers share `t1`, and a chat of a platform has `t2` too."""
    events = {row["seq"]: row for row in ROWS["events"]}
    for seq, subject_id in ((3, "t1"), (4, "t1"), (5, "t2"), (6, "t2")):
        events[seq] |= {"subject_type": "ticket", "subject_id": subject_id}
    events[5]["body"] = events[5]["body"].replace('"surface":"api"', '"surface":"platform"')
    state = {"name": "note", "scope": "subject", "conversation_id": "", "updated_at": 1}
    ROWS["state"] += [
        {**state, "scope_key": subject_key(each), "value": json.dumps(f"of {each}")} for each in ("t1", "t2")
    ]


add_subjects()


async def upgraded_file(path: Path) -> Journal:
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        config = migrate.alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0007")
    engine.dispose()
    with closing(sqlite3.connect(path)) as connection, connection:
        for table, rows in ROWS.items():
            for row in rows:
                marks = ", ".join("?" * len(row))
                connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
    migrate.ensure(path)
    return SqliteJournal(path)


async def upgraded_server(postgres: PostgresServer, name: str) -> Journal:
    script = StringIO()
    command.upgrade(migrate.alembic_config(script), "base:0007", sql=True)
    postgres.execute(script.getvalue(), name)
    for table, rows in ROWS.items():
        for row in rows:
            values = ", ".join(
                f"'{value.replace(chr(39), chr(39) * 2)}'" if isinstance(value, str) else str(value)
                for value in row.values()
            )
            postgres.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({values})", name)
    await postgres_migrate.ensure(postgres.url(name))
    return PostgresJournal(postgres.url(name))


@pytest.fixture(params=["sqlite", "postgres"])
async def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "sqlite":
        made = await upgraded_file(tmp_path / "parlour.db")
    else:
        made = await upgraded_server(request.getfixturevalue("postgres"), request.getfixturevalue("new_database"))
    async with made as opened:  # type: ignore[attr-defined]
        yield opened


async def test_state_moves_to_the_callers_that_named_its_actor_or_subject(journal: Journal) -> None:
    stored = {row["scope_key"]: json.loads(row["value"]) for row in await journal.read(Select(STATE))}
    one, two = KEYS["one"], KEYS["two"]
    assert stored == {
        actor_key("a", f"{one}:{ANN}"): "of ann",
        actor_key("a", f"{two}:{ANN}"): "of ann",
        actor_key("b", f"{one}:{ANN}"): "of ann's child",
        actor_key("a", f"{one}:shared"): "of both",
        actor_key("a", f"{two}:shared"): "of both",
        actor_key("a", "person"): "of a person",
        actor_key("a", "other person"): "of another person",
        actor_key("a", two.removeprefix("key:"), "api_key"): "of the key itself",
        subject_key("t1", one): "of t1",
        subject_key("t1", two): "of t1",
        subject_key("t2"): "of t2",
    }


async def test_budget_uses_move_with_their_callers(journal: Journal) -> None:
    uses = {row["subject"]: row["tokens"] for row in await journal.read(Select(BUDGET_USES))}
    assert uses == {f"user:{KEYS['one']}:{ANN}": 124, f"user:{KEYS['two']}:{ANN}": 124, "user:person": 124}


async def test_recorded_events_have_the_new_actor_and_no_claimed_role(journal: Journal) -> None:
    events = [event_log.from_row(row).envelope for row in await journal.read(Select(EVENTS, order=("seq",)))]
    one, two, bridge = KEYS["one"], KEYS["two"], KEYS["bridge"]
    assert [(event.principal, event.actor.id) for event in events] == [
        (one, f"{one}:{ANN}"),
        ("plugin:test/calling-agent", f"{one}:{ANN}"),
        (one, f"{one}:shared"),
        (two, f"{two}:shared"),
        (bridge, "person"),
        (one, f"{one}:person"),
        (bridge, "other person"),
        (two, two.removeprefix("key:")),
        (one, f"{one}:{ANN}"),
        (two, f"{two}:{ANN}"),
        (bridge, "person"),
        (one, f"{one}:person"),
    ]
    assert events[0].actor.data == events[1].actor.data == {"claimed_role": "admin", "team": "x"}
    assert events[0].text == json.loads(ROWS["events"][0]["body"])["input"]["text"]
