"""A journal that tells of each unit once it is durable. Who is told never harms who committed, nor is waited for."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from parlour.core.journal import Journal, Receipt, Row, Search, Select, Unit

logger = logging.getLogger(__name__)

Observer = Callable[[Unit], None]


class ObservedJournal:
    def __init__(self, journal: Journal, observers: Sequence[Observer]) -> None:
        self._journal = journal
        self._observers = observers
        self._untold: list[Unit] = []

    async def commit(self, unit: Unit) -> Receipt:
        receipt = await self._journal.commit(unit)
        if not self._untold:
            asyncio.get_running_loop().call_soon(self._step_back)
        self._untold.append(unit)
        return receipt

    async def read(self, query: Select) -> list[Row]:
        return await self._journal.read(query)

    async def search(self, query: Search) -> list[Row]:
        return await self._journal.search(query)

    def _step_back(self) -> None:
        """What the unit sets in motion goes first: an answer is not to wait for those who count it."""
        asyncio.get_running_loop().call_soon(self._tell)

    def _tell(self) -> None:
        units, self._untold = self._untold, []
        for unit in units:
            for observer in self._observers:
                try:
                    observer(unit)
                except Exception:
                    logger.exception("what %s did could not be told", unit.name)
