"""Endpoints to read approvals, and for operators to decide them."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Path

from parlour.core.approvals.decisions import Decider
from parlour.core.approvals.service import ApprovalService
from parlour.core.encoding import loads
from parlour.core.errors import CallRejected
from parlour.core.journal import Journal, Row, Select, where
from parlour.core.model.ids import ApprovalId
from parlour.core.store.tables import APPROVALS

from ..api_router import ApiRouter
from ..auth import Operator, Viewer
from ..errors import Problem, not_found
from ..pagination import Cursor, Limit, Pages
from ..responses import PageResponse
from .origins import read_occasions
from .schemas import ApprovalResponse, DecisionBody, OccasionResponse, Status

ApprovalPath = Annotated[ApprovalId, Path(max_length=64)]
_STATUS = {"not_found": 404, "conflict": 409, "denied": 403}


def router(journal: Journal, approvals: ApprovalService, pages: Pages) -> APIRouter:
    routes = ApiRouter(tags=["approvals"])

    async def to_responses(rows: Sequence[Row]) -> list[ApprovalResponse]:
        """Returns the approvals with the occasions of their events."""
        occasions = await read_occasions(journal, [int(row["event_seq"]) for row in rows])
        return [_to_response(row, occasions.get(int(row["event_seq"]))) for row in rows]

    @routes.get("/approvals")
    async def list_approvals(
        principal: Viewer, status: Status | None = None, limit: Limit = 50, cursor: Cursor = None
    ) -> PageResponse[ApprovalResponse]:
        """Newest first."""
        conditions = where(status=status) if status is not None else ()
        page = await pages.page(APPROVALS, conditions, "approval_id", dict, limit, cursor)
        return {"items": await to_responses(page["items"]), "next_cursor": page["next_cursor"]}

    @routes.get("/approvals/{approval_id}")
    async def read_approval(approval_id: ApprovalPath, principal: Viewer) -> ApprovalResponse:
        rows = await journal.read(Select(APPROVALS, where(approval_id=approval_id), limit=1))
        if not rows:
            raise not_found(f"approval '{approval_id}'", "GET /api/v1/approvals lists them")
        [response_body] = await to_responses(rows)
        return response_body

    @routes.post("/approvals/{approval_id}")
    async def decide(approval_id: ApprovalPath, body: DecisionBody, principal: Operator) -> ApprovalResponse:
        """Carried out at once if it is approved; what became of it is its `outcome`."""
        decider = Decider(principal.participant, operator=True, principal=principal.owner)
        try:
            await approvals.decide(approval_id, body.decision, decider, body.reason)
        except CallRejected as refusal:
            raise Problem(_STATUS.get(refusal.code, 409), refusal.code, refusal.message) from refusal
        return await read_approval(approval_id, principal)

    return routes


def _to_response(row: Row, occasion: OccasionResponse | None) -> ApprovalResponse:
    return {
        "approval_id": row["approval_id"],
        "keyword": row["keyword"],
        "status": row["status"],
        "action": row["action"],
        "words": row["words"],
        "hash": row["hash"],
        "run_id": row["run_id"],
        "agent_id": row["agent_id"],
        "conversation_id": row["conversation_id"],
        "call": loads(row["call"]),
        "requester": row["requester"],
        "who": loads(row["who"]),
        "created_at": row["created_at"],
        "expires_at": row["expires_at"],
        "decided_at": row["decided_at"] or None,
        "decided_by": row["decided_by"] or None,
        "reason": row["reason"] or None,
        "outbox_id": row["outbox_id"] or None,
        "outcome": loads(row["outcome"]) or None,
        "occasion": occasion,
    }
