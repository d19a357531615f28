"""Checks every call of a plugin to the Host, in the order that the protocol defines, and then executes it."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from parlour.core.access import audit
from parlour.core.access.audit_writer import AuditWriter
from parlour.core.access.denial_log import DenialLog
from parlour.core.access.grants import Grant, plugin_grant
from parlour.core.access.rate_limit import PacedBucket, TokenBucket
from parlour.core.errors import CallRejected
from parlour.core.journal import GuardFailed, Journal, StorageFailed
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.providers import ProviderFailed
from parlour.core.redaction import REDACTOR
from parlour.core.runs.caller import ActionCaller
from parlour.core.runs.session import RunSession
from parlour.core.runs.session_registry import RunSessions
from parlour_sdk.protocol.calls import Call
from parlour_sdk.protocol.manifest import PluginPermissions

from .action_table import ACTIONS, Action

logger = logging.getLogger(__name__)

PLUGIN_CALLS_PER_SECOND = 100
"""Calls per second that a plugin may make outside runs; more are refused."""
PLUGIN_CALLS_BURST = 200
"""Calls that a plugin may make outside runs in a burst, before the rate above applies."""
PLUGIN_CALL_START_BURST = 16
"""Calls of a plugin outside runs that start without a delay; the next ones are spaced out."""
PLUGIN_CALL_STARTS_PER_SECOND = 500
"""Rate at which further calls of a plugin outside runs are started."""

Handler = Callable[[ActionCaller, Any], Awaitable[BaseModel]] | Callable[[ActionCaller, Any], AsyncGenerator[Any, None]]
"""Implementation of one action: a coroutine function, or an async generator function for a stream."""
PluginGrants = Callable[[str], PluginPermissions]
"""Returns the permissions that the operator granted a plugin for use outside runs."""


class Gate:
    """Admits calls of plugins: limits their rate, checks run, lease and grant, audits them and calls the handler."""

    def __init__(
        self,
        handlers: Mapping[str, Handler],
        sessions: RunSessions,
        plugin_grants: PluginGrants,
        audit_log: AuditWriter,
        journal: Journal,
        clock: Clock,
        ids: Ids,
    ) -> None:
        if set(handlers) != set(ACTIONS):
            raise ValueError(f"actions and their table differ: {set(handlers) ^ set(ACTIONS)}")
        self._handlers: Mapping[str, Any] = handlers
        self._sessions = sessions
        self._plugin_grants = plugin_grants
        self._audit_log = audit_log
        self._clock = clock
        self._denials = DenialLog(journal, clock, ids)
        self._rates: dict[str, TokenBucket] = {}
        self._spacings: dict[str, PacedBucket] = {}

    def streams(self, name: str) -> bool:
        action = ACTIONS.get(name)
        return action is not None and action.wire.streams

    async def call(self, plugin_id: str, name: str, data: Any) -> dict[str, Any]:
        return (await self.call_typed(plugin_id, name, data)).model_dump(mode="json")

    async def call_typed(self, plugin_id: str, name: str, data: Any) -> BaseModel:
        """Executes an action and returns its answer.

        `plugin_id` is the plugin of the connection as the plugin runtime knows it, never a field of the call.
        """
        caller, request = await self._admit(plugin_id, name, data)
        # An action that has started is completed even if its caller disconnects: memory and database stay consistent.
        acting = asyncio.ensure_future(self._handlers[name](caller, request))
        acting.add_done_callback(_retrieve_exception)
        with _translate_errors():
            answer: BaseModel = await asyncio.shield(acting)
        return answer

    async def stream(self, plugin_id: str, name: str, data: Any) -> AsyncGenerator[dict[str, Any], None]:
        async with aclosing(self.stream_typed(plugin_id, name, data)) as parts:
            async for part in parts:
                yield part.model_dump(mode="json")

    async def stream_typed(self, plugin_id: str, name: str, data: Any) -> AsyncGenerator[BaseModel, None]:
        """Executes a streaming action and yields its parts."""
        caller, request = await self._admit(plugin_id, name, data)
        with _translate_errors():
            async with aclosing(self._handlers[name](caller, request)) as parts:
                async for part in parts:
                    yield part

    async def _admit(self, plugin_id: str, name: str, data: Any) -> tuple[ActionCaller, Call]:
        action = ACTIONS.get(name)
        if action is None:
            raise CallRejected("not_supported", f"the Host has no action '{name}'")
        if wait := self._spacing(plugin_id, data).reserve_delay():
            await asyncio.sleep(wait)
        request = _parse(action, data)
        caller = self._caller(plugin_id, request)
        try:
            self._check(caller, action, request, data)
        except CallRejected as refusal:
            await self._record_denial(caller, action, request, refusal)
            raise
        self._record_allowed(caller, action, request)
        if caller.session is not None and caller.session.remote is not None:
            with _translate_errors():
                await caller.session.remote.start()
        return caller, request

    def _spacing(self, plugin_id: str, data: Any) -> PacedBucket:
        """Returns the bucket that delays this call. It is applied before the call is parsed and checked, which cost."""
        run_id = data.get("run_id") if isinstance(data, dict) else None
        session = self._sessions.get(run_id) if isinstance(run_id, str) else None
        if session is not None and session.executor == plugin_id:
            return session.spacing
        if plugin_id not in self._spacings:
            self._spacings[plugin_id] = PacedBucket(PLUGIN_CALL_STARTS_PER_SECOND, PLUGIN_CALL_START_BURST)
        return self._spacings[plugin_id]

    def _caller(self, plugin_id: str, request: Call) -> ActionCaller:
        if request.run_id is None:
            return ActionCaller(plugin_id, plugin_grant(plugin_id, self._plugin_grants(plugin_id)))
        session = self._sessions.get(request.run_id)
        if session is None or session.executor != plugin_id:
            return ActionCaller(plugin_id, Grant(plugin_id, frozenset()))
        return ActionCaller(plugin_id, session.grant, session)

    def _check(self, caller: ActionCaller, action: Action, request: Call, data: Any) -> None:
        if request.run_id is not None:
            _check_run(caller.session, action)
            _check_lease(caller.session, request)
        _check_access(caller.grant, action, request, in_run=caller.session is not None)
        if len(to_json(data)) > action.max_bytes:  # `data` as it was sent: with all defaults a prompt is twice as long
            raise CallRejected("payload_too_large", f"{action.name} takes at most {action.max_bytes} bytes")
        rate = caller.session.rate if caller.session else self._rate(caller.plugin_id)
        if not rate.try_acquire():
            raise CallRejected("rate_limited", "this caller asks too often; wait and try again", retryable=True)
        if caller.session is not None and 0 < caller.session.deadline_at <= self._clock.now():
            raise CallRejected("deadline_exceeded", "the run's time is over")

    def _rate(self, plugin_id: str) -> TokenBucket:
        if plugin_id not in self._rates:
            self._rates[plugin_id] = TokenBucket(PLUGIN_CALLS_PER_SECOND, PLUGIN_CALLS_BURST)
        return self._rates[plugin_id]

    def _record_allowed(self, caller: ActionCaller, action: Action, request: Call) -> None:
        self._audit_log.check_capacity()
        resource, scope, now = _resource(action, request), _scope(action, request), self._clock.now()
        entry = audit.access_entry(caller, request.run_id or "", action.name, resource, scope, "allowed", "", now)
        if caller.session is not None:
            self._audit_log.add_for_run(caller.session, entry)
        else:
            self._audit_log.add([entry])

    async def _record_denial(self, caller: ActionCaller, action: Action, request: Call, refusal: CallRejected) -> None:
        """Writes the refusal to the database before the call is answered."""
        resource, scope = _resource(action, request), _scope(action, request)
        await self._denials.record(caller, action.name, request.run_id or "", resource, scope, refusal)


def _parse(action: Action, data: Any) -> Call:
    try:
        return action.wire.request.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "the request"
        raise CallRejected("invalid_argument", f"{action.name}: {field}: {first['msg']}") from error


def _check_run(session: RunSession | None, action: Action) -> None:
    if session is None or session.ended.is_set():
        raise CallRejected("unauthorized", "no active run has this id")
    if session.stopping is not None:
        code = {"cancelled": "cancelled", "timeout": "deadline_exceeded"}.get(session.stopping.status, "unauthorized")
        raise CallRejected(code, "the run is being ended")
    if action.wire.where == "plugin":
        raise CallRejected("unauthorized", f"{action.name} is not for runs; ask without a run_id")


def _check_lease(session: RunSession | None, request: Call) -> None:
    """Raises CallRejected unless the call has its run's lease: of two processes only the holder may act for the run."""
    if session is not None and session.remote is not None and session.remote.lease_token != request.lease:
        told = "lease: it is not the one that this run is held by"
        raise CallRejected("unauthorized", f"{told}; calls of a claimed run carry the lease of its claim")


