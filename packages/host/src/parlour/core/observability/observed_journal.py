"""A journal that notifies observers of each committed unit. An observer neither fails nor delays the commit."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from parlour.core.journal import Journal, PreparedCallback, Receipt, Row, Search, Select, Unit

logger = logging.getLogger(__name__)

Observer = Callable[[Unit], None]
"""Called with each unit after it was committed."""


class ObservedJournal:
    """Wraps a journal and notifies observers of its commits."""

    def __init__(self, journal: Journal, observers: Sequence[Observer]) -> None:
        self._journal = journal
        self._observers = observers
        self._unobserved: list[Unit] = []

    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        receipt = await self._journal.commit(unit, on_prepared)
        if not self._unobserved:
            asyncio.get_running_loop().call_soon(self._defer)
        self._unobserved.append(unit)
        return receipt

    async def read(self, query: Select) -> list[Row]:
        return await self._journal.read(query)

    async def search(self, query: Search) -> list[Row]:
        return await self._journal.search(query)

    def _defer(self) -> None:
        """Defers the notification by one more loop iteration, so that work that follows the commit runs first."""
        asyncio.get_running_loop().call_soon(self._notify)

    def _notify(self) -> None:
        units, self._unobserved = self._unobserved, []
        for unit in units:
            for observer in self._observers:
                try:
                    observer(unit)
                except Exception:
                    logger.exception("an observer of unit %s failed", unit.name)
