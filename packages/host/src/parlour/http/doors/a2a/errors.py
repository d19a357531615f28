"""Errors as clients of A2A expect them: of JSON-RPC, with the numbers of the standard."""

from typing import Any

from ...errors import Problem

INVALID_PARAMS = -32602
UNKNOWN_METHOD = -32601
TASK_NOT_FOUND = -32001
NOT_CANCELABLE = -32002
NO_PUSH_NOTIFICATIONS = -32003
UNSUPPORTED = -32004
CONTENT_NOT_SUPPORTED = -32005
NO_EXTENDED_CARD = -32007
VERSION_NOT_SUPPORTED = -32009
_BY_CODE = {
    "invalid_json": -32700,
    "invalid_request": -32600,
    "invalid_argument": INVALID_PARAMS,
    "payload_too_large": -32600,
    "conflict": NOT_CANCELABLE,
}


class A2aProblem(Problem):
    """A problem with a number of the standard. In HTTP it is an ordinary answer."""

    def __init__(self, number: int, code: str, message: str) -> None:
        super().__init__(200, code, message)
        self.number = number


def invalid(field: str, message: str) -> A2aProblem:
    return A2aProblem(INVALID_PARAMS, "invalid_argument", f"{field}: {message}")


def rpc_error(problem: Problem, number: int, request_id: Any) -> dict[str, Any]:
    """Returns the answer to a request that failed."""
    info = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": problem.code.upper().replace(".", "_"),
        "domain": "parlour",
        "metadata": {"code": problem.code},
    }
    return {
        "jsonrpc": "2.0",
        "id": request_id,
        "error": {"code": number, "message": problem.message, "data": [info]},
    }


def number_of(problem: Problem) -> int:
    """Returns the number of a problem that has none of its own."""
    return problem.number if isinstance(problem, A2aProblem) else _BY_CODE.get(problem.code, -32603)
