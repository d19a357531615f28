"""Liveness and readiness endpoints."""

from typing import Annotated, Literal, NotRequired

from fastapi import APIRouter, Response
from typing_extensions import TypedDict

from ..api_router import ApiRouter
from ..responses import ResponseSchema
from .fast_path import PendingStartSteps, healthz_response, readyz_response


class HealthResponse(TypedDict):
    status: Literal["ok"]


class ReadinessResponse(TypedDict):
    status: Literal["ready", "waiting"]
    waiting_for: NotRequired[list[str]]
    """What is still to come, in words."""


def router(waiting: PendingStartSteps) -> APIRouter:
    routes = ApiRouter(tags=["health"])

    @routes.get("/healthz", response_model=None)
    async def healthz() -> Annotated[Response, ResponseSchema(HealthResponse)]:
        """The process answers."""
        return healthz_response()

    @routes.get("/readyz", response_model=None)
    async def readyz() -> Annotated[Response, ResponseSchema({200: ReadinessResponse, 503: ReadinessResponse})]:
        """Migrated, every plugin ready or failed, owed work picked up."""
        return readyz_response(waiting())

    return routes
