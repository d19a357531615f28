"""One address for each bot that its platform calls. Whether a call is genuine, the bot's adapter says."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import PlainTextResponse

from parlour.core.platforms.hooks import HookAnswer, HookCall

from ..errors import not_found

Hook = Callable[[str, HookCall], Awaitable[HookAnswer | None]]


def router(hook: Hook) -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    @routes.post("/hooks/{bot_id}")
    async def call_bot(bot_id: Annotated[str, Path(max_length=64)], request: Request) -> PlainTextResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        answer = await hook(bot_id, HookCall(await request.body(), headers))
        if answer is None:
            raise not_found("a bot that is called at this address", "it may be disabled or deleted")
        return PlainTextResponse(answer.text, answer.status)

    return routes
