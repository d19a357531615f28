"""Checks every call of a plugin to the Host, in the order that the protocol defines, and then executes it."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from typing import Any

from pydantic import BaseModel, ValidationError

from parlour.core.access import audit
from parlour.core.access.audit_writer import AuditWriter
from parlour.core.access.denial_log import DenialLog
from parlour.core.access.grants import Grant, plugin_grant
from parlour.core.access.rate_limit import PacedBucket, TokenBucket
from parlour.core.approvals.tool_approvals import tool_rule
from parlour.core.errors import CallRejected
from parlour.core.journal import GuardFailed, StorageFailed
from parlour.core.model.ids import PluginId, RunId
from parlour.core.model.ports import Clock
from parlour.core.model.providers import ProviderFailed
from parlour.core.redaction import Redactor
from parlour.core.runs.caller import ActionCaller
from parlour.core.runs.session import RunSession
from parlour.core.runs.session_registry import RunSessions
from parlour_sdk.protocol.calls import Call
from parlour_sdk.protocol.host_actions import HOST_ACTIONS, HostAction
from parlour_sdk.protocol.manifest import PluginPermissions
from parlour_sdk.protocol.rules import calls as rules
from parlour_sdk.protocol.rules.calls import Refusal, resource_name, scope_name
from parlour_sdk.protocol.tools import CallTool

from .handlers import Handler

logger = logging.getLogger(__name__)

PLUGIN_CALLS_PER_SECOND = 100
"""Calls per second that a plugin may make outside runs; more are refused."""
PLUGIN_CALLS_BURST = 200
"""Calls that a plugin may make outside runs in a burst, before the rate above applies."""
PLUGIN_CALL_START_BURST = 16
"""Calls of a plugin outside runs that start without a delay; the next ones are spaced out."""
PLUGIN_CALL_STARTS_PER_SECOND = 500
"""Rate at which further calls of a plugin outside runs are started."""

PluginGrants = Callable[[PluginId], PluginPermissions]
"""Returns the permissions that the operator granted a plugin for use outside runs."""


class Gate:
    """Admits calls of plugins: limits their rate, checks run, lease and grant, audits them and calls the handler."""

    def __init__(
        self,
        handlers: Mapping[str, Handler],
        sessions: RunSessions,
        plugin_grants: PluginGrants,
        audit_log: AuditWriter,
        denials: DenialLog,
        redactor: Redactor,
        clock: Clock,
    ) -> None:
        if set(handlers) != set(HOST_ACTIONS):
            raise ValueError(f"actions and their table differ: {set(handlers) ^ set(HOST_ACTIONS)}")
        self._handlers: Mapping[str, Any] = handlers
        self._sessions = sessions
        self._plugin_grants = plugin_grants
        self._audit_log = audit_log
        self._clock = clock
        self._denial_log = denials
        self._redactor = redactor
        self._rates: dict[PluginId, TokenBucket] = {}
        self._spacings: dict[PluginId, PacedBucket] = {}

    def streams(self, name: str) -> bool:
        action = HOST_ACTIONS.get(name)
        return action is not None and action.streams

    async def call(self, plugin_id: PluginId, name: str, data: Any) -> dict[str, Any]:
        return (await self.call_typed(plugin_id, name, data)).model_dump(mode="json")

    async def call_typed(self, plugin_id: PluginId, name: str, data: Any, via: str = "") -> BaseModel:
        """Executes an action and returns its answer.

        `plugin_id` is the plugin of the connection as the plugin runtime knows it, never a field of the call. `via`
        names the way of a call that a program of the plugin made itself.
        """
        caller, request = await self._admit(plugin_id, name, data, via)
        # An action that has started is completed even if its caller disconnects: memory and database stay consistent.
        task = asyncio.ensure_future(self._handlers[name](caller, request))
        task.add_done_callback(_retrieve_exception)
        with _translate_errors(self._redactor):
            answer: BaseModel = await asyncio.shield(task)
        return answer

    async def stream(self, plugin_id: PluginId, name: str, data: Any) -> AsyncGenerator[dict[str, Any], None]:
        async with aclosing(self.stream_typed(plugin_id, name, data)) as parts:
            async for part in parts:
                yield part.model_dump(mode="json")

    async def stream_typed(self, plugin_id: PluginId, name: str, data: Any) -> AsyncGenerator[BaseModel, None]:
        """Executes a streaming action and yields its parts."""
        caller, request = await self._admit(plugin_id, name, data)
        with _translate_errors(self._redactor):
            async with aclosing(self._handlers[name](caller, request)) as parts:
                async for part in parts:
                    yield part

    async def _admit(self, plugin_id: PluginId, name: str, data: Any, via: str = "") -> tuple[ActionCaller, Call]:
        action = HOST_ACTIONS.get(name)
        if action is None:
            raise _rejection(rules.unknown_action(name))
        if wait := self._spacing(plugin_id, data).reserve_delay():
            await asyncio.sleep(wait)
        request = _parse(action, data)
        caller = self._caller(plugin_id, request, via)
        try:
            self._check(caller, action, request, data)
        except CallRejected as refusal:
            await self._record_denial(caller, action, request, refusal)
            raise
        self._record_allowed(caller, action, request)
        if caller.session is not None and caller.session.remote is not None:
            with _translate_errors(self._redactor):
                await caller.session.remote.start()
        return caller, request

    def _spacing(self, plugin_id: PluginId, data: Any) -> PacedBucket:
        """Returns the bucket that delays this call. It is applied before the call is parsed and checked, which cost."""
        run_id = data.get("run_id") if isinstance(data, dict) else None
        session = self._sessions.get(RunId(run_id)) if isinstance(run_id, str) else None
        if session is not None and session.executor == plugin_id:
            return session.spacing
        if plugin_id not in self._spacings:
            self._spacings[plugin_id] = PacedBucket(PLUGIN_CALL_STARTS_PER_SECOND, PLUGIN_CALL_START_BURST)
        return self._spacings[plugin_id]

    def _caller(self, plugin_id: PluginId, request: Call, via: str) -> ActionCaller:
        if request.run_id is None:
            return ActionCaller(plugin_id, plugin_grant(plugin_id, self._plugin_grants(plugin_id)))
        session = self._sessions.get(RunId(request.run_id))
        if session is None or session.executor != plugin_id:
            return ActionCaller(plugin_id, Grant(plugin_id, frozenset()))
        return ActionCaller(plugin_id, session.grant, session, via)

    def _check(self, caller: ActionCaller, action: HostAction, request: Call, data: Any) -> None:
        session = caller.session
        if request.run_id is not None:
            active = session is not None and not session.ended.is_set()
            stopping = session.stopping if session is not None else None
            _reject(rules.check_run(action, active, stopping.status if stopping is not None else None))
            _check_lease(session, request)
        _reject(rules.check_access(caller.grant, action, request, in_run=session is not None))
        _check_tool_policy(session, request)
        _reject(rules.check_size(action, data))
        rate = session.rate if session else self._rate(caller.plugin_id)
        if not rate.try_acquire():
            raise _rejection(rules.RATE_REFUSAL)
        if session is not None and 0 < session.deadline_at <= self._clock.now():
            raise CallRejected("deadline_exceeded", "the run's time is over")

    def _rate(self, plugin_id: PluginId) -> TokenBucket:
        if plugin_id not in self._rates:
            self._rates[plugin_id] = TokenBucket(PLUGIN_CALLS_PER_SECOND, PLUGIN_CALLS_BURST)
        return self._rates[plugin_id]

    def _record_allowed(self, caller: ActionCaller, action: HostAction, request: Call) -> None:
        self._audit_log.check_capacity()
        resource, scope, now = resource_name(action, request), scope_name(action, request), self._clock.now()
        entry = audit.access_entry(
            caller, RunId(request.run_id or ""), action.name, resource, scope, "allowed", "", now
        )
        if caller.session is not None:
            self._audit_log.add_for_run(caller.session, entry)
        else:
            self._audit_log.add([entry])

    async def _record_denial(
        self, caller: ActionCaller, action: HostAction, request: Call, refusal: CallRejected
    ) -> None:
        """Writes the refusal to the database before the call is answered."""
        resource, scope = resource_name(action, request), scope_name(action, request)
        await self._denial_log.record(caller, action.name, RunId(request.run_id or ""), resource, scope, refusal)


def _parse(action: HostAction, data: Any) -> Call:
    try:
        return action.request.model_validate(data)
    except ValidationError as error:
        raise _rejection(rules.invalid_request(action, error)) from error


def _check_lease(session: RunSession | None, request: Call) -> None:
    """Raises CallRejected unless the call has its run's lease: of two processes only the holder may act for the run."""
    if session is not None and session.remote is not None and session.remote.lease_token != request.lease:
        message = "lease: it is not the one that this run is held by"
        raise CallRejected("unauthorized", f"{message}; calls of a claimed run carry the lease of its claim")


