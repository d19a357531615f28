"""Is it alive, is it ready."""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from ..answers import Answer, Json
from .answers import Alive, Ready

Waiting = Callable[[], list[str]]
"""What is still to come before the Host is ready; empty when it is."""


def router(waiting: Waiting) -> APIRouter:
    routes = APIRouter(tags=["health"])

    @routes.get("/healthz")
    async def healthz() -> Annotated[Json, Answer(Alive)]:
        """The process answers."""
        return {"status": "ok"}

    @routes.get("/readyz", response_model=None)
    async def readyz() -> Annotated[Response, Answer({200: Ready, 503: Ready})]:
        """Migrated, every plugin ready or failed, owed work picked up."""
        missing = waiting()
        body = {"status": "waiting", "waiting_for": missing} if missing else {"status": "ready"}
        return JSONResponse(body, 503 if missing else 200)

    return routes
