"""Tests that data folders and databases of old releases open with this one, and that plugins of then still run.

`tests/fixtures/upgrades/make.py` made the fixtures; the README beside it has the commands.
"""

import json
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from parlour.stores.migrate import HEAD
from parlour.testing.postgres_server import PostgresServer
from tests.support.commands import parlour_here
from tests.support.harness import ROOT, Host

FIXTURES = ROOT / "tests" / "fixtures" / "upgrades"
FILES = ("first-schema", "before-new-names")
DUMPS = ("first-postgres", "before-new-names-postgres")
"""The first Host that could use PostgreSQL is younger than the first one with a schema."""


def unpack(name: str, folder: Path) -> dict[str, Any]:
    with tarfile.open(FIXTURES / f"{name}.tar.gz") as archive:
        archive.extractall(folder / "data")
    facts: dict[str, Any] = json.loads((folder / "data" / "fixture.json").read_text(encoding="utf-8"))
    return facts


def require_all_of_then_and_a_new_answer(host: Host, facts: dict[str, Any]) -> None:
    http = host.http(facts["key"])
    agent = http.get(f"/agents/{facts['agent_id']}").json()
    assert (agent["name"], agent["enabled"]) == ("Echo of then", True)
    for run_id in facts["runs"].values():
        assert http.get(f"/runs/{run_id}").json()["status"] == "completed"
    assert said(host, facts) == [text for text in facts["messages"].values() for _ in ("question", "answer")]

    again = {"agent_id": facts["agent_id"], "event_id": "first", "input": {"text": "repeated"}}
    assert http.post("/events", json=again | {"conversation_id": facts["chat"]}).json()["duplicate"] is True
    new = {"agent_id": facts["agent_id"], "event_id": "new", "input": {"text": "good day"}}
    answer = http.post("/events?wait=result", json=new | {"conversation_id": facts["chat"]})
    assert answer.status_code == 200, answer.text
    assert said(host, facts)[-2:] == ["good day", "good day"]


def said(host: Host, facts: dict[str, Any]) -> list[str]:
    items = host.http(facts["key"]).get(f"/conversations/{facts['conversation_id']}/transcript").json()["items"]
    return [item["content"] for item in items]


def revision(database: Path) -> str:
    with closing(sqlite3.connect(database)) as connection:
        [(found,)] = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    return str(found)


@pytest.mark.parametrize("name", FILES)
def test_a_data_folder_of_an_old_release_opens_and_its_plugin_answers(name: str, tmp_path: Path) -> None:
    facts = unpack(name, tmp_path)
    host = Host(tmp_path)
    old = revision(host.data / "parlour.db")
    checked = parlour_here("db", "check", "--try", "--data", host.data)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert f"this release needs {HEAD}" in checked.stdout
    assert revision(host.data / "parlour.db") == old
    try:
        host.start()
        require_all_of_then_and_a_new_answer(host, facts)
    finally:
        host.close()

    [copy] = (host.data / "before-upgrade").iterdir()
    assert revision(copy) == old
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("PRAGMA quick_check(1)").fetchall() == [("ok",)]
        assert connection.execute("SELECT count(*) FROM transcript").fetchall() == [(2 * len(facts["messages"]),)]


@pytest.mark.long
@pytest.mark.parametrize("name", DUMPS)
def test_a_postgresql_database_of_an_old_release_opens_and_its_plugin_answers(name: str, tmp_path: Path) -> None:
    with PostgresServer() as server:
        url = server.url(server.create())
        facts = unpack(name, tmp_path)
        server.run_file(tmp_path / "data" / "postgres.sql", url)
        host = Host(tmp_path, PARLOUR__DATABASE__URL=url)
        checked = parlour_here("db", "check", "--data", host.data, environment={"PARLOUR__DATABASE__URL": url})
        assert (checked.returncode, "PostgreSQL is not copied" in checked.stdout) == (0, True), checked.stdout
        try:
            host.start()
            require_all_of_then_and_a_new_answer(host, facts)
        finally:
            host.close()


def test_the_copy_before_an_upgrade_leads_back(tmp_path: Path) -> None:
    """The commands are those of the operations page."""
    unpack("before-new-names", tmp_path)
    data = tmp_path / "data"
    before = (data / "parlour.db").read_bytes()
    assert parlour_here("db", "upgrade", "--data", data).returncode == 0
    assert revision(data / "parlour.db") == HEAD

    [copy] = (data / "before-upgrade").iterdir()
    for leftover in data.glob("parlour.db*"):
        leftover.unlink()
    copy.rename(data / "parlour.db")

    old = tmp_path / "old.db"
    old.write_bytes(before)
    assert dump(data / "parlour.db") == dump(old)


def dump(database: Path) -> list[str]:
    with closing(sqlite3.connect(database)) as connection:
        return sorted(line for line in connection.iterdump() if line.startswith("INSERT"))
