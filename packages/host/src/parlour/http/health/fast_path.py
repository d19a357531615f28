"""Serves `GET /healthz` and `GET /readyz` in front of FastAPI, so that polling during the start does not load it.

FastAPI's own routes document them and reject other methods at these paths.
"""

from collections.abc import Callable, MutableMapping
from typing import Any

from starlette.responses import JSONResponse

from ..body_limit import AsgiApp, Receive, Send

PendingStartSteps = Callable[[], list[str]]
"""Returns the start steps that are not finished; empty when the Host is ready."""


class HealthFastPath:
    def __init__(self, app: AsgiApp, waiting: PendingStartSteps) -> None:
        self._app = app
        self._waiting = waiting

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        asked = scope["path"] if scope["type"] == "http" and scope["method"] == "GET" else ""
        if asked == "/healthz":
            await healthz_response()(scope, receive, send)
        elif asked == "/readyz":
            await readyz_response(self._waiting())(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def healthz_response() -> JSONResponse:
    return JSONResponse({"status": "ok"})


def readyz_response(missing: list[str]) -> JSONResponse:
    body = {"status": "waiting", "waiting_for": missing} if missing else {"status": "ready"}
    return JSONResponse(body, 503 if missing else 200)
