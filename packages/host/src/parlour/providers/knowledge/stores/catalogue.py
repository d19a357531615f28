"""Lists the vector stores, says which can be used, and opens each when it is first used."""

import importlib.util
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from parlour.core.knowledge.ports import KnowledgeFailed, VectorStore
from parlour.core.model.knowledge import BUILTIN_STORE, STORES
from parlour_sdk.values import dataclass

if TYPE_CHECKING:
    from .library import VectorLibrary

EMBEDDED_THREADS: Final = 1
"""Threads of a library that keeps its files itself."""
SERVER_THREADS: Final = 4
NEEDED: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "pgvector": ("postgres", ("asyncpg",)),
    "qdrant": ("qdrant", ("qdrant_client",)),
    "chroma": ("chroma", ("chromadb",)),
    "milvus": ("milvus", ("pymilvus",)),
    "seekdb": ("seekdb", ("pyseekdb",)),
}
"""Extra and modules of each store but the builtin one."""


@dataclass(frozen=True, slots=True)
class StoreAccount:
    """The address of a store's server, and its key, token or password. An empty address means embedded files."""

    url: str = ""
    secret: str = ""


def store_problem(name: str, accounts: Mapping[str, StoreAccount], is_sole: bool = True) -> str:
    """Returns why a store can't be used; empty if it can. `is_sole` is false if several Hosts share the database."""
    if name not in STORES:
        return f"there is no vector store '{name[:40]}'; there are {', '.join(STORES)}"
    if not is_sole and not accounts.get(name, StoreAccount()).url:
        reason = "its files are on the disk of one Host, and several Hosts share this database"
        return f"{reason}; use pgvector, or a store with a server"
    if name == BUILTIN_STORE:
        return ""
    extra, modules = NEEDED[name]
    if any(importlib.util.find_spec(module) is None for module in modules):
        return f"it needs an extra that is not installed: uv pip install 'parlour[{extra}]', then start Parlour again"
    if name == "pgvector" and not accounts.get(name, StoreAccount()).url:
        return "it needs PostgreSQL: set database.url or knowledge.pgvector.url"
    return ""


class StoreCatalogue:
    """The vector stores of a Host. Implements the port `VectorStores`."""

    def __init__(self, folder: Path, accounts: Mapping[str, StoreAccount], is_sole: bool = True) -> None:
        self._folder = folder
        self._accounts = accounts
        self._is_sole = is_sole
        self._open: dict[str, VectorStore] = {}

    def of(self, name: str) -> VectorStore:
        """Returns a store. Raises KnowledgeFailed if it can't be used."""
        store = self._open.get(name)
        if store is None:
            problem = store_problem(name, self._accounts, self._is_sole)
            if problem:
                raise KnowledgeFailed("store_unavailable", f"vector store '{name[:40]}': {problem}")
            store = self._open[name] = self._opened(name)
        return store

    async def close(self) -> None:
        for store in self._open.values():
            await store.close()
        self._open.clear()

    def _account(self, name: str) -> StoreAccount:
        return self._accounts.get(name, StoreAccount())

    def _opened(self, name: str) -> VectorStore:
        if name == BUILTIN_STORE:
            from ..vector_files import VectorFiles

            return VectorFiles(self._folder)
        from .centred import CentredStore
        from .library import LibraryStore

        account, folder = self._account(name), self._folder / name
        if name == "pgvector":
            from .pgvector import PgVectorStore

            return CentredStore(PgVectorStore(account.url))
        threads = SERVER_THREADS if account.url else EMBEDDED_THREADS
        return CentredStore(LibraryStore(name, partial(_open_library, name, folder, account), threads))


def _open_library(name: str, folder: Path, account: StoreAccount) -> "VectorLibrary":
    """Imports a client library, which may take seconds, and connects."""
    match name:
        case "qdrant":
            from .qdrant import QdrantLibrary

            return QdrantLibrary(folder, account.url, account.secret)
        case "chroma":
            from .chroma import ChromaLibrary

            return ChromaLibrary(folder, account.url, account.secret)
        case "milvus":
            from .milvus import MilvusLibrary

            return MilvusLibrary(folder, account.url, account.secret)
        case _:
            from .seekdb import SeekDbLibrary

            return SeekDbLibrary(folder, account.url, account.secret)
