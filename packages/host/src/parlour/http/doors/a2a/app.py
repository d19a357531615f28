"""The A2A door: each published agent has a card and is called with JSON-RPC, in the versions 1.0 and 0.3."""

import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, Router

from parlour.core.model.agent import Agent
from parlour.core.model.doors import Door

from ...errors import Problem
from ...principals import Principal
from ..context import DoorContext
from ..streaming import KEEP_ALIVE, SseResponse, UpdateStream, sse_data
from ..turns import Turn, TurnRequest
from . import errors, version_0_3
from .calls import TaskCalls
from .card import agent_card
from .errors import A2aProblem
from .messages import MessageParts, event_input
from .tasks import TaskWriter

Json = dict[str, Any]
_DOOR: Door = "a2a"
VERSION_HEADER = "a2a-version"
_PUSH_METHODS = frozenset(name for name in version_0_3.METHODS.values() if "PushNotification" in name)
MAX_ID_CHARACTERS = 200


class A2aDoor:
    def __init__(self, context: DoorContext, calls: TaskCalls, parts: MessageParts) -> None:
        self._context = context
        self._calls = calls
        self._parts = parts

    def app(self) -> Router:
        return Router(
            [
                Route("/a2a/{agent_id}/.well-known/agent-card.json", self._card, methods=["GET"]),
                Route("/a2a/{agent_id}/.well-known/agent.json", self._card, methods=["GET"]),
                Route("/a2a/{agent_id}/rpc", self._rpc, methods=["POST"]),
            ],
            default=self._nothing,
            redirect_slashes=False,
        )

    async def _card(self, request: Request) -> Response:
        try:
            _, agent = await self._admit(request)
            return JSONResponse(agent_card(agent, self._context.public_address(request)))
        except Exception as error:  # noqa: BLE001 - the boundary of the door: every error has this standard's form
            return self._failure(error, None)

    async def _rpc(self, request: Request) -> Response:
        request_id: Any = None
        try:
            principal, agent = await self._admit(request)
            call = _parse(await self._context.read_body(request))
            request_id = call.get("id")
            method, is_old = _method(call, request.headers.get(VERSION_HEADER, ""))
            params = version_0_3.to_params(call["params"]) if is_old else call["params"]
            answer = _Answer(request_id, is_old)
            return await self._call(method, params, _Caller(request, principal, agent), answer)
        except Exception as error:  # noqa: BLE001 - the boundary of the door: every error has this standard's form
            return self._failure(error, request_id)

    async def _call(self, method: str, params: Json, caller: "_Caller", answer: "_Answer") -> Response:
        writer = TaskWriter(self._parts, self._context.public_address(caller.request), self._context.clock)
        match method:
            case "SendMessage":
                turn = await self._begin(params, caller)
                if (params.get("configuration") or {}).get("returnImmediately"):
                    return answer.json({"task": writer.working(turn)})
                end = await self._context.stream(caller.request, turn).end(caller.request)
                return answer.json({"task": await writer.ended(turn, end)})
            case "SendStreamingMessage":
                turn = await self._begin(params, caller)
                return self._stream(turn, writer, caller, answer)
            case "SubscribeToTask":
                turn = await self._calls.find(params.get("id"), caller.agent, caller.principal)
                if await self._context.turns.result_if_over(turn) is not None:
                    raise A2aProblem(errors.UNSUPPORTED, "task_ended", "this task has ended; read it with GetTask")
                return self._stream(turn, writer, caller, answer)
            case "GetTask":
                turn = await self._calls.find(params.get("id"), caller.agent, caller.principal)
                return answer.json(await self._calls.read(turn, writer))
            case "ListTasks":
                return answer.json(await self._calls.list_page(params, caller.agent, caller.principal, writer))
            case "CancelTask":
                turn = await self._calls.find(params.get("id"), caller.agent, caller.principal)
                if await self._context.turns.result_if_over(turn) is not None:
                    raise A2aProblem(errors.NOT_CANCELABLE, "task_ended", "this task has ended")
                await self._context.cancel_turn(_DOOR, turn, caller.principal)
                return answer.json(await self._calls.read(turn, writer))
            case "GetExtendedAgentCard":
                raise A2aProblem(errors.NO_EXTENDED_CARD, "not_supported", "there is no further card")
            case _ if method in _PUSH_METHODS:
                message = "there are no push notifications; stream the task, or read it again"
                raise A2aProblem(errors.NO_PUSH_NOTIFICATIONS, "not_supported", message)
        raise A2aProblem(errors.UNKNOWN_METHOD, "not_supported", f"there is no method '{method[:100]}'")

    def _stream(self, turn: Turn, writer: TaskWriter, caller: "_Caller", answer: "_Answer") -> Response:
        stream = UpdateStream(self._context.turns.follow(turn), lambda: None)  # a task outlives its connection
        return SseResponse(stream, answer.lines(writer.events(turn, stream)))

    async def _begin(self, params: Json, caller: "_Caller") -> Turn:
        message = params.get("message")
        if not isinstance(message, dict):
            raise errors.invalid("message", "a message is needed")
        if (params.get("configuration") or {}).get("taskPushNotificationConfig"):
            raise A2aProblem(errors.NO_PUSH_NOTIFICATIONS, "not_supported", "there are no push notifications")
        if message.get("taskId"):
            await self._calls.find(message["taskId"], caller.agent, caller.principal)
            text = "a task takes no further messages; send them with its contextId alone"
            raise A2aProblem(errors.UNSUPPORTED, "not_supported", text)
        session = _name(message, "contextId")
        if session:
            await self._calls.check_context(session, caller.agent, caller.principal)
        request_id = _name(message, "messageId")
        turn_request = TurnRequest(_DOOR, caller.agent, caller.principal, event_input(message), session, request_id)
        return await self._context.begin(turn_request)

    async def _admit(self, request: Request) -> tuple[Principal, Agent]:
        principal = await self._context.access.admit(request, _DOOR)
        return principal, self._context.access.agent(_DOOR, request.path_params["agent_id"])

    def _failure(self, error: Exception, request_id: Any) -> Response:
        problem = self._context.refuse(_DOOR, error) if not isinstance(error, A2aProblem) else error
        if isinstance(error, A2aProblem):
            self._context.access.count(_DOOR, error.code)
        headers = {"www-authenticate": "Bearer"} if problem.status == 401 else None
        body = errors.rpc_error(problem, errors.number_of(problem), request_id)
        return JSONResponse(body, problem.status, headers)

    async def _nothing(self, scope: Any, receive: Any, send: Any) -> None:
        await self._failure(Problem(404, "not_found", "there is nothing at this path"), None)(scope, receive, send)


