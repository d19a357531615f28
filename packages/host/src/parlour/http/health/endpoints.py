"""Liveness and readiness endpoints."""

from typing import Annotated

from fastapi import APIRouter, Response

from ..api_router import ApiRouter
from ..responses import ResponseSchema
from .responses import HealthResponse, PendingStartSteps, ReadinessResponse, healthz_response, readyz_response


def router(pending_steps: PendingStartSteps) -> APIRouter:
    routes = ApiRouter(prefix="", tags=["health"])

    @routes.get("/healthz", response_model=None)
    async def healthz() -> Annotated[Response, ResponseSchema(HealthResponse)]:
        """The process answers."""
        return healthz_response()

    @routes.get("/readyz", response_model=None)
    async def readyz() -> Annotated[Response, ResponseSchema({200: ReadinessResponse, 503: ReadinessResponse})]:
        """Migrated, every plugin ready or failed, owed work picked up."""
        return readyz_response(pending_steps())

    return routes
