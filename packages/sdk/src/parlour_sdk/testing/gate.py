"""The fake Host's gate: checks each call as the real one does, records it and passes it to its handler."""

import inspect
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from typing import Any

from pydantic import BaseModel

from parlour_sdk.protocol.calls import Call
from parlour_sdk.protocol.errors import AgentAPIError, AgentAPIException
from parlour_sdk.protocol.host_actions import HOST_ACTIONS
from parlour_sdk.protocol.rules.calls import unknown_action
from parlour_sdk.wire import WireError

from ..values import dataclass
from .checks import check, parse_call, refusal_exception, require_active_run
from .grants import Grant
from .script import Failure
from .sessions import Caller, CallRate, RecordedCall, Session

Handler = Callable[[Caller, Any], Awaitable[BaseModel]] | Callable[[Caller, Any], AsyncIterator[BaseModel]]


@dataclass(frozen=True, slots=True)
class AdmittedCall:
    caller: Caller
    request: Call
    recorded: RecordedCall


class FakeGate:
    """Checks and records calls. `answers` replaces handlers: an answer, a function of the request, or a failure."""

    def __init__(self, handlers: Mapping[str, Handler], answers: Mapping[str, Any]) -> None:
        if set(handlers) != set(HOST_ACTIONS):
            raise ValueError(f"served actions and the protocol's differ: {set(handlers) ^ set(HOST_ACTIONS)}")
        for name in answers:
            _require_action(name)
            if HOST_ACTIONS[name].streams:
                raise ValueError(f"{name} answers with a stream; give the model a script instead")
        self._handlers: Mapping[str, Any] = handlers
        self._answers = answers
        self._sessions: dict[str, Session] = {}
        self._failures: dict[str, deque[Failure]] = {}
        self.calls: list[RecordedCall] = []

    def register(self, session: Session) -> None:
        self._sessions[session.run_id] = session

    def fail(self, action: str, failure: Failure, times: int) -> None:
        _require_action(action)
        self._failures.setdefault(action, deque()).extend([failure] * times)

    def admit(self, plugin: Grant, rate: CallRate, name: str, data: Any) -> AdmittedCall:
        """Checks and records a call; `plugin` is the grant of the caller's plugin outside a run."""
        action = HOST_ACTIONS.get(name)
        if action is None:
            raise refusal_exception(unknown_action(name))
        request = parse_call(action, data)
        session = self._sessions.get(request.run_id) if request.run_id is not None else None
        recorded = self._record(name, request, session)
        try:
            caller = Caller(plugin) if request.run_id is None else require_active_run(session, action)
            check(caller, action, request, data, caller.run.rate if caller.session else rate)
            if self._failures.get(name):
                raise self._failures[name].popleft().exception()
        except AgentAPIException as refusal:
            recorded.error = refusal.error
            raise
        return AdmittedCall(caller, request, recorded)

    async def answer(self, name: str, admitted: AdmittedCall) -> BaseModel:
        if name not in self._answers:
            served: BaseModel = await self._handlers[name](admitted.caller, admitted.request)
            return served
        handler = self._answers[name]
        if callable(handler):
            result = handler(admitted.request)
            handler = await result if inspect.isawaitable(result) else result
        if isinstance(handler, Failure):
            raise handler.exception()
        return HOST_ACTIONS[name].answer.model_validate(handler)

    def parts(self, name: str, admitted: AdmittedCall) -> AsyncIterator[BaseModel]:
        served: AsyncIterator[BaseModel] = self._handlers[name](admitted.caller, admitted.request)
        return served

    def _record(self, name: str, request: Call, session: Session | None) -> RecordedCall:
        arguments = request.model_dump(exclude={"call_id", "run_id"}, exclude_unset=True)
        recorded = RecordedCall(name, arguments)
        self.calls.append(recorded)
        if session is not None:
            session.calls.append(recorded)
            session.on_change()
        return recorded


class PluginEndpoint:
    """The fake Host's end of a plugin's wire. `test_errors` has the exceptions of the test's own functions."""

    def __init__(self, gate: FakeGate, plugin: Grant) -> None:
        self._gate = gate
        self._plugin = plugin
        self._rate = CallRate(per_second=100, burst=200)
        self.test_errors: list[Exception] = []

    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]:
        known_action = HOST_ACTIONS.get(action)
        return (
            self._stream(action, data)
            if known_action is not None and known_action.streams
            else self._answer(action, data)
        )

    async def _answer(self, name: str, data: Any) -> Any:
        try:
            admitted = self._gate.admit(self._plugin, self._rate, name, data)
        except AgentAPIException as refusal:
            raise _wire_error(refusal) from refusal
        try:
            answer = await self._gate.answer(name, admitted)
        except Exception as error:
            raise self._to_wire_error(error, admitted.recorded) from error
        admitted.recorded.answer = answer
        return answer.model_dump(mode="json")

    async def _stream(self, name: str, data: Any) -> AsyncGenerator[Any, None]:
        try:
            admitted = self._gate.admit(self._plugin, self._rate, name, data)
        except AgentAPIException as refusal:
            raise _wire_error(refusal) from refusal
        admitted.recorded.answer = parts = []
        try:
            async for part in self._gate.parts(name, admitted):
                parts.append(part)
                yield part.model_dump(mode="json")
        except Exception as error:
            raise self._to_wire_error(error, admitted.recorded) from error

    def _to_wire_error(self, error: Exception, recorded: RecordedCall) -> WireError:
        if not isinstance(error, AgentAPIException):
            self.test_errors.append(error)
            error = Failure("runtime_error", f"the test's own function raised {error!r}").exception()
        recorded.error = error.error
        return _wire_error(error)


def _require_action(name: str) -> None:
    if name not in HOST_ACTIONS:
        raise ValueError(f"the Host has no action '{name}'; there are {', '.join(HOST_ACTIONS)}")


def _wire_error(refusal: AgentAPIException) -> WireError:
    error: AgentAPIError = refusal.error
    return WireError(error.code, error.message, {"retryable": error.retryable, "details": error.details})
