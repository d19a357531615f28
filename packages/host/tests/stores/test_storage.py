"""The stored values of one plugin, and of no other, are deleted by the database."""

from parlour.core.journal import Journal, Select
from parlour.core.model.storage_owners import storage_owners
from parlour.core.store.storage import VECTOR_COLLECTIONS, VECTORS, Storage
from parlour.core.store.tables import STORAGE
from parlour.core.system import SystemClock
from parlour.testing.memory_journal import MemoryJournal

PLUGINS = ("acme/kept", "acme/kept-too", "acme/gone")


async def check(journal: Journal) -> None:
    storage = Storage(journal, SystemClock())
    for plugin_id in PLUGINS:
        for area, owner in storage_owners("default", plugin_id, "agent:bot").items():
            await storage.set(area, owner, plugin_id, b"value", run=None)
        for area in (VECTORS, VECTOR_COLLECTIONS):
            await storage.set(area, storage_owners("default", plugin_id, "")["plugin"], plugin_id, b"value", run=None)

    await storage.delete_plugin_data("acme/kept-")
    await storage.delete_plugin_data("acme/gone")

    rows = await journal.read(Select(STORAGE, columns=("area", "name")))
    assert sorted((row["area"], row["name"]) for row in rows) == [
        ("binding", "acme/kept"),
        ("binding", "acme/kept-too"),
        ("plugin", "acme/kept"),
        ("plugin", "acme/kept-too"),
        ("vector_collections", "acme/kept"),
        ("vector_collections", "acme/kept-too"),
        ("vectors", "acme/kept"),
        ("vectors", "acme/kept-too"),
        *(("workspace", plugin_id) for plugin_id in sorted(PLUGINS)),
    ]


async def test_only_the_stored_values_of_the_plugin_are_deleted_in_memory() -> None:
    await check(MemoryJournal())


async def test_only_the_stored_values_of_the_plugin_are_deleted_on_sqlite(on_sqlite: list[Journal]) -> None:
    await check(on_sqlite[0])


async def test_only_the_stored_values_of_the_plugin_are_deleted_on_postgres(on_postgres: list[Journal]) -> None:
    await check(on_postgres[0])
