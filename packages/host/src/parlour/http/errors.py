"""Every error leaves as `{"error": {"code", "message", "details"}}` with a sentence a person can act on."""

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from parlour.core.cursors import InvalidCursor
from parlour.core.events.gateway import Closed
from parlour.core.journal import StorageFailed

logger = logging.getLogger(__name__)


class Problem(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, code: str, message: str, details: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.details = details


def not_found(what: str, remedy: str) -> Problem:
    return Problem(404, "not_found", f"{what} does not exist; {remedy}")


def answer(status: int, code: str, message: str, details: Any = None) -> JSONResponse:
    return JSONResponse({"error": {"code": code, "message": message, "details": details}}, status)


def install(app: FastAPI) -> None:
    @app.exception_handler(Problem)
    async def problem(request: Request, error: Problem) -> Response:
        return answer(error.status, error.code, error.message, error.details)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        """Names the fields; never repeats a value, which may be a secret."""
        fields = [
            {"field": ".".join(str(part) for part in each["loc"] if part != "body") or "body", "message": each["msg"]}
            for each in error.errors()
        ]
        first = fields[0]
        return answer(422, "invalid_argument", f"{first['field']}: {first['message']}", {"fields": fields})

    @app.exception_handler(InvalidCursor)
    async def cursor(request: Request, error: InvalidCursor) -> Response:
        return answer(400, error.code, str(error))

    @app.exception_handler(Closed)
    async def closed(request: Request, error: Closed) -> Response:
        return answer(503, error.code, str(error))

    @app.exception_handler(StorageFailed)
    async def storage(request: Request, error: StorageFailed) -> Response:
        status = 507 if error.code == "storage_full" else 503
        return answer(status, error.code, error.message)

    @app.exception_handler(HTTPException)
    async def plain(request: Request, error: HTTPException) -> Response:
        code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "invalid_argument")
        message = str(error.detail)
        if error.status_code == 404:
            message = "there is nothing at this path; the interface lives under /api/v1"
        return answer(error.status_code, code, message)

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> Response:
        logger.exception("%s %s failed", request.method, request.url.path, exc_info=error)
        return answer(500, "runtime_error", "the Host failed to answer this; its log says why")
