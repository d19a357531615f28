"""A journal that tells of each unit once it is durable. Who is told never harms who committed."""

import logging
from collections.abc import Callable, Sequence

from parlour.core.journal import Journal, Receipt, Row, Search, Select, Unit

logger = logging.getLogger(__name__)

Observer = Callable[[Unit], None]


class ObservedJournal:
    def __init__(self, journal: Journal, observers: Sequence[Observer]) -> None:
        self._journal = journal
        self._observers = observers

    async def commit(self, unit: Unit) -> Receipt:
        receipt = await self._journal.commit(unit)
        for observer in self._observers:
            try:
                observer(unit)
            except Exception:
                logger.exception("what %s did could not be told", unit.name)
        return receipt

    async def read(self, query: Select) -> list[Row]:
        return await self._journal.read(query)

    async def search(self, query: Search) -> list[Row]:
        return await self._journal.search(query)
