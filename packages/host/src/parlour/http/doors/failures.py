"""Brings all failures of doors into one form, which each door then writes in its own standard."""

from parlour.core.encoding import loads

from ..errors import ErrorResponses, Problem
from .updates import TurnEnd

_STATUS_BY_CODE = {
    "budget_exceeded": 429,
    "model.limited": 429,
    "expired": 409,
    "cancelled": 409,
    "refused": 403,
    "dropped": 403,
    "model.too_long": 400,
    "deadline_exceeded": 504,
    "timeout": 504,
}


def problem_of_turn(end: TurnEnd) -> Problem:
    """Returns the problem of a turn that was not answered."""
    status = 429 if end.code.startswith("limited.") else _STATUS_BY_CODE.get(end.code, 500)
    return Problem(status, end.code, end.text or f"the agent gave no answer: {end.code}")


def problem_of_error(error: Exception, responses: ErrorResponses) -> Problem:
    """Returns the problem of any error, without secrets and internals."""
    response = responses.build(error)
    body = loads(bytes(response.body).decode())["error"]
    return Problem(response.status_code, body["code"], body["message"], body["details"])
