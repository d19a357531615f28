"""Endpoints to read, replay, cancel and rerun runs."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from parlour.core.access import audit
from parlour.core.errors import CallRejected
from parlour.core.journal import Journal, Row, Select, where
from parlour.core.model.ids import AgentId, BotId, ConversationId, RunId
from parlour.core.model.ports import Clock
from parlour.core.reruns.replay import ReplayBuilder
from parlour.core.reruns.reruns import Reruns
from parlour.core.runs.control import RunControl
from parlour.core.runs.session import RunTermination
from parlour.core.store.feedback import FeedbackStore
from parlour.core.store.ledger import Ledger
from parlour.core.store.model_calls import ModelCalls
from parlour.core.store.tables import CONVERSATIONS, OUTBOX, RUN_EVENTS

from .. import views
from ..api_router import ApiRouter
from ..auth import ChatUser, ModelCallReader, Operator, Reader, Viewer
from ..errors import Problem, not_found
from ..pagination import Cursor, Limit, LongLimit, Pages
from ..principals import Principal
from ..responses import PageResponse
from .queries import RunFilter, RunListing
from .responses import (
    DeliveryResponse,
    ModelCallResponse,
    ReplayResponse,
    RerunListItem,
    RunComparison,
    RunDetail,
    RunEventResponse,
    RunListItem,
    RunResponse,
    RunSide,
    RunStatus,
)
from .schemas import RerunBody

RunPath = Annotated[RunId, Path(max_length=64)]
CallPath = Annotated[str, Path(max_length=64)]
Name = Annotated[str | None, Query(max_length=255)]
AgentQuery = Annotated[AgentId | None, Query(max_length=255)]
ConversationQuery = Annotated[ConversationId | None, Query(max_length=255)]
BotQuery = Annotated[BotId | None, Query(max_length=255, description="Empty for runs without a bot: web chat and API")]
Actor = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=1000,
        description="Id of the sender, exactly. Two platforms may use the same id: add `bot_id`",
    ),
]
TimestampQuery = Annotated[int | None, Query(ge=0, le=2**53, description="Milliseconds since 1970")]
Text = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=200,
        description="Part of an answer, of the sender's name or id, or of how the text begins that the run answers",
    ),
]
CANCELLED = RunTermination("cancelled", "cancelled", "a person cancelled the run")
MAX_LISTED = 100
_STATUS = {"not_found": 404, "invalid_argument": 422, "denied": 403, "rate_limited": 429}


def router(
    journal: Journal, control: RunControl, reruns: Reruns, listing: RunListing, pages: Pages, clock: Clock
) -> APIRouter:
    routes = ApiRouter(tags=["runs"])
    ledger, feedback, replays = Ledger(journal), FeedbackStore(journal), ReplayBuilder(journal)
    model_calls = ModelCalls(journal)

    async def visible(run_id: RunId, principal: Principal) -> Row:
        """Returns the run if the principal may see it. Another principal's run yields not_found, like one that never
        existed; so does a rerun for users of its chat."""
        run = await ledger.get_run(run_id)
        if run is not None and run["rerun_of"] and not principal.may("viewer"):
            run = None
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
        status: RunStatus | None = None,
        agent_id: AgentQuery = None,
        bot_id: BotQuery = None,
        conversation_id: ConversationQuery = None,
        actor: Actor = None,
        since: TimestampQuery = None,
        until: TimestampQuery = None,
        q: Text = None,
        limit: LongLimit = 50,
        cursor: Cursor = None,
    ) -> PageResponse[RunListItem]:
        """Newest first. With `actor` or `q` a page may hold fewer than `limit`, also none; `next_cursor` goes on."""
        run_filter = RunFilter(status, agent_id, bot_id, conversation_id, since, until, actor)
        if q is not None or actor is not None:
            return await listing.search(q, run_filter, limit, cursor)
        return await listing.page(run_filter, limit, cursor)

    @routes.get("/runs/{run_id}")
    async def read_run(run_id: RunPath, principal: Reader) -> RunDetail:
        run = await visible(run_id, principal)
        return {
            **await to_response(run),
            "event": await listing.event(run),
            "deliveries": (await deliveries(run_id))["items"],
            "denials": [views.denial(row) for row in await ledger.denials(run_id, MAX_LISTED)],
            "feedback": [views.feedback(row) for row in await feedback.for_run(run_id)],
            **await comparison(run, principal),
        }

    async def deliveries(
        run_id: RunId, limit: int = MAX_LISTED, cursor: str | None = None
    ) -> PageResponse[DeliveryResponse]:
        return await pages.page(OUTBOX, where(run_id=run_id), "seq", views.delivery, limit, cursor, "ascending")

    async def to_response(run: Row) -> RunResponse:
        return {**views.run(run), **await listing.run_context(run)}

    async def comparison(run: Row, principal: Principal) -> RunComparison:
        """Returns what lets a rerun be compared with its original; for any other run, the list of its reruns."""
        if run["rerun_of"]:
            original = await ledger.get_run(run["rerun_of"])
            texts = (await replays.build(run)).texts
            return {"texts": texts, "original": await to_side(original) if original is not None else None}
        rerun_rows = await ledger.reruns(run, MAX_LISTED) if principal.may("viewer") else []
        reruns: list[RerunListItem] = [
            {"run_id": row["run_id"], "agent_id": row["agent_id"], "status": row["status"]} for row in rerun_rows
        ]
        return {"reruns": reruns}

    async def to_side(run: Row) -> RunSide:
        """Returns a run for the comparison with its rerun."""
        info = views.run_facts(run)
        return {
            "run_id": info["run_id"],
            "agent_id": info["agent_id"],
            "runner_id": info["runner_id"],
            "status": info["status"],
            "error": info["error"],
            "usage": info["usage"],
            "started_at": info["started_at"],
            "finished_at": info["finished_at"],
            "texts": (await replays.build(run)).texts,
        }

    @routes.get("/runs/{run_id}/events")
    async def list_run_events(
        run_id: RunPath, principal: Reader, limit: LongLimit = 50, cursor: Cursor = None
    ) -> PageResponse[RunEventResponse]:
        """In the order they happened."""
        await visible(run_id, principal)
        conditions = where(run_id=run_id)
        return await pages.page(RUN_EVENTS, conditions, "sequence", views.run_event, limit, cursor, "ascending")

    @routes.get("/runs/{run_id}/model-calls/{call_id}")
    async def read_model_call(run_id: RunPath, call_id: CallPath, principal: ModelCallReader) -> ModelCallResponse:
        """The prompt, the parameters and the answer of one model call; `call_id` is in its `model.called` event.

        Kept for `retention.model_calls_days`. Who may read it is decided by the setting `model_calls.visible_to`.
        """
        row = await model_calls.get(run_id, call_id)
        if row is None:
            hint = "records are deleted after retention.model_calls_days, and none are made with model_calls.record off"
            raise not_found(f"model call '{call_id}' of run '{run_id}'", hint)
        return views.model_call(row)

    @routes.get("/runs/{run_id}/deliveries")
    async def list_deliveries(
        run_id: RunPath, principal: Reader, limit: Limit = 50, cursor: Cursor = None
    ) -> PageResponse[DeliveryResponse]:
        """What it was to show to people, in order, and what became of that."""
        await visible(run_id, principal)
        return await deliveries(run_id, limit, cursor)

    @routes.get("/runs/{run_id}/replay")
    async def replay_run(run_id: RunPath, principal: Reader) -> ReplayResponse:
        """The frames of the chat as its people saw them, each with its time."""
        replay = await replays.build(await visible(run_id, principal))
        return {"run_id": run_id, "frames": replay.frames, "complete": replay.complete}

    @routes.post("/runs/{run_id}/rerun", status_code=201)
    async def rerun(run_id: RunPath, body: RerunBody, principal: Operator) -> RunResponse:
        """Its event once more, with what is asked to be different. It goes on; nothing of it is delivered."""
        run = await visible(run_id, principal)
        entry = audit.change_entry(principal.owner, "run.rerun", run_id, None, body.audit_view(), clock.now())
        try:
            return await to_response(await reruns.start(run, body.to_options(), entry))
        except CallRejected as refusal:
            raise Problem(_STATUS.get(refusal.code, 409), refusal.code, refusal.message) from refusal

    @routes.post("/runs/{run_id}/cancel")
    async def cancel_run(run_id: RunPath, principal: ChatUser) -> RunResponse:
        """Returns when the run is over; what its runner still says appears nowhere."""
        run = await visible(run_id, principal)
        try:
            cancelled = await control.cancel(run_id, CANCELLED)
        except CallRejected as refusal:
            raise Problem(409, "conflict", refusal.message) from refusal
        if not cancelled:
            raise Problem(409, "conflict", f"the run is over: its status is {run['status']}")
        return await to_response(await visible(run_id, principal))

    return routes
