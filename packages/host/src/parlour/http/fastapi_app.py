"""Creates the FastAPI application: routes, error handlers and middleware."""

import logging
from collections.abc import Sequence

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response

from .body_limit import BodyLimit
from .errors import HANDLED_ERRORS, ErrorResponses
from .principals import Authenticator

logger = logging.getLogger(__name__)

UPLOAD_PATHS = ("/api/v1/plugins/install", "/api/v1/files", "/api/v1/skills/preview", "/api/v1/skills/install")
"""Paths whose bodies are written to disk and may be larger."""


def create_app(
    version: str,
    authenticator: Authenticator,
    responses: ErrorResponses,
    body_bytes: int,
    upload_bytes: int,
    routers: Sequence[APIRouter],
) -> FastAPI:
    """Creates the application of routers with whole paths. It serves no OpenAPI document of its own."""
    app = FastAPI(
        title="Parlour",
        version=version,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
    )
    app.state.authenticator = authenticator
    app.state.error_responses = responses
    app.add_exception_handler(RequestValidationError, _on_validation_error)
    for kind in HANDLED_ERRORS:
        app.add_exception_handler(kind, _on_handled_error)
    app.add_exception_handler(Exception, _on_unexpected_error)
    app.add_middleware(
        BodyLimit, responses=responses, limit=body_bytes, uploads=dict.fromkeys(UPLOAD_PATHS, upload_bytes)
    )
    for router in routers:  # include_router would build every route once more
        app.router.routes.extend(router.routes)
    return app


async def _on_validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return _responses(request).build_for_fields(error.errors(), error.body)


async def _on_handled_error(request: Request, error: Exception) -> Response:
    return _responses(request).build(error)


async def _on_unexpected_error(request: Request, error: Exception) -> Response:
    logger.exception("%s %s failed", request.method, request.url.path, exc_info=error)
    return _responses(request).build(error)


def _responses(request: Request) -> ErrorResponses:
    responses: ErrorResponses = request.app.state.error_responses
    return responses
