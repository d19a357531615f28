"""The AG-UI door: web front ends run a published agent and read its events."""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, Router

from parlour.core.model.doors import Door

from ...errors import Problem
from ..context import DoorContext, language_of
from ..streaming import SseResponse
from ..turns import TurnRequest
from .events import EventWriter, run_error
from .inputs import parse_run

_DOOR: Door = "agui"


class AgUiDoor:
    def __init__(self, context: DoorContext) -> None:
        self._context = context

    def app(self) -> Router:
        routes = [Route("/agui/{agent_id}", self._run, methods=["POST"])]
        return Router(routes, default=self._not_found, redirect_slashes=False)

    async def _run(self, request: Request) -> Response:
        """Begins a run, or finds the one that the same `runId` began, and streams it from its beginning."""
        try:
            principal = await self._context.access.admit(request, _DOOR)
            agent = self._context.access.agent(_DOOR, request.path_params["agent_id"])
            run = parse_run(await self._context.read_body(request))
            language = language_of(request)
            turn = await self._context.begin(
                TurnRequest(_DOOR, agent, principal, run.event_input, run.thread_id, run.run_id, language)
            )
        except Exception as error:  # noqa: BLE001 - the boundary of the door: every error has this standard's form
            return _failure(self._context.refuse(_DOOR, error))
        stream = self._context.stream(request, turn)
        writer = EventWriter(turn.seq, run, self._context.public_address(request))
        return SseResponse(stream, writer.events(stream))

    async def _not_found(self, scope: Any, receive: Any, send: Any) -> None:
        problem = Problem(404, "not_found", "there is nothing here; run an agent with POST /agui/AGENT_ID")
        await _failure(problem)(scope, receive, send)


def _failure(problem: Problem) -> JSONResponse:
    """Returns the response to a request that began no run: the standard's event of a failure, with an HTTP status."""
    headers = {"www-authenticate": "Bearer"} if problem.status == 401 else {}
    details = problem.details if isinstance(problem.details, dict) else {}
    if "retry_after" in details:
        headers["retry-after"] = str(max(1, round(details["retry_after"])))
    return JSONResponse(run_error(problem), problem.status, headers)
