"""Converts errors to responses of the form `{"error": {"code", "message", "details"}}` with a message that the user can
act on."""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from parlour.core.access.passwords import PasswordsBusy
from parlour.core.ingest.gateway import HostStopping
from parlour.core.journal import StorageFailed
from parlour.core.model.providers import ProviderFailed
from parlour.core.pagination import InvalidCursor
from parlour.core.redaction import REDACTOR

from . import validation_errors

_HEADERS = {401: {"WWW-Authenticate": "Bearer"}}
_PROVIDER_STATUS = {"not_found": 404, "invalid_argument": 422, "payload_too_large": 413, "not_supported": 501}


class Problem(Exception):
    """Raised to send an error response."""

    def __init__(self, status: int, code: str, message: str, details: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.details = details


HANDLED_ERRORS: tuple[type[Exception], ...] = (
    Problem,
    InvalidCursor,
    HostStopping,
    StorageFailed,
    ProviderFailed,
    PasswordsBusy,
    HTTPException,
    PydanticSerializationError,
    UnicodeEncodeError,
)
"""Errors that are converted to a response. All others are internal failures and are logged."""


def not_found(what: str, remedy: str) -> Problem:
    return Problem(404, "not_found", f"{what} does not exist; {remedy}")


def upload_not_stored(error: OSError) -> Problem:
    """Builds the error for an upload that can't be stored."""
    message = f"the upload can't be kept: {error.strerror}; make room on the disk of the data directory and try again"
    return Problem(507, "storage_full", message)


def invalid_field(field: str, message: str) -> Problem:
    """Builds the error for one invalid field of the body."""
    fields = [{"field": field, "message": message}]
    return Problem(422, "invalid_argument", f"{field}: {message}", {"fields": fields})


def error_response(status: int, code: str, message: str, details: Any = None) -> JSONResponse:
    told = {"code": code, "message": REDACTOR.redact(message), "details": details}
    return JSONResponse({"error": told}, status, _HEADERS.get(status))


def response_for_error(error: Exception) -> JSONResponse:
    match error:
        case Problem():
            return error_response(error.status, error.code, error.message, error.details)
        case ValidationError():
            return validation_error_response(error.errors())
        case InvalidCursor():
            return error_response(400, error.code, str(error))
        case HostStopping():
            return error_response(503, error.code, str(error))
        case StorageFailed():
            return error_response(507 if error.code == "storage_full" else 503, error.code, error.message)
        case ProviderFailed():
            return error_response(_PROVIDER_STATUS.get(error.code, 500), error.code, error.message)
        case PasswordsBusy():
            return error_response(429, error.code, str(error), {"retry_after": 3})
        case HTTPException():
            return _framework_error_response(error)
        case PydanticSerializationError() | UnicodeEncodeError():
            return error_response(422, "invalid_argument", "a text holds half a surrogate pair, which is no character")
        case _:
            return error_response(500, "runtime_error", "the Host failed to answer this; its log says why")


def validation_error_response(errors: Sequence[Any], body: Any = None) -> JSONResponse:
    """Builds the response that names the invalid fields. It never repeats a value, which may be a secret."""
    fields = validation_errors.field_errors(errors, body)
    first = fields[0]
    return error_response(422, "invalid_argument", f"{first['field']}: {first['message']}", {"fields": fields})


def _framework_error_response(error: HTTPException) -> JSONResponse:
    match error.status_code:
        case 404:
            return error_response(
                404, "not_found", "there is nothing at this path; /api/v1/openapi.json lists what there is"
            )
        case 405:
            message = "this path does not take this method; /api/v1/openapi.json lists what it takes"
            return error_response(405, "method_not_allowed", message)
        case 400:
            return error_response(400, "invalid_argument", validation_errors.UNREADABLE_BODY_MESSAGE)
        case _:
            return error_response(error.status_code, "invalid_argument", str(error.detail))
