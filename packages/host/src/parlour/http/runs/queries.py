"""Lists runs with their context: the agent's name and the beginning of the text that they answer."""

from collections.abc import Sequence
from operator import itemgetter

from parlour.core.config.agents import AgentRepository
from parlour.core.journal import Condition, Journal, Row, Select, at_least, at_most, below, contains, one_of, where
from parlour.core.model.ids import AgentId, BotId, ConversationId, RunId
from parlour.core.pagination import Cursors
from parlour.core.store.ledger import Ledger
from parlour.core.store.tables import EVENTS, RUNS, TRANSCRIPT
from parlour_sdk.values import dataclass

from .. import views
from ..events.event_schema import EventResponse
from ..responses import PageResponse
from .responses import RunContext, RunListItem

SEARCH_BATCH_RUNS = 500
"""Runs whose texts and senders are searched in one step."""
MAX_SEARCH_BATCHES = 20
"""Maximum number of steps of one search request; after that it returns the runs found so far, and a cursor to
continue."""
MAX_SENDER_EVENTS = 2000
"""Maximum number of a sender's events by which runs are looked up. The runs of a sender with more are found by
searching all runs in steps, since a step then contains enough of them."""
_EXACT_COLUMNS = ("status", "agent_id", "bot_id", "conversation_id")
_EVENT_COLUMNS = ("seq", "event_type", "actor_name", "input_summary")


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Filter of a list of runs; None means no restriction."""

    status: str | None = None
    agent_id: AgentId | None = None
    bot_id: BotId | None = None
    conversation_id: ConversationId | None = None
    since: int | None = None
    until: int | None = None
    actor: str | None = None
    """Exact id of the sender. Only events have it, so runs are found by their events."""

    def conditions(self) -> tuple[Condition, ...]:
        found = where(**self._exact())
        found += where(created_at=at_least(self.since)) if self.since is not None else ()
        return found + (where(created_at=at_most(self.until)) if self.until is not None else ())

    def matches(self, row: Row) -> bool:
        """Returns whether a run fulfils the conditions."""
        is_late_enough = self.since is None or row["created_at"] >= self.since
        is_early_enough = self.until is None or row["created_at"] <= self.until
        return is_late_enough and is_early_enough and all(row[name] == value for name, value in self._exact().items())

    def _exact(self) -> dict[str, str]:
        named = {name: getattr(self, name) for name in _EXACT_COLUMNS}
        return {name: value for name, value in named.items() if value is not None}


class RunListing:
    def __init__(self, journal: Journal, agents: AgentRepository, cursors: Cursors) -> None:
        self._journal = journal
        self._ledger = Ledger(journal)
        self._agents = agents
        self._cursors = cursors

    async def page(self, run_filter: RunFilter, limit: int, cursor: str | None) -> PageResponse[RunListItem]:
        """Returns a page of runs, newest first."""
        listing = f"runs:{run_filter}"
        before = "" if cursor is None else str(self._cursors.decode(listing, cursor))
        rows = await self._ledger.page(run_filter.conditions(), before, limit + 1)
        more = self._cursors.encode(listing, rows[limit - 1]["run_id"]) if len(rows) > limit else None
        return {"items": await self._list_items(rows[:limit]), "next_cursor": more}

    async def search(
        self, text: str | None, run_filter: RunFilter, limit: int, cursor: str | None
    ) -> PageResponse[RunListItem]:
        """Returns runs that match the filter, including its sender, and whose event text, sender or answer contains the
        text."""
        listing = f"runs:{run_filter}:{text}"
        before = "" if cursor is None else str(self._cursors.decode(listing, cursor))
        found: list[RunId] = []
        runs_of_sender = await self._runs_of_sender(run_filter)
        for _ in range(MAX_SEARCH_BATCHES):
            if runs_of_sender is not None:
                rows = [row for row in runs_of_sender if not before or row["run_id"] < before][:SEARCH_BATCH_RUNS]
                sent = rows
            else:
                rows = await self._batch(run_filter, before)
                sent = await self._sent_by(run_filter.actor, rows) if run_filter.actor is not None else rows
            found += [row["run_id"] for row in sent] if text is None else await self._matching(text, sent)
            if len(found) > limit:
                return await self._found_page(found[:limit], self._cursors.encode(listing, found[limit - 1]))
            if len(rows) < SEARCH_BATCH_RUNS:
                return await self._found_page(found, None)
            before = rows[-1]["run_id"]
            if len(found) == limit:
                break
        return await self._found_page(found, self._cursors.encode(listing, before))

    async def run_context(self, row: Row) -> RunContext:
        """Returns the context of a single run."""
        events = await self._read_events([row])
        return self._context(row, events)

    async def event(self, row: Row) -> EventResponse | None:
        rows = await self._journal.read(Select(EVENTS, where(seq=row["event_seq"]), limit=1))
        return views.event(rows[0]) if rows else None

    async def _batch(self, run_filter: RunFilter, before: str) -> list[Row]:
        """Reads the next runs to search, newest first."""
        conditions = run_filter.conditions() + (where(run_id=below(before)) if before else ())
        columns = ("run_id", "event_seq")
        query = Select(RUNS, conditions, columns, ("run_id",), "descending", SEARCH_BATCH_RUNS)
        return list(await self._journal.read(query))

    async def _runs_of_sender(self, run_filter: RunFilter) -> list[Row] | None:
        """Returns all runs that match the filter, newest first; None if no sender is wanted or it has many events."""
        if run_filter.actor is None:
            return None
        sent = Select(EVENTS, where(actor_id=run_filter.actor), ("seq",), limit=MAX_SENDER_EVENTS + 1)
        seqs = [int(event["seq"]) for event in await self._journal.read(sent)]
        if len(seqs) > MAX_SENDER_EVENTS:
            return None
        rows: list[Row] = []
        for start in range(0, len(seqs), SEARCH_BATCH_RUNS):
            these = where(event_seq=one_of(*seqs[start : start + SEARCH_BATCH_RUNS]))
            # Without the other conditions: with one of them, the database might read all runs of an agent instead.
            runs = await self._journal.read(Select(RUNS, these, ("run_id", "event_seq", "created_at", *_EXACT_COLUMNS)))
            rows += filter(run_filter.matches, runs)
        return sorted(rows, key=itemgetter("run_id"), reverse=True)

    async def _sent_by(self, actor: str, rows: Sequence[Row]) -> list[Row]:
        """Returns those of the runs that answer an event of this sender, in the given order."""
        if not rows:
            return []
        seqs = one_of(*{int(row["event_seq"]) for row in rows})
        events = await self._journal.read(Select(EVENTS, where(seq=seqs, actor_id=actor), ("seq",)))
        sent = {int(event["seq"]) for event in events}
        return [row for row in rows if row["event_seq"] in sent]

    async def _matching(self, text: str, rows: Sequence[Row]) -> list[RunId]:
        """Returns the ids of those of the runs that contain the text, in the given order."""
        if not rows:
            return []
        seqs = one_of(*{int(row["event_seq"]) for row in rows})
        events: set[int] = set()
        for column in ("input_summary", "actor_name", "actor_id"):
            query = Select(EVENTS, where(seq=seqs, **{column: contains(text)}), ("seq",))
            events |= {int(row["seq"]) for row in await self._journal.read(query)}
        matching = where(run_id=one_of(*(row["run_id"] for row in rows)), content=contains(text))
        runs = {row["run_id"] for row in await self._journal.read(Select(TRANSCRIPT, matching, ("run_id",)))}
        return [row["run_id"] for row in rows if row["event_seq"] in events or row["run_id"] in runs]

    async def _found_page(self, run_ids: Sequence[RunId], next_cursor: str | None) -> PageResponse[RunListItem]:
        these = where(run_id=one_of(*run_ids))
        rows = await self._journal.read(Select(RUNS, these, order=("run_id",), direction="descending"))
        return {"items": await self._list_items(rows), "next_cursor": next_cursor}

    async def _list_items(self, rows: Sequence[Row]) -> list[RunListItem]:
        events = await self._read_events(rows)
        return [{**views.run_facts(row), **self._context(row, events)} for row in rows]

    async def _read_events(self, rows: Sequence[Row]) -> dict[int, Row]:
        seqs = sorted({int(row["event_seq"]) for row in rows})
        if not seqs:
            return {}
        events = await self._journal.read(Select(EVENTS, where(seq=one_of(*seqs)), _EVENT_COLUMNS))
        return {int(event["seq"]): event for event in events}

    def _context(self, row: Row, events: dict[int, Row]) -> RunContext:
        agent = self._agents.get(row["agent_id"]) if row["agent_id"] else None
        event = events.get(row["event_seq"], {})
        return {
            "agent_name": agent.name if agent is not None else None,
            "event_type": event.get("event_type") or None,
            "actor_name": event.get("actor_name") or None,
            "input_summary": event.get("input_summary") or None,
        }
