"""Builds the ASGI application: fast paths in front of FastAPI, and FastAPI itself, which is loaded when it is first
needed."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from parlour_sdk.values import dataclass

from .body_limit import AsgiApp
from .deferred_models import deferred_model_build
from .domain import Domain
from .events.fast_path import EventFastPath
from .events.service import EventService
from .front_controller import FrontController
from .health.responses import PendingStartSteps
from .lazy_app import LazyApp
from .page.static_server import PageServer
from .principals import Authenticator

if TYPE_CHECKING:
    from fastapi import FastAPI


@dataclass(frozen=True, slots=True)
class HttpApp:
    serve: AsgiApp
    build_document: Callable[[], dict[str, Any]]
    """Builds the OpenAPI document from the routes. This is slow; a running Host serves the file that is part of the
    release."""


def build_http_app(
    version: str,
    authenticator: Authenticator,
    domains: Sequence[Domain],
    waiting: PendingStartSteps,
    events: EventService,
    body_bytes: int,
    upload_bytes: int,
    page: PageServer | None = None,
) -> HttpApp:
    def framework() -> "FastAPI":
        with deferred_model_build():
            from .fastapi_app import create_app

        return create_app(version, authenticator, body_bytes, upload_bytes)

    def document() -> dict[str, Any]:
        app = framework()
        from .fastapi_app import build_document

        return build_document(app, domains)

    lane = EventFastPath(events, authenticator, body_bytes)
    return HttpApp(FrontController(page, waiting, lane, LazyApp(framework, domains)), document)
