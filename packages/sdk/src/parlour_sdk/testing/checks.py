"""Checks calls by the rules that the Host's gate applies, and raises their refusals as a plugin receives them."""

from typing import Any

from pydantic import ValidationError

from parlour_sdk.protocol.calls import Call
from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.protocol.host_actions import HostAction
from parlour_sdk.protocol.rules import calls as rules

from .script import Failure
from .sessions import Caller, CallRate, Session


def require_active_run(session: Session | None, action: HostAction) -> Caller:
    active = session is not None and not session.ended
    _reject(rules.check_run(action, active, session.stop_status if session is not None else None))
    assert session is not None
    return Caller(session.grant, session)


def check(caller: Caller, action: HostAction, request: Call, data: Any, rate: CallRate) -> None:
    """Checks access, size and rate of a call; `data` is the request as it was sent."""
    _reject(rules.check_access(caller.grant, action, request, in_run=caller.session is not None))
    _reject(rules.check_size(action, data))
    if not rate.try_consume():
        _reject(rules.RATE_REFUSAL)


def parse_call(action: HostAction, data: Any) -> Call:
    try:
        return action.request.model_validate(data)
    except ValidationError as error:
        raise refusal_exception(rules.invalid_request(action, error)) from error


def refusal_exception(refusal: rules.Refusal) -> AgentAPIException:
    return Failure(refusal.code, refusal.message, refusal.retryable).exception()


def _reject(refusal: rules.Refusal | None) -> None:
    if refusal is not None:
        raise refusal_exception(refusal)
