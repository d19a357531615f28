"""Endpoints to create, read, change and delete model providers, and to list the kinds of providers."""

from operator import attrgetter
from typing import Annotated, Any

from fastapi import APIRouter, Response

from parlour.core.config.models import ModelRepository
from parlour.core.model.model_config import Provider
from parlour.core.model.ports import Clock, Ids
from parlour.core.models.catalogue import ModelCatalogue
from parlour.core.pagination import Cursors

from ..auth import Admin, Viewer
from ..crud import ConfigResource
from ..errors import Problem
from ..etags import IfMatch
from ..pagination import Cursor, Limit
from ..responses import Json, PageResponse, ResponseSchema
from . import responses
from .mapping import ModelMapper, kind_response, provider_response
from .schemas import ProviderBody


def router(
    book: ModelRepository, catalogue: ModelCatalogue, forms: ModelMapper, cursors: Cursors, ids: Ids, clock: Clock
) -> APIRouter:
    routes = APIRouter(tags=["models"])

    def view(provider: Provider) -> dict[str, Any]:
        return provider_response(provider, catalogue.get(provider.kind))

    path = "/model-providers"
    shelf = ConfigResource(
        "model provider", path, book.provider, attrgetter("provider_id"), view, cursors, clock, _version_fields
    )

    @routes.get("/model-kinds")
    async def list_kinds(principal: Viewer) -> Annotated[Json, ResponseSchema(PageResponse[responses.ModelKind])]:
        """All of them at once, those that most people look for first."""
        return {"items": [kind_response(kind) for kind in catalogue.kinds()], "next_cursor": None}

    @routes.post("/model-providers", status_code=201)
    async def create_provider(
        body: ProviderBody, principal: Admin, response: Response
    ) -> Annotated[Json, ResponseSchema(responses.ProviderResponse)]:
        provider = forms.to_provider(ids.new(), body)
        await book.put_provider(provider, shelf.audit_entry(principal, None, provider))
        return view(shelf.with_etag(provider, response))

    @routes.get("/model-providers")
    async def list_providers(
        principal: Viewer, limit: Limit = 50, cursor: Cursor = None
    ) -> Annotated[Json, ResponseSchema(PageResponse[responses.ProviderResponse])]:
        return shelf.list_page(book.providers(), view, limit, cursor)

    @routes.get("/model-providers/{provider_id}")
    async def read_provider(
        provider_id: str, principal: Viewer, response: Response
    ) -> Annotated[Json, ResponseSchema(responses.ProviderResponse)]:
        return view(shelf.with_etag(shelf.get_or_404(provider_id), response))

    @routes.put("/model-providers/{provider_id}")
    async def replace_provider(
        provider_id: str, body: ProviderBody, principal: Admin, response: Response, if_match: IfMatch = None
    ) -> Annotated[Json, ResponseSchema(responses.ProviderResponse)]:
        async with shelf.edit(provider_id, if_match) as before:
            provider = forms.to_provider(provider_id, body, before)
            await book.put_provider(provider, shelf.audit_entry(principal, before, provider))
        return view(shelf.with_etag(provider, response))

    @routes.delete("/model-providers/{provider_id}", status_code=204)
    async def delete_provider(provider_id: str, principal: Admin, if_match: IfMatch = None) -> Response:
        async with shelf.edit(provider_id, if_match) as before:
            used = [model.name for model in book.models(provider_id)]
            if used:
                message = f"provider '{before.name}' answers for {', '.join(used[:10])}; delete these models first"
                raise Problem(409, "in_use", message, {"models": used})
            await book.remove_provider(provider_id, shelf.audit_entry(principal, before, None))
        return Response(status_code=204)

    return routes


def _version_fields(provider: Provider) -> dict[str, Any]:
    named = {"name": provider.name, "kind": provider.kind, "base_url": provider.base_url}
    return {**named, "api_keys": provider.sealed_keys}
