"""Converts errors to responses of the form `{"error": {"code", "message", "details"}}` with a message that the user can
act on."""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from parlour.core.access.passwords import PasswordsBusy
from parlour.core.ingest.arrivals import HostStopping
from parlour.core.journal import StorageFailed
from parlour.core.model.providers import ProviderFailed
from parlour.core.pagination import InvalidCursor
from parlour.core.redaction import Redactor

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


class ErrorResponses:
    """Builds the responses for errors, without secrets in their messages."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def build(self, error: Exception) -> JSONResponse:
        """Builds the response for an error of any type."""
        match error:
            case Problem():
                return self._response(error.status, error.code, error.message, error.details)
            case ValidationError():
                return self.build_for_fields(error.errors())
            case InvalidCursor():
                return self._response(400, error.code, str(error))
            case HostStopping():
                return self._response(503, error.code, str(error))
            case StorageFailed():
                return self._response(507 if error.code == "storage_full" else 503, error.code, error.message)
            case ProviderFailed():
                return self._response(_PROVIDER_STATUS.get(error.code, 500), error.code, error.message)
            case PasswordsBusy():
                return self._response(429, error.code, str(error), {"retry_after": 3})
            case HTTPException():
                return self._build_for_framework(error)
            case PydanticSerializationError() | UnicodeEncodeError():
                message = "a text holds half a surrogate pair, which is no character"
                return self._response(422, "invalid_argument", message)
            case _:
                return self._response(500, "runtime_error", "the Host failed to answer this; its log says why")

    def build_for_fields(self, errors: Sequence[Any], body: Any = None) -> JSONResponse:
        """Builds the response that names the invalid fields. It never repeats a value, which may be a secret."""
        fields = validation_errors.field_errors(errors, body)
        first = fields[0]
        return self._response(422, "invalid_argument", f"{first['field']}: {first['message']}", {"fields": fields})

    def _build_for_framework(self, error: HTTPException) -> JSONResponse:
        match error.status_code:
            case 404:
                message = "there is nothing at this path; /api/v1/openapi.json lists what there is"
                return self._response(404, "not_found", message)
            case 405:
                message = "this path does not take this method; /api/v1/openapi.json lists what it takes"
                return self._response(405, "method_not_allowed", message)
            case 400:
                return self._response(400, "invalid_argument", validation_errors.UNREADABLE_BODY_MESSAGE)
            case _:
                return self._response(error.status_code, "invalid_argument", str(error.detail))

    def _response(self, status: int, code: str, message: str, details: Any = None) -> JSONResponse:
        error = {"code": code, "message": self._redactor.redact(message), "details": details}
        return JSONResponse({"error": error}, status, _HEADERS.get(status))
