"""The runs of a sender are found at once among those of many others, newest first and page by page."""

from typing import Any

import pytest

from parlour.core.config.agents import AgentRepository
from parlour.core.journal import Insert, Table, Unit
from parlour.core.pagination import Cursors
from parlour.core.store.tables import EVENTS, RUNS
from parlour.core.system import SystemClock
from parlour.http.runs import queries
from parlour.http.runs.queries import RunFilter, RunListing
from parlour.testing import MemoryJournal


def row(table: Table, **values: Any) -> Insert:
    columns = [column for column in table.columns if column.name != table.sequence_column]
    empty = {column.name: 0 if column.kind == "integer" else "" for column in columns}
    return Insert(table, {**empty, **({"usage": "{}", "metadata": "{}"} if table is RUNS else {}), **values})


@pytest.fixture
async def listing(monkeypatch: pytest.MonkeyPatch) -> RunListing:
    """Lists 20 runs, of which r03, r04 and r20, a rerun, belong to ann. A request searches four runs."""
    monkeypatch.setattr(queries, "SEARCH_BATCH_RUNS", 2)
    monkeypatch.setattr(queries, "MAX_SEARCH_BATCHES", 2)
    journal = MemoryJournal()
    for number in range(1, 20):
        actor = "ann" if number in (3, 4) else "bob"
        status = "failed" if number == 4 else "completed"
        event = row(EVENTS, actor_id=actor, event_id=f"e{number}")
        run = row(RUNS, run_id=f"r{number:02}", event_seq=number, status=status, agent_id="a", created_at=number)
        await journal.commit(Unit("run", (event, run)))
    rerun = row(RUNS, run_id="r20", event_seq=3, status="completed", agent_id="b", created_at=20)
    await journal.commit(Unit("run", (rerun,)))
    return RunListing(journal, AgentRepository(journal, SystemClock()), Cursors("database"))


async def found(listing: RunListing, wanted: RunFilter, limit: int = 10) -> list[list[str]]:
    """Returns the ids of the runs on each page."""
    pages, cursor = [], None
    while True:
        page = await listing.search(None, wanted, limit, cursor)
        pages.append([item["run_id"] for item in page["items"]])
        cursor = page["next_cursor"]
        if cursor is None:
            return pages


async def test_the_runs_of_a_rare_sender_are_on_the_first_page(listing: RunListing) -> None:
    assert await found(listing, RunFilter(actor="ann")) == [["r20", "r04", "r03"]]
    assert await found(listing, RunFilter(actor="nobody")) == [[]]


async def test_pages_of_a_senders_runs_follow_one_another(listing: RunListing) -> None:
    assert await found(listing, RunFilter(actor="ann"), limit=2) == [["r20", "r04"], ["r03"]]
    assert [run for page in await found(listing, RunFilter(actor="bob"), limit=3) for run in page] == [
        f"r{number:02}" for number in range(19, 0, -1) if number not in (3, 4)
    ]


@pytest.mark.parametrize(
    ("conditions", "runs"),
    [
        ({"agent_id": "a"}, ["r04", "r03"]),
        ({"status": "failed"}, ["r04"]),
        ({"since": 4}, ["r20", "r04"]),
        ({"until": 4}, ["r04", "r03"]),
        ({"conversation_id": "other"}, []),
    ],
)
async def test_other_conditions_hold_as_well(listing: RunListing, conditions: dict[str, Any], runs: list[str]) -> None:
    assert await found(listing, RunFilter(actor="ann", **conditions)) == [runs]


async def test_a_sender_with_many_events_is_searched_in_steps(
    listing: RunListing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "MAX_SENDER_EVENTS", 1)
    pages = await found(listing, RunFilter(actor="ann"))
    assert pages[0] == ["r20"]
    assert [run for page in pages for run in page] == ["r20", "r04", "r03"]
