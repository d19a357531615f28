"""The live channel: a socket that reports changes of events, runs, deliveries, approvals, plugins, bots and settings.
It requires the viewer scope, since it reports only what viewers may read."""

import asyncio
import contextlib

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from pydantic import BaseModel, Field, ValidationError
from pydantic_core import to_json

from parlour.core.observability.live_feed import Frame, LiveFeed, LiveSubscriber

from ..api_router import ApiRouter
from ..chat.sockets import REFUSED_CLOSE_CODE_BASE, refuse_socket
from ..errors import Problem
from ..principals import Authenticator

ACCESS_CHECK_INTERVAL_SECONDS = 15.0
"""Seconds between checks of the subscriber's rights; revoked access ends after at most this time."""


class LiveQuery(BaseModel):
    """Query parameters of the live socket. `after` resumes: frames since that `seq` are sent first."""

    after: int | None = Field(default=None, ge=0)


def router(feed: LiveFeed, authenticator: Authenticator) -> APIRouter:
    routes = ApiRouter(tags=["live"])

    @routes.websocket("/live")
    async def live(socket: WebSocket) -> None:
        """Sends frames `{"type", "id", "state", "seq", ...}`; docs/operate/http.md lists them."""
        try:
            await authenticator.authorize(socket, "viewer")
            query = LiveQuery.model_validate(dict(socket.query_params))
        except (Problem, ValidationError) as problem:
            await refuse_socket(socket, problem)
            return
        await socket.accept()
        with feed.subscribe(query.after) as watcher:
            work = [_send_frames(socket, watcher), _recheck_access(socket, authenticator), _answer_pings(socket)]
            tasks = [asyncio.create_task(each) for each in work]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    return routes


async def _send_frames(socket: WebSocket, watcher: LiveSubscriber) -> None:
    with contextlib.suppress(WebSocketDisconnect):
        while True:
            for frame in await watcher.receive():
                await _send(socket, frame)


async def _recheck_access(socket: WebSocket, authenticator: Authenticator) -> None:
    while True:
        await asyncio.sleep(ACCESS_CHECK_INTERVAL_SECONDS)
        try:
            await authenticator.authorize(socket, "viewer")
        except Problem as problem:
            await socket.close(REFUSED_CLOSE_CODE_BASE + problem.status)
            return


async def _answer_pings(socket: WebSocket) -> None:
    """Answers `ping`, so that a client can check the connection. All other frames of a client are ignored."""
    with contextlib.suppress(WebSocketDisconnect):
        while True:
            text = await socket.receive_text()
            if '"ping"' in text:
                await _send(socket, {"type": "pong"})


async def _send(socket: WebSocket, frame: Frame) -> None:
    await socket.send_text(to_json(frame).decode())
