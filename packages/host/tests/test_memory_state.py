"""Every mutable container that a built Host keeps is declared as state of a part, of the Host, or as a cache."""

from collections import Counter
from pathlib import Path

from parlour.app.bootstrap import open_host
from parlour.app.host import HostExtensions
from parlour.app.log_setup import build_redactor
from parlour.app.settings import HostSettings
from parlour.app.web.host_app import build_host_app
from parlour.core.store.tables import TABLES
from parlour.stores.postgres import PostgresJournal
from tests.support.memory_state import mutable_containers
from tools.memory_state_documents import PAGE, text
from tools.memory_state_documents.declarations import CACHES, PER_HOST, PER_PART

DECLARED = {**PER_PART, **PER_HOST, **CACHES}
TABLE_NAMES = {table.name for table in TABLES}


async def test_each_container_of_a_host_is_declared_and_each_declared_one_exists(tmp_path: Path) -> None:
    settings = HostSettings(data=tmp_path / "data")
    async with open_host(settings, HostExtensions(), build_redactor(settings)) as host:
        web = build_host_app(settings, host)
        found = mutable_containers(host, web, PostgresJournal("postgresql://example.org/parlour"))

    assert sorted(found.keys() - DECLARED.keys()) == [], (
        "declare them in tools/memory_state_documents/declarations.py, then: make documents"
    )
    assert sorted(DECLARED.keys() - found.keys()) == [], "they don't exist any more: remove them"


def test_a_container_is_declared_once_and_a_cache_names_its_tables() -> None:
    counts = Counter([*PER_PART, *PER_HOST, *CACHES])
    assert [name for name, count in counts.items() if count > 1] == []
    assert [name for name, (tables, _) in CACHES.items() if not set(tables.split(", ")) <= TABLE_NAMES] == []


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == text().rstrip() + "\n"


class _Inner:
    __slots__ = ("queue",)

    def __init__(self) -> None:
        self.queue = [1]


class _Outer:
    def __init__(self) -> None:
        inner = _Inner()
        self.callback = lambda: inner
        self.count = 3


_Inner.__module__ = _Outer.__module__ = "parlour.example"


def test_containers_in_slots_and_behind_closures_are_found() -> None:
    assert mutable_containers(_Outer()) == {"example._Inner.queue": "list"}
