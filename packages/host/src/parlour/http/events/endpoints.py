"""Injecting events, waiting for what becomes of them, and reading the log."""

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic_core import to_json

from parlour.core.agents.book import AgentBook
from parlour.core.events.envelope import EventContext, EventEnvelope, Party
from parlour.core.events.gateway import Accepted, Gateway
from parlour.core.facts.inbox import Inbox, Settled
from parlour.core.facts.ledger import Ledger
from parlour.core.facts.outgoing import OutgoingRows
from parlour.core.facts.tables import EVENTS
from parlour.core.journal import Journal, where
from parlour.core.ports import Clock, Ids
from parlour.core.routing.routes import RouteBook
from parlour.core.runs.outcomes import Outcomes

from .. import views
from ..auth import Chatter, Principal, Reader
from ..errors import Problem, not_found
from ..paging import Cursor, Limit, Pages
from .schemas import EventBody

Seconds = Annotated[float, Query(gt=0, le=600)]


class EventInjection:
    """An API call as an event: `agent_id` goes straight to that agent and answers only here."""

    def __init__(self, gateway: Gateway, agents: AgentBook, routes: RouteBook, ids: Ids, clock: Clock) -> None:
        self._gateway = gateway
        self._agents = agents
        self._routes = routes
        self._ids = ids
        self._clock = clock

    async def inject(self, body: EventBody, principal: Principal) -> Accepted:
        if (body.agent_id is None) == (body.bot_id is None):
            raise Problem(422, "invalid_argument", "name either agent_id or bot_id, so that somebody can answer")
        if body.agent_id is not None and self._agents.get(body.agent_id) is None:
            raise not_found(f"agent '{body.agent_id}'", "GET /api/v1/agents lists them")
        if body.bot_id is not None and not self._routes.of(body.bot_id):
            raise not_found(f"bot '{body.bot_id}'", "GET /api/v1/bots lists them")
        event_id = body.event_id or self._ids.new()
        actor, subject = body.actor, body.subject
        return await self._gateway.ingest(
            EventEnvelope(
                event_id=event_id,
                event_type=body.event_type,
                source="api",
                # an event that names no chat is a conversation of its own
                chat=body.conversation_id or f"event:{event_id}",
                context=EventContext(self._ids.new(), origin="api"),
                surface="api",
                bot_id=body.bot_id or "",
                thread_id=body.thread_id or "",
                agent_id=body.agent_id or "",
                principal=principal.owner,
                event_time=self._clock.now(),
                actor=Party(actor.actor_type, actor.actor_id, actor.actor_name, actor.metadata)
                if actor
                else Party("api_key", principal.key_id, principal.name),
                subject=Party(subject.subject_type, subject.subject_id, "", subject.data) if subject else Party(),
                input=body.input.model_dump(mode="json", exclude_none=True),
                data=body.data,
            )
        )


class Results:
    """What became of an event, now or when it is settled."""

    def __init__(self, journal: Journal, outcomes: Outcomes) -> None:
        self._inbox = Inbox(journal)
        self._ledger = Ledger(journal)
        self._rows = OutgoingRows(journal)
        self._outcomes = outcomes

    async def wait(self, accepted: Accepted, timeout: float) -> dict[str, Any]:
        expected = self._outcomes.expect(accepted.seq)
        try:
            # a known event may be settled already; a new one can't be, its lane has not had its turn yet
            settled = await self._inbox.outcome(accepted.seq) if accepted.duplicate else None
            if settled is None:
                async with asyncio.timeout(timeout):
                    settled = await expected
        except TimeoutError:
            run_id = await self._inbox.working_run(accepted.seq)
            details = {"event_id": accepted.event_id, "run_id": run_id or None}
            message = f"no result within {timeout:g} s; the run goes on, ask again with the same event_id"
            raise Problem(504, "timeout", message, details) from None
        finally:
            expected.cancel()
        return await self._view(accepted, settled)

    async def _view(self, accepted: Accepted, settled: Settled) -> dict[str, Any]:
        run = await self._ledger.run(settled.run_id) if settled.run_id else None
        rows = await self._rows.of_run(settled.run_id) if settled.run_id else []
        return {
            "event_id": accepted.event_id,
            "conversation_id": accepted.conversation_id,
            "outcome": settled.outcome,
            "reason": settled.reason or None,
            "run": views.run(run) if run else None,
            "messages": [row.message for row in rows],
        }


def router(injection: EventInjection, results: Results, pages: Pages) -> APIRouter:
    routes = APIRouter(tags=["events"])

    @routes.post("/events", status_code=202)
    async def inject_event(
        body: EventBody,
        principal: Chatter,
        wait: Annotated[Literal["result"] | None, Query(description="Answer when the event is settled")] = None,
        timeout: Seconds = 60,
    ) -> Response:
        """Accepted when it is durable. The same event_id of the same key is the same event."""
        accepted = await injection.inject(body, principal)
        if wait is None:
            answer = {
                "event_id": accepted.event_id,
                "seq": accepted.seq,
                "duplicate": accepted.duplicate,
                "conversation_id": accepted.conversation_id,
            }
            return Response(to_json(answer), 202, media_type="application/json")
        result = await results.wait(accepted, timeout)
        return Response(to_json(result), 200, media_type="application/json")

    @routes.get("/events")
    async def list_events(
        principal: Reader,
        type: str | None = None,
        bot_id: str | None = None,
        conversation_id: str | None = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> dict[str, Any]:
        """Newest first."""
        filters = {"event_type": type, "bot_id": bot_id, "conversation_id": conversation_id}
        if not principal.may("viewer"):
            filters["principal"] = principal.owner
        conditions = where(**{name: value for name, value in filters.items() if value is not None})
        return await pages.page(EVENTS, conditions, "seq", views.event, limit, cursor)

    return routes
