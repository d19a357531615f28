"""Access checks with the order and the messages of the Host's gate."""

from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json

from parlour_sdk.protocol.access import ACTIONS, Action
from parlour_sdk.protocol.calls import Call
from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.protocol.wire_actions import HostAction

from .script import Failure
from .sessions import Caller, CallRate, Session


def require_active_run(session: Session | None, action: HostAction) -> Caller:
    if session is None or session.ended:
        raise Failure("unauthorized", "no active run has this id").exception()
    if session.stop_status is not None:
        code = {"cancelled": "cancelled", "timeout": "deadline_exceeded"}[session.stop_status]
        raise Failure(code, "the run is being ended").exception()
    if action.where == "plugin":
        raise Failure("unauthorized", f"{action.name} is not for runs; ask without a run_id").exception()
    return Caller(session.grant, session)


def check(caller: Caller, action: HostAction, request: Call, rate: CallRate) -> None:
    need = ACTIONS[action.name]
    _check_access(caller, need, request)
    if len(to_json(request)) > need.max_bytes:
        raise Failure("payload_too_large", f"{action.name} takes at most {need.max_bytes} bytes").exception()
    if not rate.try_consume():
        raise Failure("rate_limited", "this caller asks too often; wait and try again", retryable=True).exception()


def _check_access(caller: Caller, need: Action, request: Call) -> None:
    grant = caller.grant
    if need.permission is not None and need.permission not in grant.permissions:
        raise _denied(f"{':'.join(need.permission)} was not granted")
    if caller.session is not None and need.api and need.api not in grant.apis:
        raise _denied(f"this run was not granted {need.api}")
    if need.resource is not None and need.permission is not None:
        kind, name, operation = need.resource[0], getattr(request, need.resource[1]), need.permission[1]
        if not grant.allows(kind, name, operation):
            raise _denied(f"{operation} on '{name}' ({kind}) was not granted")
    match need.scope:
        case "state" if (scope := getattr(request, "scope", "")) not in grant.scopes:
            raise _denied(f"this run has no state scope '{scope}'")
        case "storage" if (area := getattr(request, "area", "")) not in grant.storage:
            raise _denied(f"the storage area '{area}' was not granted")
        case "conversation" if not grant.other_conversations and _conversation(request) not in (
            None,
            grant.conversation_id,
        ):
            raise _denied("this run may read its own conversation only")


def _conversation(request: Call) -> str | None:
    filters = getattr(request, "filters", None)
    named: str | None = getattr(request, "conversation_id", None) or getattr(filters, "conversation_id", None)
    return named


def _denied(message: str) -> AgentAPIException:
    return Failure("unauthorized", message).exception()


def parse_call(action: HostAction, data: Any) -> Call:
    try:
        return action.request.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "the request"
        raise Failure("invalid_argument", f"{action.name}: {field}: {first['msg']}").exception() from error
