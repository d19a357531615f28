"""Measures the cost of a page, a search and a whole run in conversations of ten items, ten thousand and a million.

The items are written through the journal, as the Host writes them, but bypassing the Host. Pages and searches are those
of the run API; a whole run is a message to echo-agent over HTTP. The sizes alternate, so that other load of the machine
affects all of them equally.
"""

import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from parlour.core.journal import Journal, Select, UnitBuilder, where
from parlour.core.model.event import EventContext, EventEnvelope, RecordedEvent
from parlour.core.pagination import Cursors
from parlour.core.store import transcript
from parlour.core.store.history import HistoryReader
from parlour.core.store.tables import CONVERSATIONS
from parlour.core.system import SystemIds
from parlour.stores.factory import open_journal
from parlour_sdk.protocol.history import HistoryPageGet, HistorySearch

from .clients import HttpLane
from .databases import OpenDatabase
from .host import install, running
from .messages import Books
from .report import Figure, Target
from .samples import percentile

ITEMS_AT_ONCE = 500
PAGE_ITEMS = 10
"""Items per page; equal to the size of the smallest conversation, so that every page has as many."""
WORDS_OF_AN_ITEM = 12
VOCABULARY = [f"word{number}" for number in range(5000)]
RATIO, SEARCH_RATIO = 1.3, 3.0

Ask = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Size:
    items: tuple[int, ...]
    rounds: int


FULL = Size((10, 10_000, 1_000_000), 200)
QUICK = Size((10, 1_000, 20_000), 60)


@dataclass(frozen=True, slots=True)
class Grown:
    """A conversation of one size, and texts to search in it."""

    items: int
    conversation_id: str
    said: list[str]
    """Some of its messages."""


async def measure(folder: Path, open_database: OpenDatabase, size: Size) -> list[Figure]:
    data = folder / "history"
    async with open_database(data) as database:
        key = install(data, database.settings)
        address = database.settings.get("PARLOUR__DATABASE__URL", "")
        with running(data, key, database.settings) as host:
            agent_id, books = host.make_agent(), Books()
            lanes = {n: await HttpLane(host, agent_id, f"of {n}", books).open(host.port) for n in size.items}
            for lane in lanes.values():
                await lane.say()
            async with open_journal(address, data / "parlour.db") as journal:
                started_at = time.perf_counter()
                conversations = [await _grow(journal, n) for n in size.items]
                write_time = Figure(
                    "writing the items", time.perf_counter() - started_at, "s", note="through the journal"
                )
                figures = await _compare(HistoryReader(journal, Cursors("")), conversations, lanes, size.rounds)
            for lane in lanes.values():
                await lane.close()
    return [write_time, *figures]


async def _grow(journal: Journal, items: int) -> Grown:
    """Fills an existing conversation with random texts that are identical in each benchmark run."""
    [row] = await journal.read(Select(CONVERSATIONS, where(chat=f"of {items}"), ("conversation_id",)))
    conversation_id, ids, generator = row["conversation_id"], SystemIds(), random.Random(items)
    texts: list[str] = []
    for start in range(0, items, ITEMS_AT_ONCE):
        draft = UnitBuilder("bench.fill")
        for number in range(start, min(start + ITEMS_AT_ONCE, items)):
            text = " ".join(generator.choices(VOCABULARY, k=WORDS_OF_AN_ITEM))
            if number % max(1, items // 100) == 0:
                texts.append(text)
            event = RecordedEvent(0, conversation_id, 1, _event(text, ids))
            transcript.add_user_item(draft, ids.new(), event, int(time.time() * 1000))
        await journal.commit(draft.build())
    return Grown(items, conversation_id, texts)


def _event(text: str, ids: SystemIds) -> EventEnvelope:
    return EventEnvelope("", "message.received", "api", "", EventContext(ids.new()), "api", input={"text": text})


async def _compare(
    history: HistoryReader, conversations: list[Grown], lanes: dict[int, HttpLane], rounds: int
) -> list[Figure]:
    generator = random.Random(1)
    queries: dict[str, Callable[[Grown], Ask]] = {
        "page": lambda each: lambda: history.page(each.conversation_id, "", HistoryPageGet(**_CALL, limit=PAGE_ITEMS)),
        "search": lambda each: lambda: history.search(each.conversation_id, "", _query(each, generator)),
        "run": lambda each: lanes[each.items].say,
    }
    times: dict[tuple[str, int], list[float]] = {(name, each.items): [] for name in queries for each in conversations}
    for number in range(rounds + WARMING):
        for name, ask in queries.items():
            for each in conversations:
                seconds = await _measure_seconds(ask(each))
                if number >= WARMING:
                    times[name, each.items].append(seconds)
    smallest = conversations[0].items
    figures = [_percentile_figure(f"{name} at {items:,}: p50", values) for (name, items), values in times.items()]
    for name in queries:
        target = Target(SEARCH_RATIO if name == "search" else RATIO)
        for each in conversations[1:]:
            ratio = percentile(times[name, each.items], 50) / percentile(times[name, smallest], 50)
            figures.append(Figure(f"{name} at {each.items:,} by that at {smallest}", ratio, "times", target))
    return figures


WARMING = 5
_CALL = {"call_id": "bench:1", "run_id": "bench"}


def _query(conversation: Grown, generator: random.Random) -> HistorySearch:
    """Returns a search for three words of a stored message."""
    terms = generator.choice(conversation.said).split()
    return HistorySearch(**_CALL, query=" ".join(terms[:3]), top_k=10)


async def _measure_seconds(ask: Ask) -> float:
    started = time.perf_counter()
    await ask()
    return time.perf_counter() - started


def _percentile_figure(name: str, values: list[float]) -> Figure:
    return Figure(name, 1000 * percentile(values, 50), "ms", note=f"p95 {1000 * percentile(values, 95):.2f}")
