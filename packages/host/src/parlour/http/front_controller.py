"""Answers every request of the HTTP interface: the few that need no framework here, all others by FastAPI.

Health, the page and `POST /events` are answered in front of FastAPI. Polling during the start therefore does not load
it, and the busiest path does not pay for its routing, dependencies and middleware. FastAPI's own routes document these
paths and reject other methods; tests compare the two.
"""

from collections.abc import Mapping, MutableMapping
from typing import Any

from starlette.responses import Response

from .body_limit import AsgiApp, Receive, Send
from .events.fast_path import EVENTS_PATH, EventFastPath
from .health.responses import PendingStartSteps, healthz_response, readyz_response
from .localization import localized_send
from .page.static_server import PageServer

Scope = MutableMapping[str, Any]


class FrontController:
    """ASGI application of a Host."""

    def __init__(
        self,
        page: PageServer | None,
        pending_steps: PendingStartSteps,
        events: EventFastPath,
        doors: Mapping[str, AsgiApp],
        api: AsgiApp,
    ) -> None:
        """`page`: None serves the HTTP interface alone. `doors`: applications by the first part of their paths. `api`:
        the application for everything else."""
        self._page = page
        self._pending_steps = pending_steps
        self._events = events
        self._doors = doors
        self._api = api

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._api(scope, receive, send)
            return
        response = self._page_response(scope) or self._health_response(scope)
        if response is None:
            send = localized_send(scope, send)
            if scope["path"] == EVENTS_PATH and scope["method"] == "POST":
                response = await self._events.respond(scope, receive)
        await (response or self._door(scope["path"]) or self._api)(scope, receive, send)

    def _door(self, path: str) -> AsgiApp | None:
        """Returns the door that the path belongs to, if any."""
        return next((app for root, app in self._doors.items() if path == root or path.startswith(f"{root}/")), None)

    def _page_response(self, scope: Scope) -> Response | None:
        return self._page.response(scope) if self._page is not None else None

    def _health_response(self, scope: Scope) -> Response | None:
        if scope["method"] == "GET":
            if scope["path"] == "/healthz":
                return healthz_response()
            if scope["path"] == "/readyz":
                return readyz_response(self._pending_steps())
        return None
