"""Serves runs: streams a runner's results as numbered envelopes, and a failure result if its code raises."""

import logging
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from parlour_sdk import results
from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.components import RunnerCheck, RunnerCheckResult
from parlour_sdk.protocol.context import AgentRunContext, AgentRunRequest
from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.results import Result
from parlour_sdk.wire import Peer, WireError

from .requests import COMPONENT_FAILURES, parse_request, to_json_dict, to_wire_error

if TYPE_CHECKING:
    from parlour_sdk.components import AgentRunner

logger = logging.getLogger("parlour.worker")

Envelope: TypeAlias = Callable[[str, int, Result], dict[str, Any]]


def envelope(run_id: str, sequence: int, result: Result) -> dict[str, Any]:
    """Builds an AgentRunResult."""
    return {
        "run_id": run_id,
        "type": result.type,
        "data": result.data,
        "sequence": sequence,
        "timestamp": int(time.time() * 1000),
    }


class InvalidRunnerResult(Exception):
    """Raised when a runner yields something that is not a result."""


class RunService:
    def __init__(self, runners: "Mapping[str, AgentRunner]", peer: Peer, envelope: Envelope) -> None:
        self._runners = runners
        self._peer = peer
        self._envelope = envelope

    async def run_agent(self, data: Any) -> AsyncGenerator[dict[str, Any], None]:
        request = parse_request(AgentRunRequest, data, "run_agent")
        runner = self._runner(request.runner_name)
        run_id, sequence = request.context.run_id, 0
        generator = runner.run(request.context, self._api(request.context))
        try:
            async for result in generator:
                checked = _checked(result)
                sequence += 1
                yield self._envelope(run_id, sequence, checked)
        except COMPONENT_FAILURES as error:
            yield self._envelope(run_id, sequence + 1, _failure(run_id, error))
        finally:
            await generator.aclose()

    async def check_runner(self, data: Any) -> dict[str, Any]:
        """Answers *Test connection* for one runner."""
        request = parse_request(RunnerCheck, data, "check_runner")
        try:
            check = await self._runner(request.runner_name).test_connection(request.config, request.locale)
            return to_json_dict(RunnerCheckResult(code=check.code, message=check.message))
        except NotImplementedError:
            raise WireError("not_supported", f"the runner '{request.runner_name}' can't check its connection") from None
        except COMPONENT_FAILURES as error:
            raise to_wire_error(f"the runner '{request.runner_name}'", error) from error

    def _runner(self, name: str) -> "AgentRunner":
        runner = self._runners.get(name)
        if runner is None:
            raise WireError("not_found", f"this plugin has no runner '{name}'")
        return runner

    def _api(self, ctx: AgentRunContext) -> AgentRunAPI:
        deadline = ctx.runtime.deadline_at
        return AgentRunAPI(self._peer, ctx.run_id, None if deadline is None else deadline / 1000 - time.time())


def _checked(result: object) -> Result:
    if not isinstance(result, Result):
        raise InvalidRunnerResult(
            f"the agent yielded a {type(result).__name__} where a result is wanted; yield what the functions of "
            "`parlour_sdk.results` make, such as results.completed('hello')"
        )
    return result


def _failure(run_id: str, error: BaseException) -> Result:
    """Builds the final result of a failed run. The exception's text stays in the log, since it may hold a secret."""
    if isinstance(error, AgentAPIException):
        logger.warning("run %s failed: %s", run_id, error)
        return results.failed(error.code, error.error.message, error.error.retryable)
    if isinstance(error, InvalidRunnerResult):
        logger.error("run %s failed: %s", run_id, error)
        return results.failed("runner.error", str(error))
    logger.error("run %s failed in the runner's code", run_id, exc_info=error)
    sentence = f"the agent's code failed with {type(error).__name__}; its plugin's log says where"
    return results.failed("runner.error", sentence)
