"""Endpoints of the Box: its status, sessions, recent errors and audit, and a test."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from parlour.core.access import audit
from parlour.core.box.policy import BoxPolicy
from parlour.core.box.status import BoxFailure, BoxOperations, BoxTrials
from parlour.core.encoding import loads
from parlour.core.journal import Journal, Row, Unit, where
from parlour.core.model.ports import Clock
from parlour.core.model.providers import ProviderFailed
from parlour.core.store.tables import AUDIT
from parlour_sdk.values import dataclass

from ..agents.mapping import check_box_policy
from ..api_router import ApiRouter
from ..auth import Operator, Owner, Viewer
from ..errors import Problem, not_found
from ..pagination import Cursor, Limit, Pages
from ..responses import PageResponse
from .responses import (
    BoxAuditResponse,
    BoxBackendResponse,
    BoxErrorResponse,
    BoxFilesResponse,
    BoxSessionResponse,
    BoxStatusResponse,
    BoxTestResponse,
    TriedCommandResponse,
)
from .schemas import TryCommandBody

MAX_AUDITED_CHARACTERS = 4096
SessionPath = Annotated[str, Path(max_length=64)]


@dataclass(frozen=True, slots=True)
class BoxLimits:
    """Settings of the Box that its responses name."""

    idle_seconds: float
    max_sessions: int
    force_template: str


def router(
    box: BoxOperations, trials: BoxTrials, limits: BoxLimits, journal: Journal, pages: Pages, clock: Clock
) -> APIRouter:
    routes = ApiRouter(tags=["box"])

    async def find(session_id: str) -> dict[str, Any]:
        for session in await _answered(box.sessions()):
            if session["session_id"] == session_id:
                return dict(session)
        raise not_found(f"session '{session_id}'", "GET /api/v1/box/sessions lists them")

    @routes.get("/box/status")
    async def read_box_status(principal: Viewer) -> BoxStatusResponse:
        """Starts the Box if nothing needed it yet."""
        status = await box.status()
        facts = status.facts or {}
        return {
            "status": status.state,
            "reason": status.reason or None,
            "remedy": status.remedy or None,
            "command": status.command or None,
            "backend": facts.get("backend"),
            "version": facts.get("version"),
            "limits": facts.get("limits"),
            "quota": facts.get("quota"),
            "notice": facts.get("notice") or None,
            "refused": [_backend(each) for each in facts.get("refused") or status.refused],
            "sessions": int(facts.get("sessions", 0)),
            "max_sessions": limits.max_sessions,
            "force_template": limits.force_template or None,
        }

    @routes.get("/box/sessions")
    async def list_box_sessions(principal: Operator) -> PageResponse[BoxSessionResponse]:
        """All live sandboxes; there are at most as many as the setting allows."""
        found = await _answered(box.sessions())
        return {"items": [_session(each, limits.idle_seconds) for each in found], "next_cursor": None}

    @routes.delete("/box/sessions/{session_id}", status_code=204)
    async def end_box_session(session_id: SessionPath, principal: Operator) -> Response:
        """Ends the sandbox with everything in it. Its workspace stays."""
        session = await find(session_id)
        if not await _answered(box.end_session(session_id)):
            raise not_found(f"session '{session_id}'", "GET /api/v1/box/sessions lists them")
        before = {"title": session["title"]}
        entry = audit.change_entry(principal.owner, "box.session.end", session_id, before, None, clock.now())
        await journal.commit(Unit("audit.write", (entry,)))
        return Response(status_code=204)

    @routes.get("/box/sessions/{session_id}/files")
    async def list_box_files(
        session_id: SessionPath, principal: Operator, path: Annotated[str, Query(max_length=4096)] = ""
    ) -> BoxFilesResponse:
        """A folder of a live session; /workspace by default."""
        listing = await _answered(box.list_files(await find(session_id), path))
        items = [{**each, "changed_at": round(each["changed_at"] * 1000)} for each in listing["items"]]
        return {"items": items, "more": listing["more"]}  # type: ignore[typeddict-item]  # as the agent lists them

    @routes.get("/box/errors")
    async def list_box_errors(principal: Operator) -> PageResponse[BoxErrorResponse]:
        """The last 200 failures since the Host started, newest first."""
        return {"items": [_error(each) for each in box.errors()], "next_cursor": None}

    @routes.get("/box/audit")
    async def list_box_audit(
        principal: Operator,
        run_id: Annotated[str | None, Query(max_length=64)] = None,
        session_id: Annotated[str | None, Query(max_length=64)] = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> PageResponse[BoxAuditResponse]:
        """Newest first. A call is recorded before its result is returned; one that the policy denies is not listed."""
        conditions = where(kind="box")
        conditions += where(run_id=run_id) if run_id is not None else ()
        conditions += where(resource=session_id) if session_id is not None else ()
        return await pages.page(AUDIT, conditions, "seq", _audit_entry, limit, cursor)

    @routes.post("/box/test")
    async def test_box(principal: Operator) -> BoxTestResponse:
        """Runs commands in a sandbox of its own that show whether the limits hold."""
        results = await _answered(box.probe())
        checks = [
            {"name": each.name, "ok": each.ok, "detail": each.detail, "milliseconds": each.milliseconds}
            for each in results
        ]
        return {"ok": all(each.ok for each in results), "checks": checks}  # type: ignore[typeddict-item]

    @routes.post("/box/try")
    async def try_command(body: TryCommandBody, principal: Owner) -> TriedCommandResponse:
        """Runs a command as an agent with this policy would, in a sandbox of the person's own. It is audited before."""
        policy = BoxPolicy.decode(body.box_policy.model_dump())
        check_box_policy(policy)
        detail = {"command": body.command[:MAX_AUDITED_CHARACTERS], "profile": policy.profile}
        entry = audit.change_entry(principal.owner, "box.try", "", None, detail, clock.now())
        await journal.commit(Unit("audit.write", (entry,)))
        tried = await _answered(trials.run(policy, principal.owner, body.command))
        return {
            "text": tried.text,
            "status": tried.status,
            "is_error": tried.is_error,
            "is_offered": tried.is_offered,
            "asks": tried.asks,
            "milliseconds": tried.milliseconds,
        }

    return routes


