"""Model providers: made, read, changed, deleted; and what kinds there are."""

from typing import Any

from fastapi import APIRouter, Response

from parlour.core.access import audit
from parlour.core.cursors import Cursors
from parlour.core.journal import Insert
from parlour.core.models.book import ModelBook
from parlour.core.models.catalogue import Catalogue
from parlour.core.models.model import Provider
from parlour.core.ports import Clock, Ids

from ..auth import Admin, Principal, Viewer
from ..errors import Problem, not_found
from ..paging import Cursor, Limit
from .checking import ModelForms, shown_kind, shown_provider
from .schemas import ProviderBody


def router(
    book: ModelBook, catalogue: Catalogue, forms: ModelForms, cursors: Cursors, ids: Ids, clock: Clock
) -> APIRouter:
    routes = APIRouter(tags=["models"])

    def existing(provider_id: str) -> Provider:
        provider = book.provider(provider_id)
        if provider is None:
            raise not_found(f"model provider '{provider_id}'", "GET /api/v1/model-providers lists them")
        return provider

    def view(provider: Provider) -> dict[str, Any]:
        return shown_provider(provider, catalogue.get(provider.kind))

    def change(principal: Principal, action: str, before: Provider | None, after: Provider | None) -> Insert:
        provider = after or before
        assert provider is not None
        was, becomes = before and view(before), after and view(after)
        return audit.admin(principal.owner, action, provider.provider_id, was, becomes, clock.now())

    @routes.get("/model-kinds")
    async def list_kinds(principal: Viewer) -> dict[str, Any]:
        return {"items": [shown_kind(kind) for kind in catalogue.kinds()], "next_cursor": None}

    @routes.post("/model-providers", status_code=201)
    async def create_provider(body: ProviderBody, principal: Admin) -> dict[str, Any]:
        provider = forms.provider(ids.new(), body)
        await book.put_provider(provider, change(principal, "model_provider.create", None, provider))
        return view(provider)

    @routes.get("/model-providers")
    async def list_providers(principal: Viewer, limit: Limit = 50, cursor: Cursor = None) -> dict[str, Any]:
        after = "" if cursor is None else str(cursors.decode("model_providers", cursor))
        rest = [each for each in book.providers() if each.provider_id > after]
        page = rest[:limit]
        more = cursors.encode("model_providers", page[-1].provider_id) if len(rest) > limit else None
        return {"items": [view(each) for each in page], "next_cursor": more}

    @routes.get("/model-providers/{provider_id}")
    async def read_provider(provider_id: str, principal: Viewer) -> dict[str, Any]:
        return view(existing(provider_id))

    @routes.put("/model-providers/{provider_id}")
    async def replace_provider(provider_id: str, body: ProviderBody, principal: Admin) -> dict[str, Any]:
        before = existing(provider_id)
        provider = forms.provider(provider_id, body, before)
        await book.put_provider(provider, change(principal, "model_provider.replace", before, provider))
        return view(provider)

    @routes.delete("/model-providers/{provider_id}", status_code=204)
    async def delete_provider(provider_id: str, principal: Admin) -> Response:
        before = existing(provider_id)
        used = [model.name for model in book.models(provider_id)]
        if used:
            message = f"provider '{before.name}' answers for {', '.join(used[:10])}; delete these models first"
            raise Problem(409, "in_use", message, {"models": used})
        await book.remove_provider(provider_id, change(principal, "model_provider.delete", before, None))
        return Response(status_code=204)

    return routes
