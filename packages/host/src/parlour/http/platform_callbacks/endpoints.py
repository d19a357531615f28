"""Endpoints that a bot's platform calls or connects to, one address per bot. The bot's adapter authenticates the
requests."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response, WebSocket

from parlour.core.model.ids import BotId
from parlour.core.platforms.hooks import HookCall, HookResponse, SocketReceiver

from ..api_router import ApiRouter
from ..errors import not_found
from .sockets import AsgiHookSocket

Hook = Callable[[BotId, HookCall], Awaitable[HookResponse | None]]
FindAdapter = Callable[[BotId], SocketReceiver | None]
AnswerCheck = Callable[[str], str]
CHECK_FIELD = "parlour_check"
"""Query field of a check by which a Host proves that it answers at the address."""
BotPath = Annotated[BotId, Path(max_length=64)]


def router(hook: Hook, takes_sockets: FindAdapter, answer_check: AnswerCheck = lambda _: "") -> APIRouter:
    """`answer_check` returns the answer to a check of the address that this Host makes itself; empty if it is none."""
    routes = ApiRouter(prefix="", include_in_schema=False)

    @routes.post("/hooks/{bot_id}")
    @routes.get("/hooks/{bot_id}")
    async def call_bot(bot_id: BotPath, request: Request) -> Response:
        check = request.query_params.get(CHECK_FIELD, "") if request.method == "GET" else ""
        if check and (number := answer_check(check)):
            return Response(number, media_type="text/plain")
        answer = await hook(bot_id, await _read_call(request))
        if answer is None:
            raise not_found("a bot that is called at this address", "it may be disabled or deleted")
        return Response(answer.content or answer.text, answer.status, media_type=answer.content_type)

    @routes.websocket("/hooks/{bot_id}/{path:path}")
    async def connect_to_bot(socket: WebSocket, bot_id: BotPath, path: str) -> None:
        hook_socket = AsgiHookSocket(socket, f"/{path}")
        adapter = takes_sockets(bot_id)
        if adapter is None:
            await hook_socket.refuse(404, "there is no bot at this address that takes WebSockets; it may be disabled")
            return
        await adapter.socket(hook_socket)

    return routes


async def _read_call(request: Request) -> HookCall:
    headers = {name.lower(): value for name, value in request.headers.items()}
    query: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        query.setdefault(name, value)
    return HookCall(await request.body(), headers, query, "GET" if request.method == "GET" else "POST")
