"""Writes a history into the database of a new Host: copies of its latest runs and statistics with earlier times."""

import math
import sqlite3
import uuid
from contextlib import closing
from pathlib import Path
from typing import Any

from parlour.core.observability.statistics import HOUR_MILLISECONDS

MINUTE = 60_000
TIMES = ("created_at", "started_at", "finished_at", "updated_at")
"""The columns of a run that are times."""
Row = dict[str, Any]


def write_past(database: Path, hours: int = 0, runs: int = 0, minutes: int = 0) -> None:
    """Writes statistics of `hours`, adds `runs` runs, and moves existing runs `minutes` apart."""
    with closing(sqlite3.connect(database)) as connection, connection:
        _write_figures(connection, hours)
        _write_runs(connection, runs)
        _move_apart(connection, minutes)


def _write_figures(connection: sqlite3.Connection, hours: int) -> None:
    """Copies the statistics of the last hour to each earlier hour, with amounts that vary like those of real days."""
    rows = _rows(connection, "select * from statistics order by hour desc")
    for back in range(1, hours):
        wave = 0.55 + 0.45 * math.sin(back / 3.8) * math.cos(back / 1.7)
        for row in rows:
            if row["hour"] == rows[0]["hour"]:
                past = {**row, "hour": row["hour"] - back * HOUR_MILLISECONDS, "amount": round(row["amount"] * wave)}
                _insert(connection, "statistics", past)


def _write_runs(connection: sqlite3.Connection, number: int) -> None:
    """Adds copies of the last run, one minute apart, each with its own event."""
    [run] = _rows(connection, "select * from runs order by run_id desc limit 1")
    [event] = _rows(connection, f"select * from events where seq = {run['event_seq']}")
    [(seq,)] = connection.execute("select max(seq) from events").fetchall()
    for back in range(1, number + 1):
        _insert(connection, "events", _earlier_event(event, seq + back, back))
        _insert(connection, "runs", _earlier_run(run, seq + back, back))


def _move_apart(connection: sqlite3.Connection, minutes: int) -> None:
    for back, run in enumerate(_rows(connection, "select * from runs order by run_id desc")):
        ago = back * minutes * MINUTE
        times = ", ".join(f"{name} = {name} - {ago}" for name in TIMES)
        connection.execute(f"update runs set {times} where run_id = ?", (run["run_id"],))
        sent = "update outbox set created_at = created_at - ?, updated_at = updated_at - ? where run_id = ?"
        connection.execute(sent, (ago, ago, run["run_id"]))
        connection.execute("update run_events set created_at = created_at - ? where run_id = ?", (ago, run["run_id"]))
        began = "json_extract(data, '$.started_at')"  # the start of a call differs from the time of its record
        moved = f"update run_events set data = json_set(data, '$.started_at', {began} - ?) where run_id = ?"
        connection.execute(f"{moved} and {began} is not null", (ago, run["run_id"]))
        decided = "update outcomes set decided_at = decided_at - ? where event_seq = ?"
        connection.execute(decided, (ago, run["event_seq"]))
        connection.execute("update events set created_at = created_at - ? where seq = ?", (ago, run["event_seq"]))


def _earlier_event(event: Row, seq: int, back: int) -> Row:
    at = event["created_at"] - back * MINUTE
    named = {"event_id": f"{event['event_id']} {back}", "input_summary": f"Question {back}"}
    return {**event, "seq": seq, **named, "event_time": at, "created_at": at}


def _earlier_run(run: Row, seq: int, back: int) -> Row:
    """Its id begins with when it was made, and so it takes its place in the list."""
    run_id = uuid.UUID(int=uuid.UUID(run["run_id"]).int - (back * MINUTE << 80))
    times = {name: run[name] - back * MINUTE for name in TIMES}
    status = "failed" if back % 100 == 0 else "completed"
    return {**run, "run_id": str(run_id), "event_seq": seq, "status": status, **times}


def _rows(connection: sqlite3.Connection, query: str) -> list[Row]:
    cursor = connection.execute(query)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _insert(connection: sqlite3.Connection, table: str, row: Row) -> None:
    names, places = ", ".join(f'"{name}"' for name in row), ", ".join("?" for _ in row)
    connection.execute(f"insert into {table} ({names}) values ({places})", tuple(row.values()))
