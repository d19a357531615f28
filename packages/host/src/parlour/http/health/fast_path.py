"""Serves `GET /healthz` and `GET /readyz` in front of FastAPI, so that polling during the start does not load it.

FastAPI's own routes document them and reject other methods at these paths.
"""

from collections.abc import Callable, MutableMapping
from typing import Any

from starlette.responses import JSONResponse

from ..limits import Application, Receive, Send

Waiting = Callable[[], list[str]]
"""Returns the start steps that are not finished; empty when the Host is ready."""


class HealthLane:
    def __init__(self, app: Application, waiting: Waiting) -> None:
        self._app = app
        self._waiting = waiting

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        asked = scope["path"] if scope["type"] == "http" and scope["method"] == "GET" else ""
        if asked == "/healthz":
            await alive()(scope, receive, send)
        elif asked == "/readyz":
            await readiness(self._waiting())(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def alive() -> JSONResponse:
    return JSONResponse({"status": "ok"})


def readiness(missing: list[str]) -> JSONResponse:
    body = {"status": "waiting", "waiting_for": missing} if missing else {"status": "ready"}
    return JSONResponse(body, 503 if missing else 200)
