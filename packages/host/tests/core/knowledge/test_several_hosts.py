"""Tests knowledge bases of several Hosts on one database: one takes up a file, and vectors on a disk are refused."""

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from parlour.app.core import build_core
from parlour.app.core_ports import CorePorts
from parlour.app.knowledge import KnowledgeJobHandler, KnowledgeSubsystem
from parlour.app.settings import HostSettings
from parlour.core.jobs.attempts import LEASE_SECONDS
from parlour.core.jobs.jobs import Jobs
from parlour.core.journal import Select, Unit, Update, where
from parlour.core.knowledge import records
from parlour.core.knowledge.bases import KnowledgeBases
from parlour.core.knowledge.ingestion import Ingestion
from parlour.core.knowledge.jobs import KnowledgeJobs
from parlour.core.knowledge.ports import ParsedPart, VectorHits
from parlour.core.model.ids import ArtifactId, JobId, KnowledgeBaseId, KnowledgeFileId
from parlour.core.model.knowledge import BaseFile, ChunkSettings, KnowledgeBase, Passage
from parlour.core.model.providers import CallContext, EmptyProvider
from parlour.core.observability.metrics import Metrics
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.core.store.tables import JOBS, KNOWLEDGE_CHUNKS, KNOWLEDGE_FILES
from parlour.core.system import SystemClock, SystemIds
from parlour.testing import MemoryDatabase, MemoryJournal
from parlour.testing.fake_ownership import FakeOwnership

from ..support import EPOCH, BreakableJournal, CountedIds, LoopClock, until

PASSAGES = 70
"""More than one batch of embedding."""


class SharedVectors:
    """A vector store that both Hosts reach, as a server is; also the port that finds it."""

    def __init__(self) -> None:
        self.ids: dict[str, str] = {}
        """Documents by id."""

    def of(self, name: str) -> "SharedVectors":
        return self

    async def create(self, collection: str, dimension: int) -> None: ...

    async def add(self, collection: str, document: str, ids: Sequence[str], vectors: Any) -> None:
        self.ids |= dict.fromkeys(ids, document)

    async def flush(self, collection: str) -> None: ...

    async def search(
        self, collection: str, vector: Any, limit: int, documents: Collection[str] | None = None
    ) -> VectorHits:
        return VectorHits([])

    async def delete_document(self, collection: str, document: str) -> None:
        self.ids = {each: owner for each, owner in self.ids.items() if owner != document}

    async def delete_ids(self, collection: str, ids: Collection[str]) -> None: ...

    async def drop(self, collection: str) -> None: ...

    async def count(self, collection: str) -> int | None:
        return len(self.ids)

    async def close(self) -> None: ...

    async def embed(self, model_id: str, texts: Sequence[str], context: CallContext, is_query: bool = False) -> Any:
        return np.ones((len(texts), 2), np.float32)


