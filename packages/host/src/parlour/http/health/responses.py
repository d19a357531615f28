"""Response schemas of liveness and readiness."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict


class HealthResponse(TypedDict):
    status: Literal["ok"]


class ReadinessResponse(TypedDict):
    status: Literal["ready", "waiting"]
    waiting_for: NotRequired[list[str]]
    """What is still to come, in words."""
