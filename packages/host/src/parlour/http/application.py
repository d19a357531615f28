"""The ASGI application: middleware, error answers, and every domain's routes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, FastAPI

from . import documenting, errors
from .auth import Authenticator
from .events.door import EventDoor
from .events.fast_lane import FastLane
from .limits import Application, BodyLimit

PREFIX = "/api/v1"
UPLOADS = ("/api/v1/plugins/install", "/api/v1/files")
"""Paths that write what comes to disk."""


@dataclass(frozen=True, slots=True)
class Interface:
    serve: Application
    document: Callable[[], dict[str, Any]]
    """Made anew from the routes. It takes its time: a Host shows the one that came with it."""


def build(
    version: str,
    authenticator: Authenticator,
    unprefixed: list[APIRouter],
    domains: list[APIRouter],
    events: EventDoor,
    body_bytes: int,
    upload_bytes: int,
) -> Interface:
    app = FastAPI(
        title="Parlour",
        version=version,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.authenticator = authenticator
    errors.install(app)
    routers = [*(("", router) for router in unprefixed), *((PREFIX, domain) for domain in domains)]
    for prefix, router in routers:
        app.include_router(router, prefix=prefix)
    app.add_middleware(BodyLimit, limit=body_bytes, uploads=dict.fromkeys(UPLOADS, upload_bytes))
    return Interface(FastLane(app, events, authenticator, body_bytes), lambda: documenting.document(app, routers))
