"""Liveness and readiness endpoints."""

from typing import Annotated

from fastapi import APIRouter, Response

from ..responses import Answer
from .fast_path import Waiting, alive, readiness
from .responses import Alive, Ready


def router(waiting: Waiting) -> APIRouter:
    routes = APIRouter(tags=["health"])

    @routes.get("/healthz", response_model=None)
    async def healthz() -> Annotated[Response, Answer(Alive)]:
        """The process answers."""
        return alive()

    @routes.get("/readyz", response_model=None)
    async def readyz() -> Annotated[Response, Answer({200: Ready, 503: Ready})]:
        """Migrated, every plugin ready or failed, owed work picked up."""
        return readiness(waiting())

    return routes
