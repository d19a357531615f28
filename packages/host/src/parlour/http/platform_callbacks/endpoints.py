"""Endpoints that a bot's platform calls or connects to, one address per bot. The bot's adapter authenticates the
requests."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Path, Request, WebSocket
from fastapi.responses import PlainTextResponse

from parlour.core.model.ids import BotId
from parlour.core.platforms.hooks import HookCall, HookResponse, SocketReceiver

from ..errors import not_found
from .sockets import AsgiHookSocket

Hook = Callable[[BotId, HookCall], Awaitable[HookResponse | None]]
FindAdapter = Callable[[BotId], SocketReceiver | None]
BotPath = Annotated[BotId, Path(max_length=64)]


def router(hook: Hook, takes_sockets: FindAdapter) -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    @routes.post("/hooks/{bot_id}")
    async def call_bot(bot_id: BotPath, request: Request) -> PlainTextResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        answer = await hook(bot_id, HookCall(await request.body(), headers))
        if answer is None:
            raise not_found("a bot that is called at this address", "it may be disabled or deleted")
        return PlainTextResponse(answer.text, answer.status)

    @routes.websocket("/hooks/{bot_id}/{path:path}")
    async def connect_to_bot(socket: WebSocket, bot_id: BotPath, path: str) -> None:
        hook_socket = AsgiHookSocket(socket, f"/{path}")
        adapter = takes_sockets(bot_id)
        if adapter is None:
            await hook_socket.refuse(404, "there is no bot at this address that takes WebSockets; it may be disabled")
            return
        await adapter.socket(hook_socket)

    return routes
