"""The smallest possible chat platform: JSON lines over a TCP connection, without queries and without idempotency.

It stands for every platform that can't say whether it received a message, so that uncertain sends are real ones.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from parlour.core.config.routes import Route, RouteRepository
from parlour.core.ingest.gateway import Gateway
from parlour.core.model.event import EventContext, EventEnvelope, Participant
from parlour.core.model.ids import AgentId, BotId
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import SendReceipt, SendRefused

BOT = BotId("line")
SURFACE = "sim"


class LinePlatform:
    """Receives events, which are acknowledged after the commit, and sends messages, which wait for their answer."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._writer: asyncio.StreamWriter | None = None
        self._answers: dict[str, asyncio.Future[SendReceipt]] = {}

    def is_idempotent(self, outgoing: OutboxRow) -> bool:
        return False

    def serialization_key(self, outgoing: OutboxRow) -> str:
        return SURFACE

    async def wait_until_sendable(self, outgoing: OutboxRow) -> None: ...

    async def acquire(self, outgoing: OutboxRow) -> None: ...

    async def send(self, outgoing: OutboxRow) -> SendReceipt:
        if self._writer is None:
            raise SendRefused("not connected", retry_after=0.1)
        answer: asyncio.Future[SendReceipt] = asyncio.get_running_loop().create_future()
        self._answers[outgoing.outbox_id] = answer
        self._put(
            {
                "send": outgoing.outbox_id,
                "conversation_id": outgoing.conversation_id,
                "text": outgoing.message["content"],
                "possibly_repeated": outgoing.possibly_repeated,
            }
        )
        try:
            return await answer
        finally:
            del self._answers[outgoing.outbox_id]

    async def find_sent(self, outgoing: OutboxRow) -> SendReceipt | None:
        return None

    @asynccontextmanager
    async def connected(self, gateway: Gateway, routes: RouteRepository, agent_id: AgentId) -> AsyncIterator[None]:
        if not routes.in_match_order(BOT):
            await routes.replace(BOT, [Route("*", "agent", {"agent_id": agent_id})])
        reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        reading = asyncio.create_task(self._read(reader, gateway))
        try:
            yield
        finally:
            reading.cancel()
            with suppress(asyncio.CancelledError):
                await reading
            self._writer.close()

    async def _read(self, reader: asyncio.StreamReader, gateway: Gateway) -> None:
        while line := await reader.readline():
            frame = json.loads(line)
            if "event" in frame:
                await gateway.ingest(_event(frame))
                self._put({"accepted": frame["event"]})
            elif frame["sent"] in self._answers:
                self._answers[frame["sent"]].set_result(SendReceipt(frame["message_id"]))

    def _put(self, frame: dict[str, Any]) -> None:
        assert self._writer is not None
        self._writer.write(json.dumps(frame).encode() + b"\n")


def _event(frame: dict[str, Any]) -> EventEnvelope:
    return EventEnvelope(
        event_id=frame["event"],
        event_type="message.received",
        source="line",
        chat=frame["chat"],
        context=EventContext(frame["event"], origin="line"),
        surface=SURFACE,
        bot_id=BOT,
        actor=Participant("user", frame["person"]),
        input={"text": frame["text"]},
    )
