"""Tests that a real Host deletes old records, also after a kill during the deletion, and not
because its clock jumped.
"""

import sqlite3
from contextlib import closing

import pytest

from tests.integration.conftest import MakeHost
from tests.support.commands import parlour_here
from tests.support.harness import ECHO_PLUGIN, Host, eventually, texts

FORGETFUL = {
    "PARLOUR__RETENTION__EVENTS_DAYS": "0.00001",
    "PARLOUR__RETENTION__FIRST_SECONDS": "0",
    "PARLOUR__RETENTION__EVERY_HOURS": "0.0001",
}


@pytest.mark.long
def test_old_records_are_deleted_and_the_host_works_also_after_a_kill(make_host: MakeHost) -> None:
    host = make_host(ECHO_PLUGIN, **FORGETFUL).start()
    agent = host.agent()
    for text in ("one", "two"):
        conversation_id = host.ask(agent, text, conversation_id="chat")["conversation_id"]
        eventually(lambda: host.transcript(conversation_id) == [], "what was said is gone")  # noqa: B023
        host.kill()
        host.start()

    eventually(lambda: host.items("/events", type="message.received") == [], "the events are gone")
    assert texts(host.ask(agent, "three", conversation_id="chat")) == ["three"]
    assert "clean-up deleted" in host.log()


DAY_MILLISECONDS = 24 * 3600 * 1000


def move_data(host: Host, days: int) -> None:
    """Moves every time in the database by this number of days, so that the Host's clock is that far
    off the other way.
    """
    by = days * DAY_MILLISECONDS
    with closing(sqlite3.connect(host.data / "parlour.db")) as database, database:
        for table in ("events", "transcript", "runs", "run_events", "outbox", "artifacts", "audit"):
            database.execute(f"UPDATE {table} SET created_at = created_at + ?", (by,))
        database.execute("UPDATE runs SET finished_at = finished_at + ?", (by,))
        database.execute(
            "UPDATE meta SET value = json_set(value, '$.known_at', json_extract(value, '$.known_at') + ?) "
            "WHERE name = 'retention.clock'",
            (by,),
        )
        database.execute("DELETE FROM meta WHERE name = 'retention'")


def record_counts(host: Host) -> list[int]:
    with closing(sqlite3.connect(host.data / "parlour.db")) as database:
        tables = ("events", "transcript", "runs", "run_events")
        return [database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables]


@pytest.mark.parametrize(("days", "direction"), [(-400, "ahead of"), (400, "behind")])
def test_a_host_that_starts_with_its_clock_400_days_off_deletes_nothing_and_says_so(
    make_host: MakeHost, days: int, direction: str
) -> None:
    host = make_host(ECHO_PLUGIN, PARLOUR__RETENTION__FIRST_SECONDS="0").start()
    host.ask(host.agent(), "hello")
    eventually(lambda: "clean-up deleted" in host.log(), "the first clean-up is over")
    host.stop()
    move_data(host, days)
    before = record_counts(host)

    host.start()
    eventually(lambda: f"the clock is 400.0 days {direction}" in host.log(), "the Host warns")
    doctor = parlour_here("doctor", "--data", host.data).stdout
    host.stop()

    assert record_counts(host) == before
    assert f"the clock is 400.0 days {direction} the time that was last known" in doctor
    assert "retention is on hold" in doctor
