"""Databases enforce rate limits: three writers at once, and a writer that is killed at any commit."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from itertools import product
from pathlib import Path

import pytest

from parlour.core.journal import GuardFailed, Insert, Journal, Select, Unit, starts_with, where
from parlour.core.model.rate_limit import LimitSubject, RateLimit
from parlour.core.store.limits import LimitCounters
from parlour.core.store.tables import LIMITS, META
from parlour.stores.postgres import PostgresJournal
from parlour.stores.sqlite import SqliteJournal

NOW = 1_790_000_000_000
WRITERS = 3
ATTEMPTS = 3
"""Uses that each writer tries to take."""
ALLOWED = 5
KINDS = ("fixed", "sliding", "day", "bucket")
KILLS = [(commit, moment) for commit in range(ATTEMPTS) for moment in ("before", "after")]


class Killed(Exception):
    """Raised in place of a commit's answer: the writer's process has ended."""


class Writer:
    """Takes uses, each with an effect in the same unit, until it is killed at one of its commits."""

    def __init__(self, journal: Journal, name: str, kill: tuple[int, str] | None = None) -> None:
        self._journal = journal
        self._counters = LimitCounters(journal)
        self._name = name
        self._kill = kill
        self._commits = 0

    async def run(self, limit: RateLimit, subject: LimitSubject) -> None:
        for number in range(ATTEMPTS):
            effect = Insert(META, {"name": f"{subject.key}/{self._name}/{number}", "value": ""})
            now = NOW
            while True:
                unit = Unit("test.take", (effect, *await self._counters.take(limit, subject, now)))
                try:
                    await self._commit(unit)
                    break
                except GuardFailed:
                    state = await self._counters.state(limit, subject, now)
                    if state.left < 1:
                        break
                    now = state.now

    async def _commit(self, unit: Unit) -> None:
        number, self._commits = self._commits, self._commits + 1
        if self._kill == (number, "before"):
            raise Killed
        try:
            await self._journal.commit(unit)
        finally:
            if self._kill == (number, "after"):
                raise Killed


async def check(journals: Sequence[Journal], kind: str) -> None:
    limit = RateLimit("policy", kind, ALLOWED)  # type: ignore[arg-type]
    for victim, kill in product(range(WRITERS), [None, *KILLS]):
        subject = LimitSubject(f"{kind}-{victim}-{kill}")
        writers = [
            Writer(journal, str(number), kill if number == victim else None) for number, journal in enumerate(journals)
        ]
        ended = await asyncio.gather(*(writer.run(limit, subject) for writer in writers), return_exceptions=True)
        assert [error for error in ended if error is not None and not isinstance(error, Killed)] == []
        await Writer(journals[victim], "restarted").run(limit, subject)
        effects = await journals[0].read(Select(META, where(name=starts_with(f"{subject.key}/"))))
        assert len(effects) == ALLOWED, (subject, ended)
        [row] = await journals[0].read(Select(LIMITS, where(subject=subject.key)))
        used = (row["full_at"] - NOW * 1000) // limit.refill_us if kind == "bucket" else row["used"]
        assert used == ALLOWED


@pytest.fixture
async def sqlite_writers(database: Path) -> AsyncIterator[list[Journal]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(SqliteJournal(database)) for _ in range(WRITERS)]


@pytest.fixture
async def postgres_writers(url: str) -> AsyncIterator[list[Journal]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(PostgresJournal(url)) for _ in range(WRITERS)]


@pytest.mark.parametrize("kind", KINDS)
async def test_uses_equal_the_effects_and_stay_within_the_limit_on_sqlite(
    sqlite_writers: list[Journal], kind: str
) -> None:
    await check(sqlite_writers, kind)


@pytest.mark.parametrize("kind", KINDS)
async def test_uses_equal_the_effects_and_stay_within_the_limit_on_postgres(
    postgres_writers: list[Journal], kind: str
) -> None:
    await check(postgres_writers, kind)
