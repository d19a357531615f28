"""The ledger, read; and ending a run."""

from typing import Annotated, Any

from fastapi import APIRouter, Path

from parlour.core.access.refusal import Refused
from parlour.core.facts.feedback import Feedback
from parlour.core.facts.ledger import Ledger
from parlour.core.facts.tables import CONVERSATIONS, RUN_EVENTS, RUNS
from parlour.core.journal import Journal, Row, Select, where
from parlour.core.runs.control import RunControl
from parlour.core.runs.session import Ending

from .. import views
from ..auth import Chatter, Principal, Reader, Viewer
from ..errors import Problem, not_found
from ..paging import Cursor, Limit, Pages

RunId = Annotated[str, Path(max_length=64)]
CANCELLED = Ending("cancelled", "cancelled", "a person cancelled the run")


def router(journal: Journal, control: RunControl, pages: Pages) -> APIRouter:
    routes = APIRouter(tags=["runs"])
    ledger, feedback = Ledger(journal), Feedback(journal)

    async def visible(run_id: str, principal: Principal) -> Row:
        """A foreign run answers not_found, like one that never was."""
        run = await ledger.run(run_id)
        if run is not None and not principal.may("viewer"):
            query = Select(CONVERSATIONS, where(conversation_id=run["conversation_id"]), ("principal",), limit=1)
            owners = await journal.read(query)
            run = run if owners and owners[0]["principal"] == principal.owner else None
        if run is None:
            raise not_found(f"run '{run_id}'", "GET /api/v1/runs lists them")
        return run

    @routes.get("/runs")
    async def list_runs(
        principal: Viewer,
        status: str | None = None,
        agent_id: str | None = None,
        bot_id: str | None = None,
        conversation_id: str | None = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> dict[str, Any]:
        """Newest first."""
        filters = {"status": status, "agent_id": agent_id, "bot_id": bot_id, "conversation_id": conversation_id}
        conditions = where(**{name: value for name, value in filters.items() if value is not None})
        return await pages.page(RUNS, conditions, "run_id", views.run, limit, cursor)

    @routes.get("/runs/{run_id}")
    async def read_run(run_id: RunId, principal: Reader) -> dict[str, Any]:
        run = views.run(await visible(run_id, principal))
        return {**run, "feedback": [views.feedback(row) for row in await feedback.of_run(run_id)]}

    @routes.get("/runs/{run_id}/events")
    async def list_run_events(
        run_id: RunId, principal: Reader, limit: Limit = 50, cursor: Cursor = None
    ) -> dict[str, Any]:
        """In the order they happened."""
        await visible(run_id, principal)
        conditions = where(run_id=run_id)
        return await pages.page(RUN_EVENTS, conditions, "sequence", views.run_event, limit, cursor, "ascending")

    @routes.post("/runs/{run_id}/cancel")
    async def cancel_run(run_id: RunId, principal: Chatter) -> dict[str, Any]:
        """Returns when the run is over; what its runner still says appears nowhere."""
        run = await visible(run_id, principal)
        try:
            ended = await control.cancel(run_id, CANCELLED)
        except Refused as refusal:
            raise Problem(409, "conflict", refusal.message) from refusal
        if not ended:
            raise Problem(409, "conflict", f"the run is over: its status is {run['status']}")
        return views.run(await visible(run_id, principal))

    return routes
