"""Wraps the action handlers so that a repeated run of an agent with `journal_calls` gets the recorded answers.

An answer is committed before it is returned; the parts of a stream are recorded when it has ended. A stream that its
runner leaves early is not recorded, since it can't be distinguished from an interrupted one. The table of Host actions
says which answers are recorded. Steering is not, because messages that an interrupted run had pulled are queued again,
and artifacts are not, because their content never changes and creating one is an effect.
"""

import hashlib
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from pydantic import BaseModel

from parlour.core.errors import CallRejected
from parlour.core.journal import Journal, Unit
from parlour.core.model.ports import Clock
from parlour.core.model.providers import ProviderFailed, Tools
from parlour.core.runs.caller import ActionCaller
from parlour.core.runs.session import RunSession, RunTermination
from parlour.core.store import ledger
from parlour.core.store.call_cache import CallRecord, CallRecords, RunAncestry
from parlour_sdk.protocol.calls import Call
from parlour_sdk.protocol.host_actions import HOST_ACTIONS
from parlour_sdk.values import dataclass

from .handlers import Handler


@dataclass(frozen=True, slots=True)
class CachedCall:
    """A call that is looked up or recorded, with its position among the calls of its run and of earlier attempts."""

    session: RunSession
    lineage: RunAncestry
    call: CallRecord
    repeatable: bool
    """True if the call has no effects, so that it can be executed again."""


class CallCache:
    """Records the answers of a run's calls, and returns them when the run is repeated."""

    def __init__(self, journal: Journal, tools: Tools, clock: Clock) -> None:
        self._journal = journal
        self._calls = CallRecords(journal)
        self._tools = tools
        self._clock = clock
        self._lineages: WeakKeyDictionary[RunSession, RunAncestry] = WeakKeyDictionary()

    def wrap(self, handlers: Mapping[str, Any]) -> Mapping[str, Handler]:
        """Returns the handlers, with those of recorded actions wrapped."""
        return {
            name: self._wrap_handler(name, each) if HOST_ACTIONS[name].replayed else each
            for name, each in handlers.items()
        }

    def _wrap_handler(self, name: str, handler: Any) -> Handler:
        return self._wrap_stream(name, handler) if HOST_ACTIONS[name].streams else self._wrap_unary(name, handler)

    def _wrap_unary(self, name: str, handler: Callable[..., Awaitable[BaseModel]]) -> Handler:
        async def act(caller: ActionCaller, request: Call) -> BaseModel:
            cached_call = await self._identify(name, caller, request)
            if cached_call is None:
                return await handler(caller, request)
            recorded = await self._find_recorded(cached_call)
            if recorded is not None:
                return HOST_ACTIONS[name].answer.model_validate(_single_part(recorded))
            await self._record_start(cached_call)
            try:
                answer = await handler(caller, request)
            except (CallRejected, ProviderFailed) as failure:
                await self._record_answer(cached_call, (), failure)
                raise
            await self._record_answer(cached_call, (answer.model_dump(mode="json"),))
            return answer

        return act

    def _wrap_stream(self, name: str, handler: Callable[..., AsyncGenerator[Any, None]]) -> Handler:
        async def act(caller: ActionCaller, request: Call) -> AsyncGenerator[Any, None]:
            cached_call = await self._identify(name, caller, request)
            recorded = None if cached_call is None else await self._find_recorded(cached_call)
            if recorded is not None:
                for part in recorded.parts:
                    yield HOST_ACTIONS[name].answer.model_validate(part)
                _raise(recorded)
                return
            sent_parts = []
            try:
                async with aclosing(handler(caller, request)) as parts:
                    async for part in parts:
                        if cached_call is not None:
                            sent_parts.append(part.model_dump(mode="json"))
                        yield part
            except (CallRejected, ProviderFailed) as failure:
                await self._record_answer(cached_call, tuple(sent_parts), failure)
                raise
            await self._record_answer(cached_call, tuple(sent_parts))

        return act

    async def _identify(self, name: str, caller: ActionCaller, request: Call) -> CachedCall | None:
        """Returns the call's record, or None if it is not to be recorded.

        If recording was switched off for an agent, a repeated run still gets the answers that were recorded before.
        """
        session = caller.session
        if session is None or not (session.caches_calls or session.entry.attempts > 1):
            return None
        if session not in self._lineages:
            self._lineages[session] = await self._calls.ancestry(session.event.seq, session.run_id)
        lineage = self._lineages[session]
        if not session.caches_calls and not lineage.last_position:
            return None
        position, request_hash = _position(request.call_id), _hash(request)
        call = CallRecord(lineage.first_run_id, position, session.run_id, name, request_hash)
        has_effects = name == "call_tool" and not self._tools.read_only(getattr(request, "tool_name", ""))
        return CachedCall(session, lineage, call, repeatable=not has_effects)

    async def _find_recorded(self, cached_call: CachedCall) -> CallRecord | None:
        """Returns the recorded call, or None if the handler must be called, for the first time or again."""
        call, session = cached_call.call, cached_call.session
        recorded = await self._calls.get(call.lineage, call.position)
        if recorded is None:
            return None
        if (recorded.action, recorded.request_hash) != (call.action, call.request_hash):
            raise _divergence_error(session, call, recorded)
        if recorded.state == "begun":
            raise _unfinished_error(call, recorded)
        was_last_call = call.position == cached_call.lineage.last_position and recorded.run_id != session.run_id
        if recorded.state == "refused" and cached_call.repeatable and was_last_call:
            return None
        session.meter.record_event("call.replayed", {"position": call.position, "action": call.action})
        return recorded

    async def _record_start(self, cached_call: CachedCall) -> None:
        """Records the start of a call with effects before it is executed."""
        if not cached_call.repeatable:
            await self._write("call.begin", cached_call.call)

    async def _record_answer(
        self,
        cached_call: CachedCall | None,
        parts: tuple[Any, ...],
        failure: CallRejected | ProviderFailed | None = None,
    ) -> None:
        if cached_call is None or (failure is not None and cached_call.session.is_closed()):
            return  # the run is over, so it did not receive this answer
        answered_call = replace(cached_call.call, state="answered", parts=parts)
        refused_call = (
            None if failure is None else replace(answered_call, state="refused", refusal=_refusal_fields(failure))
        )
        await self._write("call.keep", refused_call or answered_call)

    async def _write(self, name: str, call: CallRecord) -> None:
        now = self._clock.now()
        await self._journal.commit(Unit(name, (ledger.update_progress(call.run_id, now), call.upsert(now))))


