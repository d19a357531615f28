"""Endpoints of knowledge bases: create, change, delete and search them."""

from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter
from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Path
from pydantic import ValidationError

from parlour.core.access import audit
from parlour.core.config.resource_usage import ResourceReferences
from parlour.core.journal import Insert
from parlour.core.knowledge.ports import HOST_CONTEXT, KnowledgeFailed
from parlour.core.model.ids import KnowledgeBaseId
from parlour.core.model.knowledge import STORES, KnowledgeBase, RetrievalSettings, StoreName
from parlour.core.model.ports import Clock, Ids
from parlour.core.pagination import Cursors

from ..api_router import ApiRouter
from ..auth import Operator, Viewer
from ..crud import ConfigResource, CrudOperations, CrudSchemas, add_crud_routes
from ..errors import Problem, invalid_field
from ..object_limits import ObjectLimit
from ..principals import Principal
from .access import KnowledgeAccess, to_problem
from .plugins import EngineListResponse, ParserListResponse, PluginKnowledge
from .responses import (
    KnowledgeBaseResponse,
    SearchResponse,
    StoreListResponse,
    StoreResponse,
    audit_view,
    base_response,
    search_response,
)
from .schemas import KnowledgeBaseBody, RetrievalBody, SearchBody

KbPath = Annotated[KnowledgeBaseId, Path(max_length=64)]
EmbeddingCheck = Callable[[str], str]
"""Returns why a model can't embed texts; empty if it can. An empty id is the offline embedding."""


class StoreSource(Protocol):
    """The vector stores of the Host."""

    @property
    def default(self) -> StoreName: ...

    def problem(self, name: str) -> str:
        """Returns why a store can't be used; empty if it can."""
        ...


def router(
    access: KnowledgeAccess,
    references: ResourceReferences,
    stores: "StoreSource",
    plugins: PluginKnowledge,
    check_embedding: EmbeddingCheck,
    limit: ObjectLimit,
    cursors: Cursors,
    ids: Ids,
    clock: Clock,
) -> APIRouter:
    routes = ApiRouter(tags=["knowledge"])
    resource = ConfigResource[KnowledgeBaseId, KnowledgeBase](
        "knowledge base", "/knowledge-bases", access.find, attrgetter("kb_id"), audit_view, cursors, clock
    )

    def build(
        kb_id: KnowledgeBaseId, body: KnowledgeBaseBody, before: KnowledgeBase | None, principal: Principal
    ) -> KnowledgeBase:
        base = body.to_base(kb_id, before, stores.default)
        wanted = base.next_embedding_model if base.next_embedding_model is not None else base.embedding_model
        problem = check_embedding(wanted)
        if problem and wanted:
            raise invalid_field("embedding.model_id", problem)
        if problem:
            raise Problem(409, "not_installed", problem)
        store = base.next_store or base.store
        if (before is None or store != before.store) and (problem := stores.problem(store)):
            raise invalid_field("store", problem)
        return plugins.checked(base, before)

    async def add(base: KnowledgeBase, entry: Insert) -> None:
        await access.service.bases.add(base, entry)

    async def replace_base(base: KnowledgeBase, entry: Insert) -> None:
        await access.service.bases.replace(base, entry)

    async def remove(kb_id: KnowledgeBaseId, entry: Insert) -> None:
        base = resource.get_or_404(kb_id)
        users = references.agents_using(kb_id)
        if users:
            names = ", ".join(f"'{name}'" for name in users[:5])
            message = f"the knowledge base is searched by {len(users)} agents: {names}; take it from them first"
            raise Problem(409, "in_use", message, {"agents": users})
        await access.service.remove_base(base, entry)

    async def view(base: KnowledgeBase) -> KnowledgeBaseResponse:
        row = await access.service.records.base_row(base.kb_id)
        used_by, engine_config = references.agents_using(base.kb_id), plugins.masked_config(base)
        problem = stores.problem(base.store) if base.is_builtin else plugins.problem(base)
        return base_response(base, row, used_by, engine_config, problem)

    async def after_change(principal: Principal, before: KnowledgeBase | None, after: KnowledgeBase | None) -> None:
        if before is not None and after is not None and after.is_changing:
            await access.service.jobs.start_reembedding(after)

    add_crud_routes(
        routes,
        resource,
        CrudSchemas("knowledge_base", "kb_id", KnowledgeBaseBody, KnowledgeBaseResponse, max_id_length=64),
        CrudOperations(access.all, build, limit.on_add(add), replace_base, remove, view, after_change),
        lambda: KnowledgeBaseId(ids.new()),
    )

    @routes.get("/knowledge-engines")
    async def list_knowledge_engines(principal: Viewer) -> EngineListResponse:
        """The engines of plugins that bases may use instead of the builtin one."""
        return plugins.engines()

    @routes.get("/knowledge-parsers")
    async def list_knowledge_parsers(principal: Viewer) -> ParserListResponse:
        """The parsers of plugins that may read files."""
        return plugins.parsers()

    @routes.get("/knowledge-stores")
    async def list_knowledge_stores(principal: Viewer) -> StoreListResponse:
        """The vector stores that bases may use, and what the others lack."""
        items: list[StoreResponse] = [
            {"name": name, "is_default": name == stores.default, "problem": stores.problem(name) or None}
            for name in STORES
        ]
        return {"items": items, "next_cursor": None}

    @routes.post("/knowledge-bases/{kb_id}/search")
    async def search_knowledge_base(kb_id: KbPath, body: SearchBody, principal: Viewer) -> SearchResponse:
        """The passages that a run would get; with `settings` those that it would get with other settings."""
        base = access.base(kb_id)
        settings, engine_settings = _tried_settings(plugins, base, body)
        changes = {name: getattr(body, name) for name in ("top_k", "mode") if getattr(body, name) is not None}
        try:
            report = await access.service.search(
                base, body.query, body.filters, HOST_CONTEXT, replace(settings, **changes), engine_settings
            )
        except KnowledgeFailed as failure:
            raise to_problem(failure) from failure
        return search_response(report, body.explain)

    @routes.post("/knowledge-bases/{kb_id}/reembed", status_code=202)
    async def reembed_knowledge_base(kb_id: KbPath, principal: Operator) -> KnowledgeBaseResponse:
        """All vectors are made again in the background; those there are stay in use until then."""
        base = access.base(kb_id)
        if not base.is_builtin:
            raise Problem(409, "not_supported", "the engine of a plugin makes the vectors of this base")
        entry = audit.change_entry(principal.owner, "knowledge_base.reembed", kb_id, None, None, clock.now())
        await access.service.jobs.start_reembedding(base, "reembedding", entry)
        return await view(base)

    return routes


def _tried_settings(
    plugins: PluginKnowledge, base: KnowledgeBase, body: SearchBody
) -> tuple[RetrievalSettings, dict[str, Any] | None]:
    """Returns the settings of a search: those of the retrieval, and those of the engine of a plugin. Raises Problem."""
    if body.settings is None:
        return base.retrieval, None
    if not base.is_builtin:
        given = body.settings
        values = given.model_dump(exclude_unset=True) if isinstance(given, RetrievalBody) else given
        return base.retrieval, plugins.search_settings(base, values)
    if isinstance(body.settings, RetrievalBody):
        return body.settings.to_settings(), None
    try:
        return RetrievalBody.model_validate(body.settings).to_settings(), None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise invalid_field(".".join(("settings", *map(str, first["loc"]))), first["msg"]) from error
