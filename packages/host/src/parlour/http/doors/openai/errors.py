"""Errors as OpenAI clients expect them."""

from typing import Any

from starlette.responses import JSONResponse

from ...errors import Problem

_TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
_CODES = {
    "unauthenticated": "invalid_api_key",
    "budget_exceeded": "insufficient_quota",
    "rate_limited": "rate_limit_exceeded",
}


def error_body(problem: Problem) -> dict[str, Any]:
    server_side = problem.status >= 500
    details = problem.details if isinstance(problem.details, dict) else {}
    return {
        "error": {
            "message": problem.message,
            "type": "server_error" if server_side else _TYPES.get(problem.status, "invalid_request_error"),
            "param": details.get("param"),
            "code": _CODES.get(problem.code, problem.code),
        }
    }


def error_response(problem: Problem, repeatable: bool) -> JSONResponse:
    """`repeatable`: False if a repetition would begin another turn, so that clients must not do it by themselves."""
    headers = {} if repeatable else {"x-should-retry": "false"}
    details = problem.details if isinstance(problem.details, dict) else {}
    if "retry_after" in details:
        headers["retry-after"] = str(max(1, round(details["retry_after"])))
    return JSONResponse(error_body(problem), problem.status, headers)