def _position(call_id: str) -> int:
    number = call_id.rpartition(":")[2]
    if not (number.isascii() and number.isdigit() and 0 < len(number) < 10):
        message = "call_id: the calls of this agent are journaled, so it ends with ':' and the call's number in its run"
        raise CallRejected("invalid_argument", f"{message}, from 1")
    return int(number)


def _hash(request: Call) -> str:
    fields = request.model_dump(mode="json", exclude={"call_id", "run_id", "lease"})
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:32]


def _single_part(recorded: CallRecord) -> Any:
    _raise(recorded)
    return recorded.parts[0]


def _raise(recorded: CallRecord) -> None:
    if recorded.refusal is not None:
        raise CallRejected(**recorded.refusal)


def _refusal_fields(failure: CallRejected | ProviderFailed) -> dict[str, Any]:
    details = failure.details if isinstance(failure, CallRejected) else {}
    return {"code": failure.code, "message": failure.message, "retryable": failure.retryable, "details": details}


def _divergence_error(session: RunSession, call: CallRecord, recorded: CallRecord) -> CallRejected:
    previous = f"{recorded.action} then" if recorded.action != call.action else "the same action with another request"
    message = f"call {call.position} is {call.action} now and was {previous}, in run {recorded.run_id}"
    session.stop(RunTermination("failed", "runner.diverged", f"the run can't be repeated: {message}"))
    return CallRejected("runtime_error", f"a repeated run makes the same calls: {message}")


def _unfinished_error(call: CallRecord, recorded: CallRecord) -> CallRejected:
    if recorded.run_id == call.run_id:
        return CallRejected("invalid_argument", f"call_id: call {call.position} of this run is already under way")
    message = f"call {call.position} ({call.action}) had begun when run {recorded.run_id} was cut off"
    return CallRejected("runtime_error", f"{message}; whether it was carried out is not known, so it is not repeated")