async def _answered(work: Any) -> Any:
    """Awaits a request to the Box. Its failure is a Problem with what the Box said."""
    try:
        return await work
    except ProviderFailed as failure:
        status = {"path_refused": 422, "invalid_spec": 422, "session_not_found": 404}.get(failure.code, 409)
        raise Problem(status, failure.code, failure.message) from failure


def _backend(fields: Mapping[str, Any]) -> BoxBackendResponse:
    return {
        "backend": fields["backend"],
        "problem": fields["problem"],
        "reason": fields["reason"],
        "remedy": fields["remedy"],
        "command": fields["command"] or None,
    }


def _session(fields: dict[str, Any], idle_seconds: float) -> BoxSessionResponse:
    return {
        "session_id": fields["session_id"],
        "title": fields["title"],
        "state": fields["state"],
        "busy": fields["busy"],
        "execs": fields["execs"],
        "cpus": fields["cpus"],
        "memory_mb": fields["memory_mb"],
        "processes": fields["processes"],
        "network": fields["network"],
        "read_only": fields["read_only"],
        "quota": fields["quota"],
        "created_at": fields["created_at"],
        "last_used_at": fields["last_used_at"],
        "expires_at": None if fields["persistent"] else fields["last_used_at"] + round(idle_seconds * 1000),
        "process_list": fields["process_list"],
    }


def _error(failure: BoxFailure) -> BoxErrorResponse:
    return {
        "at": failure.at,
        "action": failure.action,
        "session_id": failure.session_id or None,
        "code": failure.code,
        "message": failure.message,
    }


def _audit_entry(row: Row) -> BoxAuditResponse:
    return {
        "seq": row["seq"],
        "actor": row["actor"],
        "action": row["action"],
        "session_id": row["resource"],
        "agent_id": row["scope"] or None,
        "run_id": row["run_id"] or None,
        "outcome": row["outcome"],
        "code": row["code"] or None,
        "detail": loads(row["detail"]) if row["detail"] else None,
        "created_at": row["created_at"],
    }
