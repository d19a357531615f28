"""What the Host asks, read at the edge; and what a component's failure is told as."""

import logging
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.wire import WireError

logger = logging.getLogger("parlour.worker")
Model = TypeVar("Model", bound=BaseModel)
FAILURES: Final = (Exception, SystemExit)
"""What one component's code may raise without an end to the others: a library that wants to exit is no reason to."""


def asked(model: type[Model], data: Any, action: str) -> Model:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "the request"
        raise WireError("invalid_argument", f"{action}: {field}: {first['msg']}") from error


def told(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", exclude_none=True)


def failure(what: str, error: BaseException) -> WireError:
    """For the Host; the details stay in the log, they may hold a secret."""
    if isinstance(error, WireError):
        return error
    if isinstance(error, AgentAPIException):
        logger.warning("%s failed: %s", what, error)
        return WireError(error.code, error.error.message)
    logger.error("%s failed in the plugin's code", what, exc_info=error)
    return WireError("runtime_error", sentence(what, error))


def sentence(what: str, error: BaseException) -> str:
    return f"{what} failed with {type(error).__name__}; its plugin's log says where"
