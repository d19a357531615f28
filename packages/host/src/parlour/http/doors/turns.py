"""Turns: one message of a client to a published agent, over the same durable path as every other message.

A turn does not belong to the connection that began it. The same request id of the same principal is the same turn, and
whoever follows it later gets it from its beginning.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from parlour.core.access import audit
from parlour.core.delivery.feed import Feed
from parlour.core.ingest.acceptance import IngestResult
from parlour.core.ingest.gateway import Gateway
from parlour.core.journal import Journal
from parlour.core.model.agent import Agent
from parlour.core.model.doors import Door
from parlour.core.model.event import LOCALE, EventContext, EventEnvelope, Participant, RecordedEvent
from parlour.core.model.ids import ConversationId, EventId, RunId
from parlour.core.model.ports import Clock, Ids
from parlour.core.runs.outcomes import Outcomes
from parlour.core.store.event_log import EventLog
from parlour.core.store.inbox import Inbox
from parlour.core.store.ledger import Ledger
from parlour.core.store.outbox_rows import OutboxStore
from parlour_sdk.values import dataclass

from ..principals import Principal
from .frames import FrameReader, TurnRecords
from .updates import TurnEnd, TurnUpdate

MAX_NAME_CHARACTERS = 255


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """A message of a client."""

    door: Door
    agent: Agent
    principal: Principal
    input: Mapping[str, Any]
    session: str = ""
    """The client's name of the conversation; empty for a conversation of its own."""
    request_id: str = ""
    """The client's idempotency key; empty if each request is a new turn."""
    locale: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """An accepted message."""

    seq: int
    event_id: EventId
    conversation_id: ConversationId
    chat: str
    duplicate: bool

    @classmethod
    def of_event(cls, event: RecordedEvent) -> "Turn":
        """Returns the turn of an event that was accepted earlier."""
        envelope = event.envelope
        return cls(event.seq, envelope.event_id, event.conversation_id, envelope.chat, duplicate=True)


class DoorTurns:
    def __init__(
        self, gateway: Gateway, journal: Journal, outcomes: Outcomes, feed: Feed, ids: Ids, clock: Clock
    ) -> None:
        self._gateway = gateway
        self._log = EventLog(journal)
        self._records = TurnRecords(journal, Inbox(journal), Ledger(journal), OutboxStore(journal))
        self._outcomes = outcomes
        self._feed = feed
        self._ids = ids
        self._clock = clock

    async def begin(self, request: TurnRequest) -> Turn:
        """Accepts the message, or finds the turn that the same request id began. It is durable on return."""
        event = self._event(request)
        if request.request_id:
            known = await self._gateway.find_accepted(event)
            if known is not None:
                return await self._known(known)
        entry = audit.door_entry(event.principal, "turn", event.agent_id, request.door, self._clock.now())
        accepted = await self._gateway.ingest(event, entry)
        if accepted.duplicate:
            return await self._known(accepted)
        return Turn(accepted.seq, accepted.event_id, accepted.conversation_id, event.chat, duplicate=False)

    async def find(self, door: Door, seq: int, principal: Principal) -> RecordedEvent | None:
        """Returns the event of a turn of this principal; None if there is none, or not any more."""
        event = await self._log.get_by_seq(seq) if 0 < seq < 2**62 else None
        if event is None or event.is_erased or event.envelope.source != door:
            return None
        if event.envelope.principal != principal.owner:
            return None
        self._gateway.arrivals.require(event.envelope.bot_id, event.conversation_id)
        return event

    async def follow(self, turn: Turn) -> AsyncGenerator[TurnUpdate, None]:
        """Yields all updates of the turn from its beginning, and ends with its `TurnEnd`.

        A caller that stops does not stop the run.
        """
        subscription = self._feed.subscribe(turn.conversation_id)
        outcome = self._outcomes.wait_for(turn.seq)
        wake = asyncio.Event()
        subscription.on_frame(wake.set)
        outcome.add_done_callback(lambda _: wake.set())
        reader = FrameReader(turn.seq, self._records)
        try:
            found = await self._records.inbox.outcome(turn.seq)
            if found is None:
                for update in await reader.catch_up(self._feed.active_run(turn.conversation_id)):
                    yield update
            while found is None:
                await wake.wait()
                wake.clear()
                found = outcome.result() if outcome.done() else None
                for frame in subscription.drain():
                    for update in await reader.read(frame, self._feed.active_run(turn.conversation_id)):
                        yield update
            for update in await reader.finish(found, turn.conversation_id):
                yield update
        finally:
            outcome.cancel()
            self._feed.unsubscribe(turn.conversation_id, subscription)

    async def active_run_id(self, turn: Turn) -> RunId:
        """Returns the id of the run that handles the turn; empty if none does."""
        return await self._records.inbox.active_run_id(turn.seq)

    async def waits_for_approval(self, run_id: RunId) -> bool:
        """Returns whether the run waits for a person's decision."""
        run = await self._records.ledger.get_run(run_id)
        return run is not None and run["status"] == "waiting_approval"

    async def result_if_over(self, turn: Turn) -> TurnEnd | None:
        """Returns the end of the turn; None if it is not handled yet."""
        return await self.result(turn) if await self._records.inbox.outcome(turn.seq) is not None else None

    async def result(self, turn: Turn) -> TurnEnd:
        """Waits until the turn is handled and returns its end."""
        async for update in self.follow(turn):
            if isinstance(update, TurnEnd):
                return update
        raise AssertionError

    async def _known(self, accepted: IngestResult) -> Turn:
        event = await self._log.get_by_seq(accepted.seq)
        chat = event.envelope.chat if event is not None else ""
        return Turn(accepted.seq, accepted.event_id, accepted.conversation_id, chat, duplicate=True)

    def _event(self, request: TurnRequest) -> EventEnvelope:
        door, principal = request.door, request.principal
        name = f"{door}:{request.agent.agent_id}:{request.request_id}" if request.request_id else self._ids.new()
        event_id = EventId(name)
        person = principal.participant
        data = {LOCALE: request.locale} if request.locale else {}
        return EventEnvelope(
            event_id=event_id,
            event_type="message.received",
            source=door,
            chat=request.session or f"turn:{event_id}",
            context=EventContext(self._ids.new(), origin=door),
            surface=door,
            agent_id=request.agent.agent_id,
            principal=principal.owner,
            event_time=self._clock.now(),
            actor=Participant(person.type, person.id, person.name, data),
            input=dict(request.input),
        )
