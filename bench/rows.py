"""Builds the rows that one message of echo-agent writes, taken from a real Host's database, as four transactions.

Schema, indexes and values are the Host's own; only ids and numbers are new for each message. The time that the Host
spends on decisions, compiling statements and waiting is not part of it.
"""

from dataclasses import dataclass

from parlour.core.system import SystemIds

from .databases import Database, Row, Statement, Transaction


@dataclass(frozen=True, slots=True)
class Template:
    """One answered message as the Host stored it."""

    conversation: Row
    event: Row
    run: Row
    run_events: list[Row]
    transcript: list[Row]
    outbox: Row
    outcome: Row


async def take_template(source: Database) -> Template:
    """Reads the last answered message."""
    outcome = await _row_where(source, "outcomes", "outcome = ? ORDER BY event_seq DESC LIMIT 1", "answered")
    run_id, event_seq = outcome["run_id"], outcome["event_seq"]
    event = await _row_where(source, "events", "seq = ?", event_seq)
    return Template(
        conversation=await _row_where(source, "conversations", "conversation_id = ?", event["conversation_id"]),
        event=event,
        run=await _row_where(source, "runs", "run_id = ?", run_id),
        run_events=await _rows_where(source, "run_events", "run_id = ? ORDER BY sequence", run_id),
        transcript=await _rows_where(source, "transcript", "event_seq = ? ORDER BY seq", event_seq),
        outbox=await _row_where(source, "outbox", "run_id = ?", run_id),
        outcome=outcome,
    )


class MessageRows:
    """Builds the transactions of consecutive messages, for a database without other data."""

    def __init__(self, template: Template) -> None:
        self._template = template
        self._ids = SystemIds()
        self._number = 0

    def first(self) -> Transaction:
        """Returns the rows that must exist before the first message."""
        return [_insert("conversations", {**self._template.conversation, "transcript_seq": 0})]

    def next(self) -> list[Transaction]:
        """Returns the four transactions of a message: accept, open, message, end."""
        self._number += 1
        template, event_seq, run_id, event_id = self._template, self._number, self._ids.new(), self._ids.new()
        names = {"run_id": run_id, "event_id": event_id, "event_seq": event_seq}
        lane = template.event["conversation_id"]
        inbox = {"event_seq": event_seq, "lane": lane, "state": "owed", "run_id": "", "attempts": 0, "transcribed": 0}
        run = {**template.run, **names, "status": "running", "finished_at": 0}
        *progress, last = template.run_events
        user_item, agent_item = template.transcript
        accept = [
            _insert("events", {**template.event, "event_id": event_id, "seq": event_seq}),
            _insert("inbox", inbox),
        ]
        open_run = [
            (
                "UPDATE inbox SET state = 'running', run_id = ?, attempts = attempts + 1, transcribed = 1 "
                "WHERE event_seq = ? AND state = 'owed'",
                (run_id, event_seq),
            ),
            _insert("runs", run),
            *self._item({**user_item, "event_id": event_id, "event_seq": event_seq}, 2 * self._number - 1),
        ]
        message = [
            ("UPDATE runs SET updated_at = ? WHERE run_id = ? AND status = 'running'", (event_seq, run_id)),
            *(_insert("run_events", {**row, "run_id": run_id}) for row in progress),
            *self._item({**agent_item, **names}, 2 * self._number),
            _insert("outbox", {**template.outbox, "outbox_id": self._ids.new(), "run_id": run_id, "seq": event_seq}),
        ]
        end = [
            _insert("run_events", {**last, "run_id": run_id}),
            (
                "UPDATE runs SET status = 'completed', usage = '{}', finished_at = ?, updated_at = ? "
                "WHERE run_id = ? AND status = 'running'",
                (event_seq, event_seq, run_id),
            ),
            ("UPDATE outbox SET state = 'failed' WHERE run_id = ? AND state = 'streaming'", (run_id,)),
            ("UPDATE inbox SET state = 'owed' WHERE run_id = ? AND state = 'claimed'", (run_id,)),
            ("DELETE FROM inbox WHERE event_seq = ?", (event_seq,)),
            _insert("outcomes", {**template.outcome, "event_seq": event_seq, "run_id": run_id}),
        ]
        return [accept, open_run, message, end]

    def _item(self, row: Row, seq: int) -> Transaction:
        conversation_id = row["conversation_id"]
        count = "UPDATE conversations SET transcript_seq = transcript_seq + 1, updated_at = ? WHERE conversation_id = ?"
        item = {**row, "transcript_id": self._ids.new(), "seq": seq}
        return [(count, (seq, conversation_id)), _insert("transcript", item)]


def _insert(table: str, row: Row) -> Statement:
    placeholders = ", ".join("?" * len(row))
    return f"INSERT INTO {table} ({', '.join(row)}) VALUES ({placeholders})", tuple(row.values())


async def _rows_where(source: Database, table: str, condition: str, value: str | int) -> list[Row]:
    return await source.rows(f"SELECT * FROM {table} WHERE {condition}", value)


async def _row_where(source: Database, table: str, condition: str, value: str | int) -> Row:
    rows = await _rows_where(source, table, condition, value)
    if not rows:
        raise LookupError(f"the Host's database has no row of one message in {table}")
    return rows[0]
