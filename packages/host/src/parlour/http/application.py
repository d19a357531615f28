"""The ASGI application: middleware, error answers, and every domain's routes."""

from collections.abc import Callable

from fastapi import APIRouter, FastAPI

from . import errors
from .auth import Authenticator
from .events.door import EventDoor
from .events.fast_lane import FastLane
from .limits import BodyLimit

UPLOADS = ("/api/v1/plugins/install", "/api/v1/files")
"""Paths that write what comes to disk."""


def build(
    version: str,
    authenticator: Authenticator,
    unprefixed: list[APIRouter],
    domains: list[APIRouter],
    events: EventDoor,
    body_bytes: int,
    upload_bytes: int,
) -> Callable[..., object]:
    app = FastAPI(
        title="Parlour",
        version=version,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.state.authenticator = authenticator
    errors.install(app)
    for router in unprefixed:
        app.include_router(router)
    for domain in domains:
        app.include_router(domain, prefix="/api/v1")
    app.add_middleware(BodyLimit, limit=body_bytes, uploads=dict.fromkeys(UPLOADS, upload_bytes))
    return FastLane(app, events, authenticator, body_bytes)
