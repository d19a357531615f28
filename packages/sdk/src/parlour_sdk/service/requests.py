"""Parses the Host's requests, and converts failures of a component's code into wire errors."""

import logging
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.wire import WireError

logger = logging.getLogger("parlour.worker")
Model = TypeVar("Model", bound=BaseModel)
COMPONENT_FAILURES: Final = (Exception, SystemExit)
"""Exceptions of a component's code that are caught. SystemExit is included: a library that exits must not stop the
other components."""


def parse_request(model: type[Model], data: Any, action: str) -> Model:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first_error = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first_error["loc"]) or "the request"
        raise WireError("invalid_argument", f"{action}: {field}: {first_error['msg']}") from error


def to_json_dict(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", exclude_none=True)


def to_wire_error(subject: str, error: BaseException) -> WireError:
    """Builds the error for the Host. Details stay in the plugin's log, since they may contain a secret."""
    if isinstance(error, WireError):
        return error
    if isinstance(error, AgentAPIException):
        logger.warning("%s failed: %s", subject, error)
        return WireError(error.code, error.error.message)
    logger.error("%s failed in the plugin's code", subject, exc_info=error)
    return WireError("runtime_error", failure_message(subject, error))


def failure_message(subject: str, error: BaseException) -> str:
    return f"{subject} failed with {type(error).__name__}; its plugin's log says where"
