"""Creates the FastAPI application with error handlers and middleware, and the OpenAPI document of all routes."""

import logging
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response

from . import errors, openapi_builder
from .body_limit import BodyLimit
from .domain import Domain
from .principals import Authenticator

logger = logging.getLogger(__name__)

UPLOAD_PATHS = ("/api/v1/plugins/install", "/api/v1/files")
"""Paths whose bodies are written to disk and may be larger."""


def create_app(version: str, authenticator: Authenticator, body_bytes: int, upload_bytes: int) -> FastAPI:
    """Creates the application without routes."""
    app = FastAPI(
        title="Parlour",
        version=version,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.authenticator = authenticator
    app.add_exception_handler(RequestValidationError, _on_validation_error)
    for kind in errors.HANDLED_ERRORS:
        app.add_exception_handler(kind, _on_handled_error)
    app.add_exception_handler(Exception, _on_unexpected_error)
    app.add_middleware(BodyLimit, limit=body_bytes, uploads=dict.fromkeys(UPLOAD_PATHS, upload_bytes))
    return app


def build_document(app: FastAPI, domains: Sequence[Domain]) -> dict[str, Any]:
    """Adds the routes of all domains to an application without routes and builds its OpenAPI document."""
    routers = [(domain.prefix, domain.build_router()) for domain in domains]
    for prefix, router in routers:
        app.include_router(router, prefix=prefix)
    return openapi_builder.build_document(app, routers)


async def _on_validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return errors.validation_error_response(error.errors(), error.body)


async def _on_handled_error(request: Request, error: Exception) -> Response:
    return errors.response_for_error(error)


async def _on_unexpected_error(request: Request, error: Exception) -> Response:
    logger.exception("%s %s failed", request.method, request.url.path, exc_info=error)
    return errors.response_for_error(error)
