"""Endpoints to read approvals, and for operators to decide them."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Path

from parlour.core.approvals.decisions import Decider
from parlour.core.approvals.service import ApprovalService
from parlour.core.errors import CallRejected
from parlour.core.journal import Journal, Select, where
from parlour.core.store.tables import APPROVALS

from ..auth import Operator, Viewer
from ..errors import Problem, not_found
from ..pagination import Cursor, Limit, Pages
from ..responses import Json, PageResponse, ResponseSchema
from .origins import read_occasions
from .responses import ApprovalResponse
from .schemas import DecisionBody, Status, to_response

ApprovalId = Annotated[str, Path(max_length=64)]
_STATUS = {"not_found": 404, "conflict": 409, "denied": 403}


def router(journal: Journal, approvals: ApprovalService, pages: Pages) -> APIRouter:
    routes = APIRouter(tags=["approvals"])

    async def with_occasions(items: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Replaces `event_seq` by the occasion of that event."""
        seqs = [int(item.pop("event_seq")) for item in items]
        found = await read_occasions(journal, seqs)
        return [{**item, "occasion": found.get(seq)} for item, seq in zip(items, seqs, strict=True)]

    @routes.get("/approvals")
    async def list_approvals(
        principal: Viewer, status: Status | None = None, limit: Limit = 50, cursor: Cursor = None
    ) -> Annotated[Json, ResponseSchema(PageResponse[ApprovalResponse])]:
        """Newest first."""
        conditions = where(status=status) if status is not None else ()
        page = await pages.page(APPROVALS, conditions, "approval_id", to_response, limit, cursor)
        return {**page, "items": await with_occasions(page["items"])}

    @routes.get("/approvals/{approval_id}")
    async def read_approval(
        approval_id: ApprovalId, principal: Viewer
    ) -> Annotated[Json, ResponseSchema(ApprovalResponse)]:
        rows = await journal.read(Select(APPROVALS, where(approval_id=approval_id), limit=1))
        if not rows:
            raise not_found(f"approval '{approval_id}'", "GET /api/v1/approvals lists them")
        [shown] = await with_occasions([to_response(rows[0])])
        return shown

    @routes.post("/approvals/{approval_id}")
    async def decide(
        approval_id: ApprovalId, body: DecisionBody, principal: Operator
    ) -> Annotated[Json, ResponseSchema(ApprovalResponse)]:
        """Carried out at once if it is approved; what became of it is its `outcome`."""
        decider = Decider(principal.participant, operator=True, principal=principal.owner)
        try:
            await approvals.decide(approval_id, body.decision, decider, body.reason)
        except CallRejected as refusal:
            raise Problem(_STATUS.get(refusal.code, 409), refusal.code, refusal.message) from refusal
        return await read_approval(approval_id, principal)

    return routes
