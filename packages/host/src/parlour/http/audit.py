"""Endpoint that lists the audit: calls of plugins and changes by operators."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from typing_extensions import TypedDict

from parlour.core.encoding import loads
from parlour.core.journal import Row, where
from parlour.core.store.tables import AUDIT

from .api_router import ApiRouter
from .auth import Admin
from .pagination import Cursor, Limit, Pages
from .responses import Id, PageResponse, TimestampMs

Name = Annotated[str | None, Query(max_length=200)]


class AuditEntry(TypedDict):
    seq: int
    kind: Literal["access", "admin", "runtime", "box", "memory", "door"]
    actor: str
    action: str
    outcome: str
    code: str | None
    resource: str | None
    scope: str | None
    run_id: Id | None
    runner_id: str | None
    plugin_id: str | None
    detail: Any
    """Of a change, what was before and after, without secrets; of repeated refusals (code `repeated`), their count."""
    created_at: TimestampMs


def router(pages: Pages) -> APIRouter:
    routes = ApiRouter(tags=["audit"])

    @routes.get("/audit")
    async def list_entries(
        principal: Admin,
        kind: Literal["access", "admin", "runtime", "box", "memory", "door"] | None = None,
        run_id: Name = None,
        action: Name = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> PageResponse[AuditEntry]:
        """Newest first. An allowed call may take a second to appear, a refused one is there at once."""
        filters = {"kind": kind, "run_id": run_id, "action": action}
        conditions = where(**{name: value for name, value in filters.items() if value is not None})
        return await pages.page(AUDIT, conditions, "seq", _to_response, limit, cursor)

    return routes


def _to_response(row: Row) -> AuditEntry:
    return {
        "seq": row["seq"],
        "kind": row["kind"],
        "actor": row["actor"],
        "action": row["action"],
        "outcome": row["outcome"],
        "code": row["code"] or None,
        "resource": row["resource"] or None,
        "scope": row["scope"] or None,
        "run_id": row["run_id"] or None,
        "runner_id": row["runner_id"] or None,
        "plugin_id": row["plugin_id"] or None,
        "detail": loads(row["detail"]) if row["detail"] else None,
        "created_at": row["created_at"],
    }
