"""Handles API calls that inject an event, and waits for the result if the caller asks for it."""

import asyncio
from typing import Any

from pydantic_core import to_json
from starlette.responses import Response

from parlour.core.config.agents import AgentRepository
from parlour.core.config.bots import BotRepository
from parlour.core.config.routes import RouteRepository
from parlour.core.encoding import loads
from parlour.core.ingest.acceptance import IngestResult
from parlour.core.ingest.gateway import Gateway
from parlour.core.journal import Journal, Select, one_of, where
from parlour.core.model.event import EventContext, EventEnvelope, Participant
from parlour.core.model.ids import NO_AGENT, NO_BOT, EventId
from parlour.core.model.ports import Clock, Ids
from parlour.core.runs.outcomes import Outcomes
from parlour.core.store import event_notes, transcript
from parlour.core.store.inbox import Inbox, InboxOutcome
from parlour.core.store.ledger import Ledger
from parlour.core.store.outbox_rows import OutboxStore
from parlour.core.store.tables import OUTBOX, TRAIL

from .. import views
from ..errors import Problem, invalid_field, not_found
from ..principals import Principal
from .schemas import ActorBody, EventBody, EventQuery


class EventInjector:
    """Builds events from API calls and hands them to the gateway.

    `agent_id` hands the event directly to that agent, whose replies are returned only here; `bot_id` applies that bot's
    routes. With a key of scope `platform` replies go to the chat of that bot that `data` names; otherwise they are
    returned only here.
    """

    def __init__(
        self,
        gateway: Gateway,
        agents: AgentRepository,
        bots: BotRepository,
        routes: RouteRepository,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._gateway = gateway
        self._agents = agents
        self._bots = bots
        self._routes = routes
        self._ids = ids
        self._clock = clock

    async def inject(self, body: EventBody, principal: Principal) -> IngestResult:
        if (body.agent_id is None) == (body.bot_id is None):
            raise invalid_field("agent_id", "name either this or bot_id, so that somebody can answer")
        event = self._event(body, principal)
        agent_exists = body.agent_id is None or self._agents.get(body.agent_id) is not None
        if not agent_exists:
            recorded = await self._gateway.find_accepted(event)
            if recorded is None:
                raise not_found(f"agent '{body.agent_id}'", "GET /api/v1/agents lists them")
            return recorded  # it was sent before the agent was deleted
        if (
            body.bot_id is not None
            and self._bots.get(body.bot_id) is None
            and not self._routes.in_match_order(body.bot_id)
        ):
            raise not_found(f"bot '{body.bot_id}'", "GET /api/v1/bots lists them")
        return await self._gateway.ingest(event)

    def _event(self, body: EventBody, principal: Principal) -> EventEnvelope:
        event_id = body.event_id or EventId(self._ids.new())
        subject = body.subject
        return EventEnvelope(
            event_id=event_id,
            event_type=body.event_type,
            source="api",
            # an event without a chat gets its own conversation
            chat=body.conversation_id or f"event:{event_id}",
            context=EventContext(self._ids.new(), origin="api"),
            surface="platform" if _for_platform(body, principal) else "api",
            bot_id=body.bot_id or NO_BOT,
            thread_id=body.thread_id or "",
            agent_id=body.agent_id or NO_AGENT,
            principal=principal.owner,
            event_time=self._clock.now(),
            actor=_actor(body.actor, principal),
            subject=Participant(subject.subject_type, subject.subject_id, "", subject.data)
            if subject
            else Participant(),
            input=body.input.model_dump(mode="json", exclude_none=True),
            data=body.data,
        )


def _actor(actor: ActorBody | None, principal: Principal) -> Participant:
    """Returns the sender that rules, state and budgets see.

    Only the scope `platform` may act for users of other systems. For every other caller the actor id is prefixed with
    the caller's own, so that it can't act as a user of a platform or of another key, and the role is dropped.
    """
    if actor is None:
        return principal.participant
    if principal.may("platform"):
        return Participant(actor.actor_type, actor.actor_id, actor.actor_name, actor.metadata)
    metadata = {name: value for name, value in actor.metadata.items() if name != "role"}
    return Participant(actor.actor_type, f"{principal.owner}:{actor.actor_id}", actor.actor_name, metadata)


def _for_platform(body: EventBody, principal: Principal) -> bool:
    has_chat = body.data.get("chat_type") in ("private", "group") and bool(body.data.get("chat_id"))
    return body.bot_id is not None and has_chat and principal.may("platform")


class EventResults:
    """Returns the result of an event, immediately or after waiting until the event is handled."""

    def __init__(self, journal: Journal, outcomes: Outcomes) -> None:
        self._journal = journal
        self._inbox = Inbox(journal)
        self._ledger = Ledger(journal)
        self._rows = OutboxStore(journal)
        self._outcomes = outcomes

    async def wait(self, ingested: IngestResult, timeout: float) -> dict[str, Any]:
        expected = self._outcomes.wait_for(ingested.seq)
        try:
            # a duplicate may be completed already; a new pending event can't be, since its lane has not run yet
            is_handled = ingested.duplicate or ingested.handled
            is_executing = is_handled and await self._inbox.is_pending(ingested.seq)
            inbox_outcome = await self._inbox.outcome(ingested.seq) if is_handled and not is_executing else None
            if inbox_outcome is None:
                async with asyncio.timeout(timeout):
                    inbox_outcome = await expected
        except TimeoutError:
            run_id = await self._inbox.active_run_id(ingested.seq)
            details = {"event_id": ingested.event_id, "run_id": run_id or None}
            message = f"no result within {timeout:g} s; the run goes on, ask again with the same event_id"
            raise Problem(504, "timeout", message, details) from None
        finally:
            expected.cancel()
        return await self._view(ingested, inbox_outcome)

    async def _view(self, ingested: IngestResult, inbox_outcome: InboxOutcome) -> dict[str, Any]:
        run = await self._ledger.get_run(inbox_outcome.run_id) if inbox_outcome.run_id else None
        return {
            "event_id": ingested.event_id,
            "conversation_id": ingested.conversation_id,
            "outcome": inbox_outcome.outcome,
            "reason": inbox_outcome.reason or None,
            "run": views.run(run) if run else None,
            "messages": await self._messages(ingested, inbox_outcome),
        }

    async def _messages(self, ingested: IngestResult, inbox_outcome: InboxOutcome) -> list[dict[str, Any]]:
        """Returns the messages of the run; without a run, the notices that the sender got instead. Replies of plugins
        and of commands come first.
        """
        others = await self._without_run(ingested.seq)
        if inbox_outcome.run_id:
            return [*others, *(row.message for row in await self._rows.shown_by_run(inbox_outcome.run_id))]
        items = await transcript.replies(self._journal, ingested.conversation_id, ingested.seq)
        notices = [
            {"role": row["role"], "content": row["content"], "metadata": loads(row["metadata"])} for row in items
        ]
        return [*others, *notices]

    async def _without_run(self, event_seq: int) -> list[dict[str, Any]]:
        """Returns the messages that answer an event and belong neither to a run nor to its transcript."""
        notes = await self._journal.read(Select(TRAIL, where(event_seq=event_seq), ("data",)))
        ids = [outbox_id for note in notes for outbox_id in loads(note["data"]).get(event_notes.OUTBOX_IDS, ())]
        if not ids:
            return []
        rows = await self._journal.read(
            Select(OUTBOX, where(outbox_id=one_of(*ids), kind="message"), ("payload",), order=("feed_seq",))
        )
        return [loads(row["payload"])["message"] for row in rows]


class EventService:
    """Injects an event and responds immediately or when the event has been handled."""

    def __init__(self, injection: EventInjector, results: EventResults) -> None:
        self._injection = injection
        self._results = results

    async def handle(self, body: EventBody, principal: Principal, query: EventQuery) -> Response:
        return await self.answer(await self._injection.inject(body, principal), query)

    async def answer(self, ingested: IngestResult, query: EventQuery) -> Response:
        """Responds to an event that was accepted."""
        if query.wait is None:
            response_body = {
                "event_id": ingested.event_id,
                "seq": ingested.seq,
                "duplicate": ingested.duplicate,
                "conversation_id": ingested.conversation_id,
            }
            return Response(to_json(response_body), 202, media_type="application/json")
        result = await self._results.wait(ingested, query.timeout)
        return Response(to_json(result), 200, media_type="application/json")
