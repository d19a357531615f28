"""How a run calls the Host: numbered, bounded by the run's deadline, with errors a runner can act on."""

import time
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from parlour_sdk.protocol.errors import AgentAPIError, AgentAPIException
from parlour_sdk.wire import WireError

Answer = TypeVar("Answer", bound=BaseModel)


class Caller(Protocol):
    async def call(self, action: str, data: Any, timeout: float | None = None) -> Any: ...


class RunCalls:
    """The calls of one run. `call_id` is derived from the run and the order of the call, so a retry repeats it."""

    def __init__(self, caller: Caller, run_id: str, seconds_left: float | None) -> None:
        self._caller = caller
        self._run_id = run_id
        self._deadline = None if seconds_left is None else time.monotonic() + seconds_left
        self._count = 0

    async def call(self, action: str, answer: type[Answer], **arguments: Any) -> Answer:
        self._count += 1
        request = {"run_id": self._run_id, "call_id": f"{self._run_id}:{self._count}", **arguments}
        timeout = None
        if self._deadline is not None:
            timeout = self._deadline - time.monotonic()
            if timeout <= 0:
                raise AgentAPIException(AgentAPIError(code="deadline_exceeded", message="the run's time is over"))
        try:
            return answer.model_validate(await self._caller.call(action, request, timeout))
        except WireError as error:
            raise AgentAPIException(_api_error(error)) from error


def _api_error(error: WireError) -> AgentAPIError:
    extra = error.data if isinstance(error.data, dict) else {}
    details = extra.get("details")
    return AgentAPIError(
        code=error.code,
        message=error.message,
        retryable=bool(extra.get("retryable", False)),
        details=details if isinstance(details, dict) else {},
    )