class SteppedParser:
    """Yields the passages of a file in two halves; a Host waits between them until `go` is set."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.started = 0

    def detect(self, head: bytes, name: str, mime_type: str, parser: str = "") -> str | None:
        return "text/plain"

    async def parse(
        self, path: Path, name: str, mime_type: str, settings: ChunkSettings, parser: str = ""
    ) -> AsyncIterator[ParsedPart]:
        self.started += 1
        passages = [Passage(f"passage {position}", position=position) for position in range(PASSAGES)]
        yield ParsedPart(passages[:64], 50)
        await self.go.wait()
        yield ParsedPart(passages[64:], 100)


class Contents:
    @asynccontextmanager
    async def fetch(self, base: KnowledgeBase, file: BaseFile) -> AsyncIterator[tuple[Path, BaseFile]]:
        yield Path("/nowhere"), file

    async def forget(self, file: BaseFile, fetched: BaseFile) -> None: ...


class KnowledgeHost:
    """One of the Hosts on a database."""

    def __init__(self, name: str, database: MemoryDatabase, vectors: SharedVectors) -> None:
        self.journal, clock = BreakableJournal(database), LoopClock()
        self.parser = SteppedParser()
        self.queue = Jobs(self.journal, CountedIds(), clock, owner=name)
        self.bases = KnowledgeBases(self.journal, clock)
        ingestion = Ingestion(self.journal, self.parser, vectors, vectors, Contents(), clock, 1000)
        engines: Any = None
        self.jobs = KnowledgeJobs(self.queue, self.bases, ingestion, engines, engines, self.journal, clock)
        subsystem: Any = SimpleNamespace(jobs=self.jobs, metrics=Metrics())
        self.queue.register(KnowledgeJobHandler(subsystem))


class TwoHosts:
    """Two Hosts, a base, and a file that the first one has begun to take up."""

    def __init__(self) -> None:
        database = MemoryDatabase()
        self.vectors = SharedVectors()
        self.one, self.two = (KnowledgeHost(name, database, self.vectors) for name in ("one", "two"))
        self.base = KnowledgeBase(KnowledgeBaseId("kb"), "Shared", store="pgvector")
        self.job_id = JobId("job")
        self.file = BaseFile(
            KnowledgeFileId("file"), self.base.kb_id, "a.txt", "text/plain", "", ArtifactId(""), "text", 1, EPOCH
        )

    async def begin(self) -> None:
        await self.one.bases.add(self.base)
        await self.two.bases.load()
        file = records.insert_file(self.file, EPOCH)
        queued = Update(KNOWLEDGE_FILES, {"job_id": self.job_id}, where(file_id="file"))
        await self.one.journal.commit(Unit("test.add", (file, queued, self.one.jobs.ingest(self.file, self.job_id))))
        self.one.jobs.wake(self.base.kb_id)
        await until(lambda: len(self.vectors.ids) >= 64)
        self.two.jobs.wake(self.base.kb_id)

    async def row(self) -> Any:
        [row] = await self.two.journal.read(Select(KNOWLEDGE_FILES))
        return row

    async def check_complete(self) -> None:
        """The file is found once, with all of its passages and vectors."""
        file = await self.row()
        assert (file["state"], file["generation"], file["chunks"]) == ("completed", 1, PASSAGES)
        rows = await self.two.journal.read(Select(KNOWLEDGE_CHUNKS))
        assert sorted(row["position"] for row in rows) == list(range(PASSAGES))
        assert {row["chunk_id"] for row in rows} <= set(self.vectors.ids)
        assert await self.two.journal.read(Select(JOBS)) == []


async def test_a_file_is_taken_up_by_the_host_that_holds_its_lease() -> None:
    hosts = TwoHosts()
    await hosts.begin()
    await asyncio.sleep(LEASE_SECONDS * 3)
    assert hosts.two.parser.started == 0
    hosts.one.parser.go.set()
    await until(lambda: not len(hosts.one.queue) and not len(hosts.two.queue))
    assert hosts.two.parser.started == 0
    await hosts.check_complete()


async def test_the_file_of_a_dead_host_is_begun_again_by_another_one() -> None:
    hosts = TwoHosts()
    await hosts.begin()
    hosts.one.journal.dead = True
    await hosts.one.queue.close()
    hosts.two.parser.go.set()
    await until(lambda: not len(hosts.two.queue))
    assert hosts.two.parser.started == 1
    assert asyncio.get_running_loop().time() >= LEASE_SECONDS
    await hosts.check_complete()


@pytest.mark.parametrize("is_finished", [True, False], ids=["finished", "in the middle"])
async def test_a_host_that_was_paused_changes_nothing_of_what_another_one_has_taken_over(is_finished: bool) -> None:
    hosts = TwoHosts()
    await hosts.begin()
    lost = Update(JOBS, {"owner": "two", "lease_until": EPOCH}, where(job_id=hosts.job_id))
    await hosts.two.journal.commit(Unit("test.take", (lost,)))  # as after a minute in which the first one was stopped
    hosts.two.jobs.wake(hosts.base.kb_id)
    if is_finished:
        hosts.two.parser.go.set()
        await until(lambda: not len(hosts.two.queue))
    else:
        await until(lambda: hosts.two.parser.started == 1)
    hosts.one.parser.go.set()
    await until(lambda: not hosts.one.queue._attempts.is_active(hosts.job_id))
    hosts.two.parser.go.set()
    await until(lambda: not len(hosts.one.queue) and not len(hosts.two.queue))
    await hosts.check_complete()


async def test_a_file_that_is_replaced_before_it_is_taken_up_gets_the_new_content() -> None:
    hosts = TwoHosts()
    await hosts.begin()
    again = JobId("again")
    content = {"sha256": "new", "artifact_id": "", "size_bytes": 2, "mime_type": "text/plain"}
    replaced = Update(KNOWLEDGE_FILES, {"job_id": again, "state": "pending"}, where(file_id="file"))
    job = hosts.one.jobs.ingest(hosts.file, again, content)
    await hosts.one.journal.commit(Unit("test.replace", (replaced, job)))
    for host in (hosts.one, hosts.two):
        host.parser.go.set()
    await until(lambda: not len(hosts.one.queue) and not len(hosts.two.queue))
    await hosts.check_complete()
    assert (await hosts.row())["sha256"] == "new"


async def test_a_store_on_the_disk_of_one_host_is_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pgvector: Any = {"pgvector": {"url": "postgresql:///vectors"}}
    settings = HostSettings(data=tmp_path, knowledge=pgvector)
    journal = MemoryJournal(MemoryDatabase())
    for base in (
        KnowledgeBase(KnowledgeBaseId("a"), "Left"),
        KnowledgeBase(KnowledgeBaseId("b"), "Right", store="pgvector"),
    ):
        await journal.commit(Unit("test.add", (records.insert_base(base, EPOCH),)))
    plugins: Any = None
    ports = CorePorts(journal, plugins, SystemClock(), SystemIds(), ownership=FakeOwnership())
    knowledge = KnowledgeSubsystem(EmptyProvider(), ComponentRegistry(), settings)
    with caplog.at_level(logging.ERROR):
        await knowledge.open(ports, build_core(ports), _folder(tmp_path))
    assert [record.args[0] for record in caplog.records if record.args] == ["Left"]
    assert "several Hosts share this database" in knowledge.problem("builtin")
    assert "several Hosts share this database" in knowledge.problem("chroma")
    assert knowledge.problem("pgvector") == ""
    await knowledge.close()


def _folder(parent: Path) -> Any:
    def make(name: str) -> Path:
        (parent / name).mkdir(exist_ok=True)
        return parent / name

    return make
