"""Responses of liveness and readiness, and their schemas."""

from collections.abc import Callable
from typing import Literal, NotRequired

from starlette.responses import JSONResponse
from typing_extensions import TypedDict

PendingStartSteps = Callable[[], list[str]]
"""Returns the start steps that are not finished; empty when the Host is ready."""


class HealthResponse(TypedDict):
    status: Literal["ok"]


class ReadinessResponse(TypedDict):
    status: Literal["ready", "waiting"]
    waiting_for: NotRequired[list[str]]
    """What is still to come, in words."""


def healthz_response() -> JSONResponse:
    return JSONResponse({"status": "ok"})


def readyz_response(missing: list[str]) -> JSONResponse:
    body = {"status": "waiting", "waiting_for": missing} if missing else {"status": "ready"}
    return JSONResponse(body, 503 if missing else 200)