def _check_tool_policy(session: RunSession | None, request: Call) -> None:
    """Raises CallRejected if the agent's tool policy denies the call of a tool."""
    if session is None or not isinstance(request, CallTool):
        return
    if tool_rule(session, request.tool_name, request.parameters).decision == "deny":
        raise CallRejected("denied", f"the agent's tool policy does not allow '{request.tool_name}'")


def _reject(refusal: Refusal | None) -> None:
    if refusal is not None:
        raise _rejection(refusal)


def _rejection(refusal: Refusal) -> CallRejected:
    return CallRejected(refusal.code, refusal.message, refusal.retryable)


@contextmanager
def _translate_errors(redactor: Redactor) -> Iterator[None]:
    """Translates errors of handlers to CallRejected with the codes of the protocol, without secrets."""
    try:
        yield
    except GuardFailed as error:
        raise CallRejected("unauthorized", "no active run has this id") from error
    except StorageFailed as failure:
        raise CallRejected("runtime_error", redactor.redact(failure.message)) from failure
    except ProviderFailed as failure:
        raise CallRejected(failure.code, redactor.redact(failure.message), failure.retryable) from failure


def _retrieve_exception(task: "asyncio.Future[BaseModel]") -> None:
    """Marks the exception of an action as retrieved: its caller may have disconnected."""
    if not task.cancelled():
        task.exception()