class _Caller:
    """Who calls which agent."""

    def __init__(self, request: Request, principal: Principal, agent: Agent) -> None:
        self.request = request
        self.principal = principal
        self.agent = agent


class _Answer:
    """Writes results in the version of the request."""

    def __init__(self, request_id: Any, is_old: bool) -> None:
        self._request_id = request_id
        self._is_old = is_old

    def json(self, result: Json) -> JSONResponse:
        return JSONResponse(self._envelope(result))

    async def lines(self, events: AsyncGenerator[Json | None, None]) -> AsyncGenerator[bytes, None]:
        async for event in events:
            yield KEEP_ALIVE if event is None else sse_data(self._envelope(event))

    def _envelope(self, result: Json) -> Json:
        body = version_0_3.from_result(result) if self._is_old else result
        return {"jsonrpc": "2.0", "id": self._request_id, "result": body}


def _parse(body: bytes) -> Json:
    try:
        call = json.loads(body)
    except (ValueError, RecursionError):
        raise A2aProblem(-32700, "invalid_json", "the body is not JSON") from None
    is_call = isinstance(call, dict) and isinstance(call.get("method"), str)
    if not is_call or not isinstance(call.get("params", {}), dict):
        raise A2aProblem(-32600, "invalid_request", "the body must be a request of JSON-RPC 2.0 with method and params")
    return {"params": {}, **call}


def _method(call: Json, version: str) -> tuple[str, bool]:
    """Returns the method's name in 1.0, and whether the client speaks 0.3, which has names of its own."""
    if version and not version.startswith(("1.", "0.3")):
        message = f"the version {version[:20]} is not spoken; there are 1.0 and 0.3"
        raise A2aProblem(errors.VERSION_NOT_SUPPORTED, "version_not_supported", message)
    name: str = call["method"]
    return version_0_3.METHODS.get(name, name), name in version_0_3.METHODS


def _name(message: Mapping[str, Any], field: str) -> str:
    value = message.get(field) or ""
    if not isinstance(value, str) or len(value) > MAX_ID_CHARACTERS:
        raise errors.invalid(f"message.{field}", f"it must be a text of at most {MAX_ID_CHARACTERS} characters")
    return value
