"""Tests that the fast path for events gives the same responses as the route of the framework."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from parlour.app.core import build_core
from parlour.app.core_ports import CorePorts
from parlour.core.access.browser_sessions import BrowserSessions
from parlour.core.access.keys import SCOPES, ApiKeys
from parlour.core.model.agent import Agent
from parlour.core.model.ports import ResultStream
from parlour.core.observability.explain.explanations import Explanations
from parlour.core.pagination import Cursors
from parlour.core.redaction import Redactor
from parlour.core.system import SystemClock, SystemIds
from parlour.http.allowed_hosts import AllowedHosts
from parlour.http.errors import ErrorResponses
from parlour.http.events import endpoints
from parlour.http.events.fast_path import EventFastPath
from parlour.http.events.service import EventInjector, EventResults, EventService
from parlour.http.fastapi_app import create_app
from parlour.http.front_controller import FrontController
from parlour.http.health import endpoints as health
from parlour.http.pagination import Pages
from parlour.http.principals import Authenticator
from parlour.testing import MemoryJournal

BODY_BYTES = 4096
GOOD = {"agent_id": "agent", "event_id": "one", "conversation_id": "chat", "input": {"text": "hello"}}


class NoPlugins:
    def run_agent(self, plugin_id: str, request: dict[str, object]) -> ResultStream:
        raise AssertionError("nothing is to be run here")

    async def call(self, plugin_id: str, action: str, data: dict[str, Any], timeout: float) -> dict[str, Any]:
        raise AssertionError("nothing is to be called here")

    async def stream(self, plugin_id: str, action: str, data: dict[str, Any]) -> ResultStream:
        raise AssertionError("nothing is to be called here")


@dataclass
class Clients:
    fast_path: httpx.AsyncClient
    route: httpx.AsyncClient
    keys: dict[str, str]

    async def both(self, **request: Any) -> tuple[httpx.Response, httpx.Response]:
        path = request.pop("path", "/api/v1/events")
        return await self.fast_path.post(path, **request), await self.route.post(path, **request)


@pytest.fixture
async def clients() -> AsyncIterator[Clients]:
    journal, clock, ids = MemoryJournal(), SystemClock(), SystemIds()
    core = build_core(CorePorts(journal, NoPlugins(), clock, ids))
    await core.agents.add(Agent("agent", "Agent", "plugin:acme/hello/default"))
    keys = ApiKeys(journal, ids, clock)
    authenticator = Authenticator(keys, BrowserSessions(journal, clock), AllowedHosts("127.0.0.1", ()))
    service = EventService(
        EventInjector(core.gateway, core.agents, core.bots, core.routes, ids, clock),
        EventResults(journal, core.outcomes),
    )
    pages, trails = Pages(journal, Cursors("database")), Explanations(journal, SystemClock())
    routers = [health.router(list), endpoints.router(service, pages, trails)]
    responses = ErrorResponses(Redactor())
    framework = create_app("0", authenticator, responses, BODY_BYTES, BODY_BYTES, routers)
    front = FrontController(None, list, EventFastPath(service, authenticator, responses, BODY_BYTES), {}, framework)
    secrets = {scope: (await keys.create(scope, scope))[0] for scope in SCOPES}
    async with (
        httpx.AsyncClient(transport=httpx.ASGITransport(front), base_url="http://fast") as fast,
        httpx.AsyncClient(transport=httpx.ASGITransport(framework), base_url="http://route") as route,
    ):
        yield Clients(fast, route, secrets)


@pytest.mark.parametrize(
    ("status", "request_"),
    [
        (401, {"json": GOOD, "key": ""}),
        (401, {"json": GOOD, "key": "Bearer nobody"}),
        (401, {"json": GOOD, "key": "Basic abc"}),
        (403, {"json": GOOD, "key": "viewer"}),
        (404, {"json": {**GOOD, "agent_id": "nobody"}}),
        (404, {"json": {"bot_id": "nobody", "input": {"text": "hello"}}}),
        (422, {"json": {"input": {"text": "hello"}}}),
        (422, {"json": {**GOOD, "colour": "red"}}),
        (422, {"json": {**GOOD, "input": {"text": 5}}}),
        (422, {"json": {**GOOD, "event_type": "Not A Type"}}),
        (422, {"json": {**GOOD, "actor": {"actor_id": ""}}}),
        (422, {"json": GOOD, "path": "/api/v1/events?wait=forever"}),
        (422, {"json": GOOD, "path": "/api/v1/events?timeout=soon"}),
        (413, {"json": {**GOOD, "input": {"text": "x" * BODY_BYTES}}}),
    ],
)
async def test_a_refusal_of_the_fast_path_equals_that_of_the_route(
    clients: Clients, status: int, request_: dict[str, Any]
) -> None:
    request = dict(request_)
    key = request.pop("key", "chat")
    request["headers"] = {"Authorization": f"Bearer {clients.keys[key]}" if key in clients.keys else key}
    fast, route = await clients.both(**request)
    assert fast.status_code == route.status_code == status
    fast_error, route_error = fast.json()["error"], route.json()["error"]
    assert fast_error["code"] == route_error["code"]
    assert _fields(fast_error) == _fields(route_error)


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b"nonsense", b"\xff\xfe", b'{"input": {"text": "\\ud800"}}'])
async def test_an_invalid_body_is_refused_by_fast_path_and_route(clients: Clients, body: bytes) -> None:
    headers = {"Authorization": f"Bearer {clients.keys['chat']}", "Content-Type": "application/json"}
    fast, route = await clients.both(content=body, headers=headers)
    assert fast.status_code == 422
    assert 400 <= route.status_code < 500
    assert fast.json()["error"]["code"] == "invalid_argument"


async def test_an_event_sent_to_fast_path_and_route_is_one_event(clients: Clients) -> None:
    fast, route = await clients.both(json=GOOD, headers={"Authorization": f"Bearer {clients.keys['chat']}"})
    assert fast.status_code == route.status_code == 202
    first, again = fast.json(), route.json()
    assert (first.pop("duplicate"), again.pop("duplicate")) == (False, True)
    assert first == again == {**first, "event_id": "one", "seq": 1}


def _fields(error: dict[str, Any]) -> list[str]:
    """Returns the names of the fields. The framework puts those of the query under `query.`."""
    fields = json.loads(json.dumps(error["details"] or {})).get("fields", ())
    return [field["field"].removeprefix("query.") for field in fields]
