"""Versions of the tables that Hosts cache: a journal that increases them in the unit that writes, and their reader.

A Host that has its database to itself needs neither. Hosts that share one commit through `VersionedJournal`, and
`core/config/change_watcher.py` reloads what another Host has changed.
"""

from collections.abc import Iterator

from parlour.core.journal import (
    Delete,
    Increment,
    Insert,
    Journal,
    PreparedCallback,
    Receipt,
    Row,
    Search,
    Select,
    Statement,
    Table,
    Unit,
    Update,
    where,
)
from parlour_sdk.values import dataclass

from .tables import META, VERSIONS


@dataclass(frozen=True, slots=True)
class VersionedTables:
    """The cached tables, and the names of cached rows of `meta`."""

    tables: tuple[Table, ...]
    meta_names: tuple[str, ...] = ()

    def changed_by(self, statement: Statement) -> str:
        """Returns the name of the version that a statement changes; empty if it changes none."""
        if statement.table in self.tables:
            return statement.table.name
        return next((name for name in self.meta_names if statement.table is META and _writes(statement, name)), "")


class VersionedJournal:
    """A journal that increases the version of each cached table in the same unit as a write to it."""

    def __init__(self, journal: Journal, versioned: VersionedTables) -> None:
        self._journal = journal
        self._versioned = versioned

    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        names = {name for statement in unit.statements if (name := self._versioned.changed_by(statement))}
        if not names:
            return await self._journal.commit(unit, on_prepared)
        # They come last, so that the numbers of failed statements stay; sorted, so that two Hosts can't deadlock.
        increases = [statement for name in sorted(names) for statement in _increase(name)]
        receipt = await self._journal.commit(
            Unit(unit.name, (*unit.statements, *increases), unit.can_batch), on_prepared
        )
        return receipt[: len(unit.statements)]

    async def read(self, query: Select) -> list[Row]:
        return await self._journal.read(query)

    async def search(self, query: Search) -> list[Row]:
        return await self._journal.search(query)


async def read_versions(journal: Journal) -> dict[str, int]:
    """Returns the versions by name. A table that was never changed has none."""
    return {row["name"]: row["version"] for row in await journal.read(Select(VERSIONS, point_read=True))}


def _increase(name: str) -> Iterator[Statement]:
    yield Insert(VERSIONS, {"name": name, "version": 0}, conflict="ignore")
    yield Update(VERSIONS, {"version": Increment()}, where(name=name))


def _writes(statement: Statement, meta_name: str) -> bool:
    match statement:
        case Insert():
            return statement.values["name"] == meta_name
        case Update() | Delete():
            return any(each.column == "name" and each.value == meta_name for each in statement.where)
