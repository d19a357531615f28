"""The ASGI application: middleware, error answers, and every domain's routes."""

from fastapi import APIRouter, FastAPI

from . import documenting, errors
from .auth import Authenticator
from .events.door import EventDoor
from .events.fast_lane import FastLane
from .limits import Application, BodyLimit

PREFIX = "/api/v1"
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
) -> Application:
    app = FastAPI(
        title="Parlour",
        version=version,
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.state.authenticator = authenticator
    errors.install(app)
    routers = [*(("", router) for router in unprefixed), *((PREFIX, domain) for domain in domains)]
    for prefix, router in routers:
        app.include_router(router, prefix=prefix)
    documenting.install(app, routers)
    app.add_middleware(BodyLimit, limit=body_bytes, uploads=dict.fromkeys(UPLOADS, upload_bytes))
    return FastLane(app, events, authenticator, body_bytes)
