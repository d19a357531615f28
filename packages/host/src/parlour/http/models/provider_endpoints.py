"""Endpoints to create, read, change and delete model providers, and to list the kinds of providers."""

from operator import attrgetter

from fastapi import APIRouter

from parlour.core.config.models import ModelRepository
from parlour.core.journal import Insert
from parlour.core.model.ids import ProviderId
from parlour.core.model.model_config import Provider
from parlour.core.model.ports import Clock, Ids
from parlour.core.models.catalogue import ModelCatalogue
from parlour.core.pagination import Cursors

from ..api_router import ApiRouter
from ..auth import Viewer
from ..crud import ConfigResource, CrudOperations, CrudSchemas, add_crud_routes, without_wait
from ..errors import Problem
from ..principals import Principal
from ..responses import Json, PageResponse
from .mapping import ModelMapper, kind_response, provider_response
from .schemas import ModelKind, ProviderBody, ProviderResponse


def router(
    repository: ModelRepository, catalogue: ModelCatalogue, forms: ModelMapper, cursors: Cursors, ids: Ids, clock: Clock
) -> APIRouter:
    routes = ApiRouter(tags=["models"])

    def view(provider: Provider) -> ProviderResponse:
        return provider_response(provider, catalogue.get(provider.kind))

    def build(provider_id: ProviderId, body: ProviderBody, before: Provider | None, principal: Principal) -> Provider:
        return forms.to_provider(provider_id, body, before)

    async def remove(provider_id: ProviderId, entry: Insert) -> None:
        used = [model.name for model in repository.models(provider_id)]
        if used:
            name = resource.get_or_404(provider_id).name
            message = f"provider '{name}' answers for {', '.join(used[:10])}; delete these models first"
            raise Problem(409, "in_use", message, {"models": used})
        await repository.remove_provider(provider_id, entry)

    resource = ConfigResource(
        "model provider",
        "/model-providers",
        repository.provider,
        attrgetter("provider_id"),
        view,
        cursors,
        clock,
        _version_fields,
    )

    @routes.get("/model-kinds")
    async def list_kinds(principal: Viewer) -> PageResponse[ModelKind]:
        """All of them at once, those that most people look for first."""
        return {"items": [kind_response(kind) for kind in catalogue.kinds()], "next_cursor": None}

    add_crud_routes(
        routes,
        resource,
        CrudSchemas("provider", "provider_id", ProviderBody, ProviderResponse),
        CrudOperations(
            repository.providers, build, repository.put_provider, repository.put_provider, remove, without_wait(view)
        ),
        lambda: ProviderId(ids.new()),
    )
    return routes


def _version_fields(provider: Provider) -> Json:
    fields = {"name": provider.name, "kind": provider.kind, "base_url": provider.base_url}
    return {**fields, "api_keys": provider.sealed_keys}
