"""Records the prompt, parameters and answer of model calls, in batches after the calls are over.

No message waits for it: a batch is written within a fraction of a second, and a Host that is killed before that loses
only these records, not the usage, which is in the ledger. `model_call_content` builds what is stored of a call.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial
from typing import Any

from parlour.core.journal import Insert, Journal, StorageFailed, Unit
from parlour.core.model.ids import ConversationId, ModelId
from parlour.core.model.ports import Clock, Ids
from parlour.core.redaction import Redactor
from parlour.core.store.model_calls import ModelCall
from parlour_sdk.protocol.models import EmbedAnswer, InvokeModel, ModelAnswer, ModelChunk, RerankAnswer
from parlour_sdk.values import dataclass

from .model_call_content import MAX_CALL_CHARACTERS, Request, encode_answer, encode_request
from .session import RunSession

logger = logging.getLogger(__name__)

FLUSH_SECONDS = 0.25
"""Seconds after which finished calls are written."""
UNIT_CALLS = 25
"""Calls per unit, so that a message never waits long behind them."""
MAX_WAITING_CALLS = 1000
"""Maximum calls that wait to be written; calls beyond that are not recorded."""
MAX_WAITING_CHARACTERS = 32 * 1024 * 1024
"""Maximum characters of prompts that wait to be written; calls beyond that are not recorded."""
THREAD_CHARACTERS = 8 * 1024
"""Characters from which a call is encoded in a thread, so that the event loop is not blocked."""


@dataclass(slots=True, eq=False)
class OpenCall:
    """A model call in progress, with the parts of its answer received so far."""

    call_id: str
    session: RunSession
    request: Request
    parameters: Mapping[str, Any]
    started_at: int
    finished_at: int = 0
    outcome: str = ""
    error: str = ""
    forgotten: bool = False
    """True if its conversation or user was deleted; it must not be written."""
    answer: dict[str, Any] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    characters: int = 0

    def add_chunk(self, part: ModelChunk) -> None:
        """Adds a chunk of a streamed answer. Text beyond the limit of what is stored is not kept."""
        chunk = part.chunk
        if self.characters <= MAX_CALL_CHARACTERS:
            text = chunk.content if isinstance(chunk.content, str) else ""
            self.texts.append(text)
            self.thoughts.append(chunk.reasoning or "")
            self.characters += len(text) + len(chunk.reasoning or "")
        if chunk.tool_calls:
            self.answer.setdefault("tool_calls", []).extend(chunk.tool_calls)
        if part.finish_reason:
            self.answer["finish_reason"] = part.finish_reason

    def set_answer(self, answer: ModelAnswer | EmbedAnswer | RerankAnswer) -> None:
        match answer:
            case ModelAnswer():
                self.texts.append(answer.message.content if isinstance(answer.message.content, str) else "")
                self.thoughts.append(answer.message.reasoning or "")
                self.answer = {"tool_calls": list(answer.message.tool_calls or ())}
                self.answer["finish_reason"] = answer.finish_reason
            case EmbedAnswer():
                vectors = answer.embeddings
                self.answer = {"vectors": len(vectors), "dimensions": len(vectors[0]) if vectors else 0}
            case RerankAnswer():
                self.answer = {"results": [each.model_dump(mode="json") for each in answer.results]}

    def row(self, redactor: Redactor) -> ModelCall:
        """Encodes the record without secrets. Takes some milliseconds for a long prompt."""
        request, request_truncated = encode_request(self.request, dict(self.parameters), redactor)
        answer, answer_truncated = encode_answer(self._answer(), redactor)
        actor = self.session.event.envelope.actor
        return ModelCall(
            self.call_id,
            self.session.run_id,
            actor.type,
            actor.id,
            ModelId(self.request.model_id),
            self.outcome,
            request,
            answer,
            request_truncated or answer_truncated,
            self.started_at,
            self.finished_at,
        )

    def _answer(self) -> dict[str, Any]:
        text, reasoning = "".join(self.texts), "".join(self.thoughts)
        fields = {"text": text, "reasoning": reasoning, "error": self.error}
        calls = [each.model_dump(mode="json") for each in self.answer.get("tool_calls", ())]
        return {**{name: value for name, value in fields.items() if value}, **self.answer, "tool_calls": calls}

    @property
    def size(self) -> int:
        """Approximate size in characters, without inspecting the content."""
        if not isinstance(self.request, InvokeModel):
            return self.characters + 1000
        return self.characters + sum(len(each.content) for each in self.request.messages)


class ModelCallLog:
    """Collects finished model calls and writes them in batches."""

    def __init__(self, journal: Journal, redactor: Redactor, ids: Ids, clock: Clock, enabled: bool = True) -> None:
        self._journal = journal
        self._redactor = redactor
        self._ids = ids
        self._clock = clock
        self._enabled = enabled
        self._open: set[OpenCall] = set()
        self._pending: list[OpenCall] = []
        self._waiting_characters = 0
        self._timer: asyncio.TimerHandle | None = None
        self._flushing: asyncio.Task[None] | None = None
        self._flush_lock = asyncio.Lock()
        self._closed = False

    def begin(self, session: RunSession | None, request: Request, parameters: Mapping[str, Any]) -> OpenCall | None:
        """Starts the record of a call. Returns None if it is not recorded: outside a run, or if too much waits to be
        written already.
        """
        is_full = len(self._pending) >= MAX_WAITING_CALLS or self._waiting_characters >= MAX_WAITING_CHARACTERS
        if session is None or not self._enabled or self._closed or is_full:
            return None
        call = OpenCall(self._ids.new(), session, request, parameters, self._clock.now())
        self._open.add(call)
        return call

    def end(self, call: OpenCall, outcome: str, error: str = "") -> None:
        call.outcome, call.error, call.finished_at = outcome, error, self._clock.now()
        self._open.discard(call)
        if call.forgotten:
            return
        self._pending.append(call)
        self._waiting_characters += call.size
        if self._timer is None and not self._closed:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._on_flush_timer)

    async def forget_conversation(self, conversation_id: ConversationId) -> None:
        """Discards the calls of a conversation. After this returns, no call that began before is written any more."""
        await self._forget(lambda call: call.session.event.conversation_id == conversation_id)

    async def forget_person(self, actor_type: str, actor_id: str) -> None:
        def is_of_person(call: OpenCall) -> bool:
            actor = call.session.event.envelope.actor
            return (actor.type, actor.id) == (actor_type, actor_id)

        await self._forget(is_of_person)

    async def flush(self) -> None:
        async with self._flush_lock:
            while self._pending:
                batch = self._pending[:UNIT_CALLS]
                del self._pending[: len(batch)]
                self._waiting_characters = sum(call.size for call in self._pending)
                await self._write(batch)

    async def close(self) -> None:
        """Writes all waiting calls; calls that end later are not recorded."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        await self.flush()

    async def _forget(self, matches: Callable[[OpenCall], bool]) -> None:
        for call in (*self._open, *self._pending):
            call.forgotten = call.forgotten or matches(call)
        async with self._flush_lock:  # waits until a batch that is being written is durable
            self._pending = [call for call in self._pending if not call.forgotten]
            self._waiting_characters = sum(call.size for call in self._pending)

    async def _write(self, batch: list[OpenCall]) -> None:
        rows: list[Insert] = []
        for call in batch:
            if call.forgotten:
                continue
            encode = partial(call.row, self._redactor)
            row = await asyncio.to_thread(encode) if call.size > THREAD_CHARACTERS else encode()
            rows.append(row.insert())
        if not rows:
            return
        try:
            await self._journal.commit(Unit("model_calls.write", tuple(rows), can_batch=True))
        except StorageFailed as failure:
            logger.warning("prompts and answers of %d model calls were not stored: %s", len(rows), failure.message)

    def _on_flush_timer(self) -> None:
        self._timer = None
        self._flushing = asyncio.get_running_loop().create_task(self.flush())
