"""Endpoint that lists the audit: calls of plugins and changes by operators."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from parlour.core.journal import where
from parlour.core.store.tables import AUDIT

from .. import views
from ..api_router import ApiRouter
from ..auth import Admin
from ..pagination import Cursor, Limit, Pages
from ..responses import PageResponse
from .responses import AuditEntry

Name = Annotated[str | None, Query(max_length=200)]


def router(pages: Pages) -> APIRouter:
    routes = ApiRouter(tags=["audit"])

    @routes.get("/audit")
    async def list_entries(
        principal: Admin,
        kind: Literal["access", "admin", "runtime"] | None = None,
        run_id: Name = None,
        action: Name = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> PageResponse[AuditEntry]:
        """Newest first. An allowed call may take a second to appear, a refused one is there at once."""
        filters = {"kind": kind, "run_id": run_id, "action": action}
        conditions = where(**{name: value for name, value in filters.items() if value is not None})
        return await pages.page(AUDIT, conditions, "seq", views.audit_entry, limit, cursor)

    return routes
