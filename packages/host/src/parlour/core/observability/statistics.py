"""Hourly statistics. Counted in memory and written periodically, so a crash may lose the last few seconds."""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from parlour.core.journal import (
    ANY,
    Increment,
    Insert,
    Journal,
    Row,
    Select,
    StorageFailed,
    Unit,
    Update,
    at_least,
    where,
)
from parlour.core.model.ports import Clock
from parlour.core.store.tables import STATISTICS

from .usage import UsageKey, parse_usage_key

logger = logging.getLogger(__name__)

HOUR_MILLISECONDS = 3600 * 1000
"""Milliseconds of an hour."""
WRITE_INTERVAL_SECONDS = 15.0
"""Seconds between two writes."""
WRITE_TIMEOUT_SECONDS = 1.0
"""Seconds after which a write is given up; the next one includes its values."""


class CounterSource(Protocol):
    """Provides counters."""

    def totals(self) -> Iterator[tuple[str, int]]:
        """Yields whole numbers that only grow, each with a name."""
        ...


class Statistics:
    """Adds what the counters have gained since the last write to the current hour."""

    def __init__(self, journal: Journal, sources: Sequence[CounterSource], clock: Clock) -> None:
        self._journal = journal
        self._sources = sources
        self._clock = clock
        self._written_totals: Counter[str] = Counter()

    async def serve(self) -> None:
        """Writes periodically until it is cancelled, and then once more."""
        try:
            while True:
                await asyncio.sleep(WRITE_INTERVAL_SECONDS)
                await self._try_write()
        finally:
            await self._try_write()

    async def _try_write(self) -> None:
        try:
            async with asyncio.timeout(WRITE_TIMEOUT_SECONDS):
                await self.write()
        except TimeoutError:
            logger.warning("statistics were not written yet: the database does not answer")
        except StorageFailed as error:
            logger.warning("statistics are waiting for the database: %s", error.message)

    async def write(self) -> None:
        """Writes what was gained since the last successful write."""
        now = Counter({name: total for source in self._sources for name, total in source.totals()})
        increments = {
            name: value - self._written_totals[name]
            for name, value in now.items()
            if value > self._written_totals[name]
        }
        hour = self._clock.now() // HOUR_MILLISECONDS * HOUR_MILLISECONDS
        statements = [each for name, amount in increments.items() for each in _increment(hour, name, amount)]
        if statements:
            await self._journal.commit(Unit("statistics.write", tuple(statements)))
        self._written_totals = now

    async def since(self, moment: int) -> list[dict[str, Any]]:
        """Returns the statistics since a time in milliseconds: one dict per hour, oldest first."""
        hours: dict[int, dict[str, int]] = {}
        for row in await self._rows(moment):
            if parse_usage_key(row["name"]) is None:
                hours.setdefault(row["hour"], {})[row["name"]] = row["amount"]
        return [{"hour": hour, **amounts} for hour, amounts in sorted(hours.items())]

    async def usage(self, moment: int) -> list[tuple[int, UsageKey, int]]:
        """Returns the usage of models by agents since a time in milliseconds: hour, counter and amount."""
        rows = [(row["hour"], parse_usage_key(row["name"]), row["amount"]) for row in await self._rows(moment)]
        return [(hour, usage_key, amount) for hour, usage_key, amount in rows if usage_key is not None]

    async def _rows(self, moment: int) -> list[Row]:
        return await self._journal.read(
            Select(
                STATISTICS,
                where(hour=at_least(moment // HOUR_MILLISECONDS * HOUR_MILLISECONDS)),
                order=("hour", "name"),
            )
        )


def _increment(hour: int, name: str, amount: int) -> tuple[Insert, Update]:
    """Returns the statements that create the row if it does not exist, and then increment it."""
    row: dict[str, str | int] = {"hour": hour, "name": name, "amount": 0}
    increment = Update(STATISTICS, {"amount": Increment(amount)}, where(hour=hour, name=name), expect=ANY)
    return Insert(STATISTICS, {**row}, conflict="ignore"), increment
