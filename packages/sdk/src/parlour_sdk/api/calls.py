"""Makes a plugin's calls to the Host: validates each call, numbers it and bounds it by the run's deadline.

Wrong arguments raise `InvalidCall` at the caller; a call that the Host refused or that failed raises
`AgentAPIException`.
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import cache
from typing import Any, Final, Protocol, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from parlour_sdk.protocol.calls import Call
from parlour_sdk.protocol.errors import AgentAPIError, AgentAPIException
from parlour_sdk.wire import ConnectionClosed, WireError

Answer = TypeVar("Answer", bound=BaseModel)
_END: Final = object()


class PartStream(Protocol):
    """A stream of decoded parts, as the wire returns it."""

    def __aiter__(self) -> "PartStream": ...

    async def __anext__(self) -> Any: ...

    async def aclose(self) -> None: ...


class WireCaller(Protocol):
    """Sends calls to the Host; `parlour_sdk.wire.Peer` is one."""

    async def call(self, action: str, data: Any, timeout: float | None = None) -> Any: ...

    def stream(self, action: str, data: Any) -> PartStream: ...


class InvalidCall(ValueError):
    """Raised when the arguments of a call are invalid; the call was not sent."""


class ApiCalls:
    """Makes the calls of one run, or of a component outside a run.

    `call_id` is made of `source` and a number in the order in which the calls were started. Calls that are handed to
    `asyncio.gather` start in the order in which they are written, so a run that is repeated gives each of them the
    same id. Calls of concurrent tasks that make several calls each get their ids in the order in which the tasks
    happen to proceed.
    """

    def __init__(
        self,
        caller: WireCaller,
        source: str,
        run_id: str | None,
        seconds_left: float | None = None,
        lease: str | None = None,
    ) -> None:
        self._caller = caller
        self._source = source
        self._run_id = run_id
        self._lease = lease
        self._deadline = None if seconds_left is None else time.monotonic() + seconds_left
        self._count = 0

    async def call(self, action: str, request: type[Call], answer: type[Answer], /, **arguments: Any) -> Answer:
        data = self._encode(action, request, arguments)
        timeout = self._time_left()
        try:
            response = await self._caller.call(action, data, timeout)
        except WireError as error:
            raise AgentAPIException(_api_error(error)) from error
        return _decode(action, answer, response)

    def stream(
        self, action: str, request: type[Call], answer: type[Answer], /, **arguments: Any
    ) -> AsyncGenerator[Answer, None]:
        """Validates and numbers the call now, sends it on the first read, and cancels it if it is closed early."""
        return self._parts(action, self._encode(action, request, arguments), answer)

    async def _parts(self, action: str, data: dict[str, Any], answer: type[Answer]) -> AsyncGenerator[Answer, None]:
        self._time_left()
        try:
            stream = self._caller.stream(action, data)
        except WireError as error:
            raise AgentAPIException(_api_error(error)) from error
        async with aclosing(stream):
            while (part := await self._next(stream)) is not _END:
                yield _decode(action, answer, part)

    async def _next(self, stream: PartStream) -> Any:
        try:
            async with asyncio.timeout(self._time_left()):
                return await anext(stream, _END)
        except TimeoutError:
            raise _deadline_error() from None
        except WireError as error:
            raise AgentAPIException(_api_error(error)) from error

    def _encode(self, action: str, request: type[Call], arguments: dict[str, Any]) -> dict[str, Any]:
        self._count += 1
        call_id = f"{self._source}:{self._count}"
        try:
            message = request(**{"call_id": call_id, "run_id": self._run_id, "lease": self._lease, **arguments})
            data = message.model_dump(mode="json", exclude_none=True)
        except ValidationError as error:
            raise InvalidCall(f"{action}: {_first_problem(error)}") from None
        except PydanticSerializationError as error:
            raise InvalidCall(f"{action}: an argument can't be written as JSON: {error}") from None
        return {**_required_fields(request), **data}  # required fields are sent even if they are null

    def _time_left(self) -> float | None:
        if self._deadline is None:
            return None
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise _deadline_error()
        return remaining


class Namespace:
    """Base class of the API namespaces."""

    def __init__(self, calls: ApiCalls) -> None:
        self._calls = calls


def refusal(code: str, message: str) -> AgentAPIException:
    """Builds the exception for an error that is detected on this side, without asking the Host."""
    return AgentAPIException(AgentAPIError(code=code, message=message))


@cache
def _required_fields(request: type[Call]) -> dict[str, None]:
    return dict.fromkeys(name for name, field in request.model_fields.items() if field.is_required())


def _deadline_error() -> AgentAPIException:
    return refusal("deadline_exceeded", "the run's time is over")


def _decode(action: str, answer: type[Answer], response: Any) -> Answer:
    try:
        return answer.model_validate(response)
    except ValidationError as error:
        raise refusal(
            "runtime_error", f"the Host's answer to {action} can't be read: {_first_problem(error)}"
        ) from error


def _first_problem(error: ValidationError) -> str:
    detail = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(str(part) for part in detail['loc']) or 'it'}: {detail['msg']}"


def _api_error(error: WireError) -> AgentAPIError:
    if isinstance(error, ConnectionClosed):
        return AgentAPIError(code="runtime_error", message=error.message, retryable=True)
    extra = error.data if isinstance(error.data, dict) else {}
    details = extra.get("details")
    return AgentAPIError(
        code=error.code,
        message=error.message,
        retryable=bool(extra.get("retryable", False)),
        details=details if isinstance(details, dict) else {},
    )
