"""Builds knowledge bases when the first one is needed. A Host without a base loads nothing of them."""

import logging
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parlour.core.jobs.job import Job, JobDone, JobFailed, JobHandler, JobResult, JobRetry
from parlour.core.jobs.progress import JobProgress
from parlour.core.journal import Journal, Select, Statement
from parlour.core.model.ids import PluginId
from parlour.core.model.knowledge import StoreName
from parlour.core.model.providers import CallContext, Models, ProviderFailed, RecordedPassage
from parlour.core.models.budgeted_models import BudgetedModels
from parlour.core.models.gated_models import with_effect_gate
from parlour.core.observability.metrics import Metrics
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.core.store.tables import KNOWLEDGE_BASES
from parlour_sdk.protocol.files import FileChunk
from parlour_sdk.protocol.knowledge import KnowledgeChunk, ParsedFile
from parlour_sdk.protocol.resources import KnowledgeBaseResource

from .core import Core
from .core_ports import CorePorts
from .settings import HostSettings

if TYPE_CHECKING:
    from parlour.core.knowledge.jobs import KnowledgeJobs
    from parlour.core.knowledge.service import KnowledgeBaseService
    from parlour.providers.knowledge.plugin_files import PluginFiles
    from parlour.providers.knowledge.stores.catalogue import StoreAccount, StoreCatalogue

logger = logging.getLogger(__name__)

FOLDER = "knowledge"
"""Folder of the data directory with the vectors, which are made again from the database if they are missing."""


class KnowledgeSubsystem:
    """The knowledge bases of a Host. Implements the port of runs."""

    def __init__(
        self, models: Models, components: ComponentRegistry, settings: HostSettings, metrics: Metrics | None = None
    ) -> None:
        self.components = components
        """Engines and parsers of plugins, besides other components."""
        self._models = models
        self._settings = settings
        self.metrics = metrics or Metrics()
        self._build: Callable[[], KnowledgeParts] | None = None
        self._parts: KnowledgeParts | None = None
        self._is_sole = True

    @property
    def is_used(self) -> bool:
        """True if there is or was a base since the start."""
        return self._parts is not None

    @property
    def service(self) -> "KnowledgeBaseService":
        """The service, which is built on first use."""
        return self._used_parts().service

    def resources(self) -> Sequence[KnowledgeBaseResource]:
        return self._parts.service.resources() if self._parts is not None else ()

    async def retrieve(
        self, context: CallContext, kb_id: str, query: str, top_k: int, filters: dict[str, Any] | None
    ) -> Sequence[KnowledgeChunk]:
        if self._parts is None:
            raise ProviderFailed("not_found", f"there is no knowledge base '{kb_id[:64]}'")
        return await self._parts.service.retrieve(context, kb_id, query, top_k, filters)

    async def recall(
        self, kb_id: str, passages: Sequence[RecordedPassage], found_at: int
    ) -> Sequence[KnowledgeChunk] | None:
        return await self._parts.service.recall(kb_id, passages, found_at) if self._parts is not None else None

    async def read_file(self, plugin_id: PluginId, file_key: str, offset: int, length: int) -> FileChunk:
        return await self._used_parts().plugin_files.read(plugin_id, file_key, offset, length)

    async def parse_file(self, plugin_id: PluginId, file_key: str, parser: str) -> ParsedFile:
        return await self._used_parts().plugin_files.parse(plugin_id, file_key, parser)

    def embedding_problem(self, model_id: str) -> str:
        """Returns why a model can't embed texts; empty if it can. An empty id is the offline embedding."""
        from parlour.providers.knowledge.installation import INSTALL_COMMAND, is_installed

        if not is_installed():
            return f"knowledge bases need an extra that is not installed: {INSTALL_COMMAND}, then start Parlour again"
        known = {model.model_id: model.type for model in self._models.resources()}
        if model_id and known.get(model_id) != "embedding":
            return "it must be the id of a configured embedding model; leave it out to embed offline"
        return ""

    @property
    def default(self) -> StoreName:
        """The vector store of new bases."""
        return self._settings.knowledge.store

    def problem(self, name: str) -> str:
        """Returns why a vector store can't be used; empty if it can."""
        from parlour.providers.knowledge.stores.catalogue import store_problem

        return store_problem(name, _store_accounts(self._settings), self._is_sole)

    async def open(self, ports: CorePorts, core: Core, folder: Callable[[str], Path]) -> None:
        """Prepares the bases, and loads them if there are any."""
        settings, self._is_sole = self._settings, ports.ownership.is_sole
        self._build = lambda: _build(settings, ports, core, folder, self.metrics)
        core.jobs.register(KnowledgeJobHandler(self))
        if await _has_bases(ports.journal):
            await self._used_parts().service.load()
            self._warn_of_unusable_stores()

    def _warn_of_unusable_stores(self) -> None:
        for base in self._used_parts().service.bases.all():
            problem = self.problem(base.store) if base.is_builtin else ""
            if problem:
                logger.error(
                    "the knowledge base '%s' can't be searched by meaning: store %s: %s", base.name, base.store, problem
                )

    async def recover(self) -> None:
        """Starts to make vectors again that are missing, such as those of a restored backup."""
        if self._parts is not None:
            await self._parts.jobs.rebuild_missing_vectors()

    async def close(self) -> None:
        if self._parts is not None:
            await self._parts.stores.close()

    @property
    def jobs(self) -> "KnowledgeJobs":
        return self._used_parts().jobs

    def _used_parts(self) -> "KnowledgeParts":
        if self._parts is None:
            assert self._build is not None
            self._parts = self._build()
        return self._parts


