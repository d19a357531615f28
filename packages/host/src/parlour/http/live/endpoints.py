"""The live channel: one socket that tells what happens to events, runs, deliveries, plugins, bots and settings."""

import asyncio
import contextlib
from typing import Any

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from pydantic_core import to_json

from parlour.core.observing.board import Board, Watcher

from ..auth import Authenticator
from ..chat.endpoints import REFUSED, refuse
from ..errors import Problem

CHECKED_EVERY = 15.0
"""How long a watcher whose rights were taken away may still look."""


def router(board: Board, authenticator: Authenticator) -> APIRouter:
    routes = APIRouter(tags=["live"])

    @routes.websocket("/live")
    async def live(socket: WebSocket) -> None:
        """Frames are `{"type": "event" | "run" | "delivery" | "denial" | "configuration" | "plugin" | "bot", "id",
        "state", ...}`; `missed` says that some were left out, and that what is shown should be read again."""
        try:
            await authenticator.admit(socket, "viewer")
        except Problem as problem:
            await refuse(socket, problem)
            return
        await socket.accept()
        with board.watching() as watcher:
            await _send(socket, [{"type": "connected"}])
            work = [_tell(socket, watcher), _check(socket, authenticator), _hear(socket)]
            tasks = [asyncio.create_task(each) for each in work]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    return routes


async def _tell(socket: WebSocket, watcher: Watcher) -> None:
    with contextlib.suppress(WebSocketDisconnect):
        while True:
            await _send(socket, await watcher.take())


async def _check(socket: WebSocket, authenticator: Authenticator) -> None:
    while True:
        await asyncio.sleep(CHECKED_EVERY)
        try:
            await authenticator.admit(socket, "viewer")
        except Problem:
            await socket.close(REFUSED + 401)
            return


async def _hear(socket: WebSocket) -> None:
    """Nothing is expected of a watcher but that it stays; `ping` is answered so that it can tell."""
    with contextlib.suppress(WebSocketDisconnect):
        while True:
            text = await socket.receive_text()
            if '"ping"' in text:
                await _send(socket, [{"type": "pong"}])


async def _send(socket: WebSocket, frames: list[dict[str, Any]]) -> None:
    for frame in frames:
        await socket.send_text(to_json(frame).decode())
