"""Checks a call of a plugin against its grant, its run and the limits of its action, with the sentences of refusals."""

from collections.abc import Container
from typing import Any, Protocol

from pydantic import ValidationError
from pydantic_core import to_json

from ...values import dataclass
from ..calls import Call
from ..host_actions import HostAction, Permission

STOP_CODES = {"cancelled": "cancelled", "timeout": "deadline_exceeded"}
"""Error codes of calls in a run that is being ended, by the status that it will have."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a call is refused, as its caller receives it."""

    code: str
    message: str
    retryable: bool = False


RATE_REFUSAL = Refusal("rate_limited", "this caller asks too often; wait and try again", retryable=True)


class CallGrant(Protocol):
    """The part of a grant by which a call is checked."""

    @property
    def permissions(self) -> Container[Permission]: ...

    @property
    def apis(self) -> Container[str]: ...

    @property
    def scopes(self) -> Container[str]: ...

    @property
    def storage(self) -> Container[str]: ...

    @property
    def conversation_id(self) -> str: ...

    @property
    def other_conversations(self) -> bool: ...

    def allows(self, kind: str, name: str, operation: str) -> bool: ...


def unknown_action(name: str) -> Refusal:
    return Refusal("not_supported", f"the Host has no action '{name}'")


def invalid_request(action: HostAction, error: ValidationError) -> Refusal:
    """Names the first field of a request that is not valid."""
    first_error = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(part) for part in first_error["loc"]) or "the request"
    return Refusal("invalid_argument", f"{action.name}: {field}: {first_error['msg']}")


def check_run(action: HostAction, active: bool, stop_status: str | None) -> Refusal | None:
    """Checks a call that names a run. `stop_status` is the status that a run which is being ended will have."""
    if not active:
        return Refusal("unauthorized", "no active run has this id")
    if stop_status is not None:
        return Refusal(STOP_CODES.get(stop_status, "unauthorized"), "the run is being ended")
    if action.where == "plugin":
        return Refusal("unauthorized", f"{action.name} is not for runs; ask without a run_id")
    return None


def check_access(grant: CallGrant, action: HostAction, request: Call, in_run: bool) -> Refusal | None:
    """Checks permission, API, resource and scope of a call, in this order."""
    if action.permission is not None and action.permission not in grant.permissions:
        return _denied(f"{':'.join(action.permission)} was not granted")
    if in_run and action.api and action.api not in grant.apis:
        return _denied(f"this run was not granted {action.api}")
    if action.resource is not None and action.permission is not None:
        kind, name, operation = action.resource[0], resource_name(action, request), action.permission[1]
        if not grant.allows(kind, name, operation):
            return _denied(f"{operation} on '{name}' ({kind}) was not granted")
    return _check_scope(grant, action, request)


def check_size(action: HostAction, data: Any) -> Refusal | None:
    """Checks the size of a request as it was sent: with all defaults filled in, a prompt is twice as long."""
    if len(to_json(data)) > action.max_bytes:
        return Refusal("payload_too_large", f"{action.name} takes at most {action.max_bytes} bytes")
    return None


def resource_name(action: HostAction, request: Call) -> str:
    """Returns the resource that the request names; empty if the action has none."""
    return str(getattr(request, action.resource[1])) if action.resource is not None else ""


def scope_name(action: HostAction, request: Call) -> str:
    """Returns the state scope, storage area or conversation that the request names; empty if it names none."""
    match action.scope:
        case "state":
            return str(getattr(request, "scope", ""))
        case "storage":
            return str(getattr(request, "area", ""))
        case "conversation":
            filters = getattr(request, "filters", None)
            conversation_id = getattr(request, "conversation_id", None) or getattr(filters, "conversation_id", None)
            return str(conversation_id or "")
        case _:
            return ""


def _check_scope(grant: CallGrant, action: HostAction, request: Call) -> Refusal | None:
    scope = scope_name(action, request)
    match action.scope:
        case "state" if scope not in grant.scopes:
            return _denied(f"this run has no state scope '{scope}'")
        case "storage" if scope not in grant.storage:
            return _denied(f"the storage area '{scope}' was not granted")
        case "conversation" if scope and scope != grant.conversation_id and not grant.other_conversations:
            return _denied("this run may read its own conversation only")
        case _:
            return None


def _denied(message: str) -> Refusal:
    return Refusal("unauthorized", message)