def _check_access(grant: Grant, action: Action, request: Call, in_run: bool) -> None:
    if action.permission is not None and not grant.has(action.permission):
        raise CallRejected("unauthorized", f"{':'.join(action.permission)} was not granted")
    if in_run and action.api and action.api not in grant.apis:
        raise CallRejected("unauthorized", f"this run was not granted {action.api}")
    if action.resource is not None and action.permission is not None:
        kind, name = action.resource[0], _resource(action, request)
        if not grant.allows(kind, name, action.permission[1]):
            raise CallRejected("unauthorized", f"{action.permission[1]} on '{name}' ({kind}) was not granted")
    scope = _scope(action, request)
    match action.scope:
        case "state" if scope not in grant.scopes:
            raise CallRejected("unauthorized", f"this run has no state scope '{scope}'")
        case "storage" if scope not in grant.storage:
            raise CallRejected("unauthorized", f"the storage area '{scope}' was not granted")
        case "conversation" if scope and scope != grant.conversation_id and not grant.other_conversations:
            raise CallRejected("unauthorized", "this run may read its own conversation only")


def _resource(action: Action, request: Call) -> str:
    return str(getattr(request, action.resource[1])) if action.resource is not None else ""


def _scope(action: Action, request: Call) -> str:
    match action.scope:
        case "state":
            return str(getattr(request, "scope", ""))
        case "storage":
            return str(getattr(request, "area", ""))
        case "conversation":
            named = getattr(request, "conversation_id", None) or getattr(
                getattr(request, "filters", None), "conversation_id", None
            )
            return str(named or "")
        case _:
            return ""


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Translates errors of handlers to CallRejected with the codes of the protocol."""
    try:
        yield
    except GuardFailed as ended:
        raise CallRejected("unauthorized", "no active run has this id") from ended
    except StorageFailed as failure:
        raise CallRejected("runtime_error", REDACTOR.redact(failure.message)) from failure
    except ProviderFailed as failure:
        raise CallRejected(failure.code, REDACTOR.redact(failure.message), failure.retryable) from failure


def _retrieve_exception(acting: "asyncio.Future[BaseModel]") -> None:
    """Marks the exception of an action as retrieved: its caller may have disconnected."""
    if not acting.cancelled():
        acting.exception()
