"""The door for everything a plugin asks of the Host: checks a call in the contract's order, then lets it act."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from parlour.core.events.envelope import EventContext, EventEnvelope, Party
from parlour.core.facts import event_log
from parlour.core.journal import GuardFailed, Journal, StorageFailed, Unit
from parlour.core.ports import Clock, Ids
from parlour.core.runs.session import RunSession, Sessions
from parlour_sdk.protocol.run_api import RunCall

from .rate import Rate
from .table import ACTIONS, Action

logger = logging.getLogger(__name__)

DENIALS_PER_SECOND = 100
"""Per plugin, recorded; what is refused beyond that can't fill the log."""

Handler = Callable[[RunSession, Any], Awaitable[BaseModel]]


class Refused(Exception):
    """The call is answered with an error."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Gate:
    def __init__(
        self, handlers: Mapping[str, Handler], sessions: Sessions, journal: Journal, clock: Clock, ids: Ids
    ) -> None:
        if set(handlers) != set(ACTIONS):
            raise ValueError(f"actions and their table differ: {set(handlers) ^ set(ACTIONS)}")
        self._handlers = handlers
        self._sessions = sessions
        self._journal = journal
        self._clock = clock
        self._ids = ids
        self._denials: dict[str, Rate] = {}

    async def call(self, plugin_id: str, name: str, data: Any) -> dict[str, Any]:
        """`plugin_id` is what the runtime knows of the connection, never a field of the call."""
        action = ACTIONS.get(name)
        if action is None:
            raise Refused("not_supported", f"the Host has no action '{name}'")
        try:
            request = action.request.model_validate(data)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(str(part) for part in first["loc"]) or "the request"
            raise Refused("invalid_argument", f"{name}: {field}: {first['msg']}") from error
        session = self._sessions.get(request.run_id)
        try:
            session = _check(session, plugin_id, action, request)
        except Refused as refusal:
            if not self._denials.setdefault(plugin_id, Rate(DENIALS_PER_SECOND, DENIALS_PER_SECOND)).take():
                raise Refused("rate_limited", "this plugin is refused too often; wait and try again") from refusal
            await self._record_denial(plugin_id, name, request.run_id, refusal)
            raise
        if not session.rate.take():
            raise Refused("rate_limited", "this run calls the Host too often; wait and try again")
        # once begun an action is carried out, even when its caller is gone: memory and database stay at one
        acting = asyncio.ensure_future(self._handlers[name](session, request))
        acting.add_done_callback(_observed)
        try:
            answer = await asyncio.shield(acting)
        except GuardFailed as ended:
            raise Refused("unauthorized", "no active run has this id") from ended
        except StorageFailed as failure:
            raise Refused("runtime_error", failure.message) from failure
        return answer.model_dump(mode="json")

    async def _record_denial(self, plugin_id: str, action: str, run_id: str, refusal: Refused) -> None:
        """A denial is durable before it is answered."""
        logger.warning("plugin %s was refused %s in run %s: %s", plugin_id, action, run_id, refusal.message)
        identity = self._ids.new()
        denial = EventEnvelope(
            event_id=identity,
            event_type="access.denied",
            source="system",
            chat="",
            context=EventContext(identity),
            surface="",
            actor=Party("plugin", plugin_id),
            data={"action": action, "run_id": run_id, "code": refusal.code, "message": refusal.message},
        )
        unit = Unit("access.deny", (event_log.append(denial, "", self._clock.now()),))
        try:
            await self._journal.commit(unit)
        except StorageFailed as failure:
            raise Refused("runtime_error", failure.message) from failure


def _check(session: RunSession | None, plugin_id: str, action: Action, request: RunCall) -> RunSession:
    if session is None or session.is_over():
        raise Refused("unauthorized", "no active run has this id")
    grant = session.grant
    if grant.plugin_id != plugin_id:
        raise Refused("unauthorized", "no active run has this id")
    if action.api and action.api not in grant.apis:
        raise Refused("unauthorized", f"this run was not granted {action.api}")
    scope = getattr(request, "scope", "")
    if action.scoped and scope not in grant.scopes:
        raise Refused("unauthorized", f"this run has no state scope '{scope}'")
    if len(to_json(request)) > action.max_bytes:
        raise Refused("payload_too_large", f"{action.name} takes at most {action.max_bytes} bytes")
    return session


def _observed(acting: "asyncio.Future[BaseModel]") -> None:
    """The caller may be gone, and then nobody else asks how it ended."""
    if not acting.cancelled():
        acting.exception()