class KnowledgeParts:
    """The objects that knowledge bases consist of."""

    def __init__(
        self,
        service: "KnowledgeBaseService",
        jobs: "KnowledgeJobs",
        stores: "StoreCatalogue",
        plugin_files: "PluginFiles",
    ) -> None:
        self.service = service
        self.plugin_files = plugin_files
        self.jobs = jobs
        self.stores = stores


_OUTCOMES: Mapping[type[JobResult], str] = {JobDone: "done", JobRetry: "retry", JobFailed: "failed"}


class KnowledgeJobHandler(JobHandler):
    """Passes the jobs of bases on to the subsystem. It is registered without loading it."""

    kind = "knowledge"
    keeps_done = False
    concurrency = 2

    def __init__(self, knowledge: KnowledgeSubsystem) -> None:
        self._knowledge = knowledge

    async def run(self, job: Job, progress: JobProgress) -> JobResult:
        result = await self._knowledge.jobs.run(job, progress)
        outcome = _OUTCOMES[type(result)]
        self._knowledge.metrics.count(
            "parlour_knowledge_jobs_total", ("task", job.payload["task"]), ("outcome", outcome)
        )
        return result

    def on_failed(self, job: Job, reason: str) -> Sequence[Statement]:
        return self._knowledge.jobs.on_failed(job, reason)


async def _has_bases(journal: Journal) -> bool:
    return bool(await journal.read(Select(KNOWLEDGE_BASES, columns=("kb_id",), limit=1)))


def _build(
    settings: HostSettings, ports: CorePorts, core: Core, folder: Callable[[str], Path], metrics: Metrics
) -> KnowledgeParts:
    from parlour.core.knowledge.bases import KnowledgeBases
    from parlour.core.knowledge.contents import KnowledgeQuotas, StoredContents
    from parlour.core.knowledge.engine_ingestion import EngineIngestion
    from parlour.core.knowledge.handouts import FileHandouts
    from parlour.core.knowledge.ingestion import Ingestion
    from parlour.core.knowledge.jobs import KnowledgeJobs
    from parlour.core.knowledge.measured import MeasuredEmbeddings, MeasuredParser, StageMeter
    from parlour.core.knowledge.reembedding import Reembedding
    from parlour.core.knowledge.retrieval import Retrieval
    from parlour.core.knowledge.service import KnowledgeBaseService
    from parlour.providers.knowledge.embeddings import ModelEmbeddings
    from parlour.providers.knowledge.parsing.process import ParserLimits, ParserProcesses
    from parlour.providers.knowledge.plugin_files import PluginFiles
    from parlour.providers.knowledge.plugins import PluginEngines, PluginParsers
    from parlour.providers.knowledge.stores.catalogue import StoreCatalogue

    journal, clock, limits = ports.journal, ports.clock, settings.knowledge
    models = BudgetedModels(with_effect_gate(ports.providers.models, ports.ownership), core.budgets, core.reservations)
    meter, provider = StageMeter(metrics), ModelEmbeddings(models)
    embeddings = MeasuredEmbeddings(provider, meter)
    vectors = folder(FOLDER)
    stores = StoreCatalogue(vectors, _store_accounts(settings), ports.ownership.is_sole)
    handouts = FileHandouts()
    processes = ParserProcesses(
        ParserLimits(limits.parse_seconds, limits.parse_memory_mb),
        settings.plugins.bubblewrap,
        settings.plugins.sandbox != "off",
    )
    plugin_parsers = PluginParsers(processes, ports.components, ports.plugins, handouts)
    parser = MeasuredParser(plugin_parsers, meter)
    engines = PluginEngines(ports.components, ports.plugins, ports.secrets, handouts)
    quotas = KnowledgeQuotas(limits.file_bytes, limits.files, limits.chunks, limits.total_bytes)
    contents = StoredContents(journal, core.artifacts, ports.fetcher, parser, clock, quotas, _work_folder(vectors))
    bases = KnowledgeBases(journal, clock)
    ingestion = Ingestion(journal, parser, embeddings, stores, contents, clock, limits.chunks)
    reembedding = Reembedding(journal, bases, embeddings, stores, clock)
    engine_ingestion = EngineIngestion(journal, parser, engines, contents, clock)
    jobs = KnowledgeJobs(core.jobs, bases, ingestion, engine_ingestion, reembedding, journal, clock)
    retrieval = Retrieval(journal, embeddings, stores, provider, engines, meter)
    service = KnowledgeBaseService(journal, bases, jobs, contents, retrieval, ports.ids, clock)
    return KnowledgeParts(service, jobs, stores, PluginFiles(handouts, plugin_parsers))


def _store_accounts(settings: HostSettings) -> "dict[str, StoreAccount]":
    from parlour.providers.knowledge.stores.catalogue import StoreAccount

    knowledge = settings.knowledge
    servers = {name: getattr(knowledge, name) for name in ("qdrant", "chroma", "milvus", "seekdb")}
    accounts = {name: StoreAccount(each.url, each.secret.get_secret_value()) for name, each in servers.items()}
    database = knowledge.pgvector.url.get_secret_value() or settings.database.url.get_secret_value()
    return {**accounts, "pgvector": StoreAccount(database)}


def _work_folder(parent: Path) -> Path:
    """Returns an empty folder for files that are being read; a crashed Host may have left some."""
    work = parent / ".work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(mode=0o700)
    return work
