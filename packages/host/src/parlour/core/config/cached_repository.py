"""Repository of a small table: all rows are cached in memory and written through the journal.

The rows are few and read for every event, so no read waits for the database.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from parlour.core.journal import ANY, Delete, Insert, Journal, Row, Select, Statement, Table, Unit, Update, where
from parlour.core.model.ports import Clock
from parlour_sdk.values import dataclass

Key = TypeVar("Key", bound=str)
Item = TypeVar("Item")
RemovalHook = Callable[[Key], None]
"""Is called with the id of an item after it was removed."""


@dataclass(frozen=True, slots=True)
class UnitNames:
    """Names of the units in which a repository writes."""

    add: str
    replace: str
    remove: str


@dataclass(frozen=True, slots=True)
class RowMapping(Generic[Key, Item]):
    """Describes how items are stored as rows of a table with one key column, `created_at` and `updated_at`."""

    table: Table
    units: UnitNames
    item_id: Callable[[Item], Key]
    encode: Callable[[Item], Row]
    """Returns the columns of an item, without its id and its times."""
    decode: Callable[[Row], Item]
    owned_tables: tuple[Table, ...] = ()
    """Tables whose rows have the same key column and are deleted together with the item."""


class CachedRepository(Generic[Key, Item]):
    """All items of one table. A caller that changes one passes further statements for the same unit: the audit entry.

    The cache changes after a commit, never before it.
    """

    def __init__(
        self, journal: Journal, clock: Clock, mapping: RowMapping[Key, Item], *on_removed: RemovalHook[Key]
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._mapping = mapping
        self._on_removed = on_removed
        [self._key] = mapping.table.key
        self._items: dict[Key, Item] = {}
        self._changes = 0
        """Number of changes of the cache, to notice one that happens during a load."""

    async def load(self) -> None:
        """Loads all items, again if another Host has changed some. Items that are gone are reported as removed."""
        changes, rows = -1, []
        while changes != self._changes:
            changes = self._changes
            rows = await self._journal.read(Select(self._mapping.table, order=(self._key,)))
        previous = self._items
        self._items = {row[self._key]: self._mapping.decode(row) for row in rows}
        for item_id in previous.keys() - self._items.keys():
            self._report_removed(item_id)

    def get(self, item_id: Key) -> Item | None:
        return self._items.get(item_id)

    def all(self) -> list[Item]:
        """Returns all items in the order of their ids, which is that of their creation."""
        return [self._items[item_id] for item_id in sorted(self._items)]

    async def add(self, item: Item, *extra_statements: Statement) -> None:
        now = self._clock.now()
        columns = {**self._key_columns(item), **self._mapping.encode(item), "created_at": now, "updated_at": now}
        await self._commit(self._mapping.units.add, Insert(self._mapping.table, columns), *extra_statements)
        self.cache(item)

    async def replace(self, item: Item, *extra_statements: Statement) -> None:
        """Replaces the item of the same id. Fails its guard if there is none."""
        columns = {**self._mapping.encode(item), "updated_at": self._clock.now()}
        change = Update(self._mapping.table, columns, where(**self._key_columns(item)))
        await self._commit(self._mapping.units.replace, change, *extra_statements)
        self.cache(item)

    async def put(self, item: Item, *extra_statements: Statement) -> None:
        """Adds an item, or replaces the one of the same id."""
        exists = self._mapping.item_id(item) in self._items
        await (self.replace if exists else self.add)(item, *extra_statements)

    async def remove(self, item_id: Key, *extra_statements: Statement) -> None:
        """Removes an item with the rows that it owns in other tables. Fails its guard if there is none."""
        conditions = where(**{self._key: item_id})
        owned_deletes = (Delete(table, conditions, expect=ANY) for table in self._mapping.owned_tables)
        await self._commit(
            self._mapping.units.remove, Delete(self._mapping.table, conditions), *owned_deletes, *extra_statements
        )
        self._changes += 1
        self._items.pop(item_id, None)
        self._report_removed(item_id)

    def cache(self, item: Item) -> None:
        """Caches an item after the unit that wrote its row was committed."""
        self._changes += 1
        self._items[self._mapping.item_id(item)] = item

    def _report_removed(self, item_id: Key) -> None:
        for hook in self._on_removed:
            hook(item_id)

    def _key_columns(self, item: Item) -> dict[str, str]:
        return {self._key: self._mapping.item_id(item)}

    async def _commit(self, unit: str, *statements: Statement) -> None:
        await self._journal.commit(Unit(unit, statements))
