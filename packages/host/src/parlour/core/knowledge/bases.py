"""The knowledge bases of a Host, cached in memory: each run asks which there are."""

from parlour.core.journal import Journal, Statement, Unit
from parlour.core.model.ids import KnowledgeBaseId
from parlour.core.model.knowledge import KnowledgeBase
from parlour.core.model.ports import Clock

from . import records
from .records import KnowledgeRecords


class KnowledgeBases:
    """All bases. The cache changes after a commit, never before it."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._records = KnowledgeRecords(journal)
        self._bases: dict[KnowledgeBaseId, KnowledgeBase] = {}

    async def load(self) -> None:
        """Loads all bases, again if another Host has changed some."""
        self._bases = {base.kb_id: base for base in map(KnowledgeBase.decode, await self._records.base_rows())}

    def get(self, kb_id: KnowledgeBaseId) -> KnowledgeBase | None:
        return self._bases.get(kb_id)

    def all(self) -> list[KnowledgeBase]:
        return [self._bases[kb_id] for kb_id in sorted(self._bases)]

    async def add(self, base: KnowledgeBase, *extra_statements: Statement) -> None:
        insert = records.insert_base(base, self._clock.now())
        await self._journal.commit(Unit("knowledge_base.add", (insert, *extra_statements)))
        self._bases[base.kb_id] = base

    async def replace(self, base: KnowledgeBase, *extra_statements: Statement) -> None:
        update = records.update_base(base, self._clock.now())
        await self._journal.commit(Unit("knowledge_base.replace", (update, *extra_statements)))
        self._bases[base.kb_id] = base

    async def remove(self, kb_id: KnowledgeBaseId, *extra_statements: Statement) -> None:
        unit = Unit("knowledge_base.remove", (*records.delete_base(kb_id), *extra_statements))
        await self._journal.commit(unit)
        self._bases.pop(kb_id, None)

    def cache(self, base: KnowledgeBase) -> None:
        """Caches a base after another unit that changed its row was committed."""
        if base.kb_id in self._bases:
            self._bases[base.kb_id] = base
