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
            name: self._wrapped(name, each) if HOST_ACTIONS[name].replayed else each for name, each in handlers.items()
        }

    def _wrapped(self, name: str, handler: Any) -> Handler:
        return self._stream(name, handler) if HOST_ACTIONS[name].streams else self._unary(name, handler)

    def _unary(self, name: str, handler: Callable[..., Awaitable[BaseModel]]) -> Handler:
        async def act(caller: ActionCaller, request: Call) -> BaseModel:
            asked = await self._identify(name, caller, request)
            if asked is None:
                return await handler(caller, request)
            known = await self._find_recorded(asked)
            if known is not None:
                return HOST_ACTIONS[name].answer.model_validate(_part(known))
            await self._record_start(asked)
            try:
                answer = await handler(caller, request)
            except (CallRejected, ProviderFailed) as failure:
                await self._record_answer(asked, (), failure)
                raise
            await self._record_answer(asked, (answer.model_dump(mode="json"),))
            return answer

        return act

    def _stream(self, name: str, handler: Callable[..., AsyncGenerator[Any, None]]) -> Handler:
        async def act(caller: ActionCaller, request: Call) -> AsyncGenerator[Any, None]:
            asked = await self._identify(name, caller, request)
            known = None if asked is None else await self._find_recorded(asked)
            if known is not None:
                for part in known.parts:
                    yield HOST_ACTIONS[name].answer.model_validate(part)
                _raise(known)
                return
            given = []
            try:
                async with aclosing(handler(caller, request)) as parts:
                    async for part in parts:
                        if asked is not None:
                            given.append(part.model_dump(mode="json"))
                        yield part
            except (CallRejected, ProviderFailed) as failure:
                await self._record_answer(asked, tuple(given), failure)
                raise
            await self._record_answer(asked, tuple(given))

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
        position, mark = _position(request.call_id), _hash(request)
        call = CallRecord(lineage.first_run_id, position, session.run_id, name, mark)
        acts = name == "call_tool" and not self._tools.read_only(getattr(request, "tool_name", ""))
        return CachedCall(session, lineage, call, repeatable=not acts)

    async def _find_recorded(self, asked: CachedCall) -> CallRecord | None:
        """Returns the recorded call, or None if the handler must be called, for the first time or again."""
        call, session = asked.call, asked.session
        known = await self._calls.get(call.lineage, call.position)
        if known is None:
            return None
        if (known.action, known.request_hash) != (call.action, call.request_hash):
            raise _diverged(session, call, known)
        if known.state == "begun":
            raise _unfinished(call, known)
        ended_on_it = call.position == asked.lineage.last_position and known.run_id != session.run_id
        if known.state == "refused" and asked.repeatable and ended_on_it:
            return None
        session.meter.record_event("call.replayed", {"position": call.position, "action": call.action})
        return known

    async def _record_start(self, asked: CachedCall) -> None:
        """Records the start of a call with effects before it is executed."""
        if not asked.repeatable:
            await self._write("call.begin", asked.call)

    async def _record_answer(
        self, asked: CachedCall | None, parts: tuple[Any, ...], failure: CallRejected | ProviderFailed | None = None
    ) -> None:
        if asked is None or (failure is not None and asked.session.is_over()):
            return  # the run is over, so it did not receive this answer
        answered = replace(asked.call, state="answered", parts=parts)
        refused = None if failure is None else replace(answered, state="refused", refusal=_refusal_fields(failure))
        await self._write("call.keep", refused or answered)

    async def _write(self, name: str, call: CallRecord) -> None:
        now = self._clock.now()
        await self._journal.commit(Unit(name, (ledger.update_progress(call.run_id, now), call.upsert(now))))


def _position(call_id: str) -> int:
    number = call_id.rpartition(":")[2]
    if not (number.isascii() and number.isdigit() and 0 < len(number) < 10):
        told = "call_id: the calls of this agent are journaled, so it ends with ':' and the call's number in its run"
        raise CallRejected("invalid_argument", f"{told}, from 1")
    return int(number)


def _hash(request: Call) -> str:
    asked = request.model_dump(mode="json", exclude={"call_id", "run_id", "lease"})
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:32]


def _part(known: CallRecord) -> Any:
    _raise(known)
    return known.parts[0]


def _raise(known: CallRecord) -> None:
    if known.refusal is not None:
        raise CallRejected(**known.refusal)


def _refusal_fields(failure: CallRejected | ProviderFailed) -> dict[str, Any]:
    details = failure.details if isinstance(failure, CallRejected) else {}
    return {"code": failure.code, "message": failure.message, "retryable": failure.retryable, "details": details}


def _diverged(session: RunSession, call: CallRecord, known: CallRecord) -> CallRejected:
    other = f"{known.action} then" if known.action != call.action else "the same action with another request"
    told = f"call {call.position} is {call.action} now and was {other}, in run {known.run_id}"
    session.stop(RunTermination("failed", "runner.diverged", f"the run can't be repeated: {told}"))
    return CallRejected("runtime_error", f"a repeated run makes the same calls: {told}")


def _unfinished(call: CallRecord, known: CallRecord) -> CallRejected:
    if known.run_id == call.run_id:
        return CallRejected("invalid_argument", f"call_id: call {call.position} of this run is already under way")
    told = f"call {call.position} ({call.action}) had begun when run {known.run_id} was cut off"
    return CallRejected("runtime_error", f"{told}; whether it was carried out is not known, so it is not repeated")
