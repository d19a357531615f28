"""The OpenAI-compatible door: each published agent is a model."""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, Router

from parlour.core.model.agent import Agent
from parlour.core.model.doors import Door
from parlour.core.model.event import RecordedEvent

from ...errors import Problem
from ...principals import Principal
from ..context import IDEMPOTENCY_HEADER, SESSION_HEADER, DoorContext, header, language_of
from ..failures import problem_of_turn
from ..streaming import SseResponse
from ..turns import Turn, TurnRequest
from . import schemas
from .chat import ChatWriter, model_missing
from .errors import error_response
from .responses import ResponseWriter, parse_response_id

Handler = Callable[[Request], Awaitable[Response]]
_DOOR: Door = "openai"


class OpenAiDoor:
    def __init__(self, context: DoorContext) -> None:
        self._context = context

    def app(self) -> Router:
        return Router(
            [
                self._route("/v1/models", self.list_models, "GET"),
                self._route("/v1/models/{model:path}", self.read_model, "GET"),
                self._route("/v1/chat/completions", self.complete, "POST"),
                self._route("/v1/responses", self.respond, "POST"),
                self._route("/v1/responses/{response_id}", self.read_response, "GET"),
                self._route("/v1/responses/{response_id}/cancel", self.cancel_response, "POST"),
            ],
            default=self._not_found,
            redirect_slashes=False,
        )

    async def list_models(self, request: Request) -> Response:
        await self._context.access.admit(request, _DOOR)
        named = self._context.access.agents.named(_DOOR)
        return JSONResponse({"object": "list", "data": [_model(name) for name, _ in named]})

    async def read_model(self, request: Request) -> Response:
        await self._context.access.admit(request, _DOOR)
        name = request.path_params["model"]
        self._agent(name)
        return JSONResponse(_model(name))

    async def complete(self, request: Request) -> Response:
        principal = await self._context.access.admit(request, _DOOR)
        body: schemas.ChatRequest = schemas.parse_body(await self._context.read_body(request), schemas.ChatRequest)
        session = body.session(header(request, SESSION_HEADER))
        event_input = schemas.event_input(body.messages, bool(session), "messages")
        turn = await self._begin(request, principal, self._agent(body.model), session, event_input)
        writer = ChatWriter(turn, body.model, self._now(), self._context.public_address(request))
        stream = self._context.stream(request, turn)
        if not body.stream:
            return JSONResponse(writer.completion(await stream.end(request)))
        if (failure := await stream.find_early_failure()) is not None:
            await stream.aclose()
            raise problem_of_turn(failure)
        include_usage = bool(body.stream_options and body.stream_options.include_usage)
        return SseResponse(stream, writer.chunks(stream, include_usage))

    async def respond(self, request: Request) -> Response:
        principal = await self._context.access.admit(request, _DOOR)
        body: schemas.ResponsesRequest = schemas.parse_body(
            await self._context.read_body(request), schemas.ResponsesRequest
        )
        session = body.session(header(request, SESSION_HEADER))
        agent = self._agent(body.model)
        if body.previous_response_id:
            session = await self._previous_session(body.previous_response_id, agent, principal)
        given = [{"role": "user", "content": body.input}] if isinstance(body.input, str) else body.input
        messages = [each for each in given if each.get("type", "message") == "message"]
        event_input = schemas.event_input(messages, bool(session), "input")
        turn = await self._begin(request, principal, agent, session, event_input)
        writer = ResponseWriter(
            turn, body.model, self._now(), self._context.public_address(request), body.previous_response_id
        )
        if body.background and not body.stream:
            return JSONResponse(writer.unfinished())
        stream = self._context.stream(request, turn)
        if body.stream:
            if (failure := await stream.find_early_failure()) is not None:
                await stream.aclose()
                raise problem_of_turn(failure)
            return SseResponse(stream, writer.events(stream, -1))
        end = await stream.end(request)
        if end.failed and not end.messages:
            raise problem_of_turn(end)
        return JSONResponse(writer.finished(end))

    async def read_response(self, request: Request) -> Response:
        """Answers with a response that was begun earlier, or streams it again from a number on."""
        principal = await self._context.access.admit(request, _DOOR)
        event, writer = await self._found(request, principal)
        if request.query_params.get("stream") == "true":
            stream = self._context.stream(request, Turn.of_event(event))
            return SseResponse(stream, writer.events(stream, _starting_after(request)))
        end = await self._context.turns.result_if_over(Turn.of_event(event))
        return JSONResponse(writer.finished(end) if end is not None else writer.unfinished())

    async def cancel_response(self, request: Request) -> Response:
        principal = await self._context.access.admit(request, _DOOR)
        event, writer = await self._found(request, principal)
        turn = Turn.of_event(event)
        await self._context.cancel_turn(_DOOR, turn, principal)
        return JSONResponse(writer.finished(await self._context.turns.result(turn)))

    async def _begin(
        self, request: Request, principal: Principal, agent: Agent, session: str, event_input: dict[str, Any]
    ) -> Turn:
        key = header(request, IDEMPOTENCY_HEADER)
        language = language_of(request)
        return await self._context.begin(TurnRequest(_DOOR, agent, principal, event_input, session, key, language))

    def _agent(self, model: str) -> Agent:
        agent = self._context.access.agents.find(_DOOR, model)
        if agent is None:
            raise model_missing(model)
        return agent

    async def _previous_session(self, name: str, agent: Agent, principal: Principal) -> str:
        event = await self._context.turns.find(_DOOR, parse_response_id(name), principal)
        if event is None or event.envelope.agent_id != agent.agent_id:
            raise Problem(404, "previous_response_not_found", f"there is no response '{name}' of this model")
        return event.envelope.chat

    async def _found(self, request: Request, principal: Principal) -> tuple[RecordedEvent, ResponseWriter]:
        name = request.path_params["response_id"]
        event = await self._context.turns.find(_DOOR, parse_response_id(name), principal)
        if event is None:
            raise Problem(404, "not_found", f"there is no response '{name[:100]}'")
        named = {agent.agent_id: model for model, agent in self._context.access.agents.named(_DOOR)}
        model = named.get(event.envelope.agent_id, event.envelope.agent_id)
        address = self._context.public_address(request)
        return event, ResponseWriter(Turn.of_event(event), model, event.created_at // 1000, address)

    def _route(self, path: str, handler: Handler, method: str) -> Route:
        async def handle(request: Request) -> Response:
            try:
                return await handler(request)
            except Exception as error:  # noqa: BLE001 - the boundary of the door: every error has this standard's form
                problem = self._context.refuse(_DOOR, error)
                return error_response(problem, repeatable=problem.code in ("rate_limited", "stopping"))

        return Route(path, handle, methods=[method])

    async def _not_found(self, scope: Any, receive: Any, send: Any) -> None:
        problem = Problem(404, "not_found", f"there is nothing at {scope['path'][:200]}")
        await error_response(problem, repeatable=False)(scope, receive, send)

    def _now(self) -> int:
        return self._context.clock.now() // 1000


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "parlour"}


def _starting_after(request: Request) -> int:
    number = request.query_params.get("starting_after", "-1")
    try:
        return int(number)
    except ValueError:
        raise Problem(400, "invalid_value", "starting_after must be a number", {"param": "starting_after"}) from None
