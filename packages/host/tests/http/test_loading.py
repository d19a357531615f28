"""The interface is loaded piece by piece, and nobody who asks can tell."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable

import httpx
import pytest
from fastapi import APIRouter, FastAPI

from parlour.http.body_limit import AsgiApp
from parlour.http.domain import Domain, api_domain, path_prefix
from parlour.http.front_controller import FrontController
from parlour.http.health import endpoints as health
from parlour.http.lazy_app import LazyApp


class Made:
    """Which pieces were made, in order."""

    def __init__(self) -> None:
        self.pieces: list[str] = []

    def app(self) -> FastAPI:
        self.pieces.append("application")
        return FastAPI()

    def domain(self, words: str, *paths: str) -> Domain:
        return api_domain(words, lambda: self._router(words, paths))

    def _router(self, words: str, paths: tuple[str, ...]) -> APIRouter:
        self.pieces.append(words)
        routes = APIRouter()
        for path in paths:
            routes.get(path)(_answer(path))
        return routes


def _answer(path: str) -> Callable[[], dict[str, str]]:
    def answer() -> dict[str, str]:
        return {"path": path}

    return answer


def _client(app: AsgiApp) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://host")


@pytest.mark.parametrize(
    ("path", "start"),
    [
        ("/metrics", "/metrics"),
        ("/hooks/bot/more", "/hooks"),
        ("/api/v1/agents", "/api/v1/agents"),
        ("/api/v1/agents/", "/api/v1/agents"),
        ("/api/v1/agents/one/chat/ws", "/api/v1/agents"),
        ("/api/v1", "/api"),
        ("/api/v1/", "/api/v1/"),
        ("/api/v1//agents", "/api/v1/"),
        ("/", "/"),
        ("", ""),
        ("*", "*"),
    ],
)
def test_where_a_path_begins(path: str, start: str) -> None:
    assert path_prefix(path) == start


async def test_a_domain_is_made_with_the_first_request_for_it_and_once() -> None:
    made = Made()
    domains = [made.domain("cats", "/cats/{name}"), made.domain("dogs", "/dogs"), made.domain("cats", "/cats")]
    async with _client(LazyApp(made.app, domains)) as client:
        assert made.pieces == []
        assert (await client.get("/api/v1/birds")).status_code == 404
        assert made.pieces == ["application"]
        together = await asyncio.gather(*(client.get(f"/api/v1/cats/{name}") for name in "abc"))
        assert [each.json() for each in together] == [{"path": "/cats/{name}"}] * 3
        assert (await client.get("/api/v1/cats")).json() == {"path": "/cats"}
        assert made.pieces == ["application", "cats", "cats"]
        assert (await client.get("/api/v1/dogs")).json() == {"path": "/dogs"}
        assert made.pieces == ["application", "cats", "cats", "dogs"]


async def test_a_path_or_method_that_there_is_not_is_refused_as_if_all_were_there() -> None:
    made = Made()
    async with _client(LazyApp(made.app, [made.domain("cats dogs", "/cats", "/dogs")])) as client:
        assert (await client.post("/api/v1/dogs")).status_code == 405
        assert (await client.get("/api/v1/cats/none")).status_code == 404
        moved = await client.get("/api/v1/cats/")
        assert (moved.status_code, moved.headers["location"]) == (307, "http://host/api/v1/cats")
    assert made.pieces == ["application", "cats dogs"]


async def test_a_domain_that_could_not_be_made_is_tried_again() -> None:
    tries = iter([OSError("no more files"), APIRouter()])

    def routes() -> APIRouter:
        tried = next(tries)
        if isinstance(tried, OSError):
            raise tried
        return tried

    async with _client(LazyApp(FastAPI, [api_domain("cats", routes)])) as client:
        with pytest.raises(OSError, match="no more files"):
            await client.get("/api/v1/cats")
        assert (await client.get("/api/v1/cats")).status_code == 404


@pytest.mark.parametrize("missing", [[], ["plugins", "owed work"]])
@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_health_is_the_same_through_the_lane_and_the_framework(path: str, missing: list[str]) -> None:
    made = Made()
    behind = LazyApp(made.app, [Domain(("/healthz", "/readyz"), lambda: health.router(lambda: missing))])
    front = FrontController(None, lambda: missing, None, behind)  # type: ignore[arg-type]
    async with _client(front) as lane, _client(behind) as framework:
        ahead = await lane.get(path)
        assert made.pieces == []
        answer = await framework.get(path)
        assert (ahead.status_code, ahead.json(), ahead.headers) == (answer.status_code, answer.json(), answer.headers)
        assert (await lane.post(path)).status_code == 405


def test_a_start_loads_neither_the_framework_nor_a_domain_nor_what_only_adapters_need() -> None:
    program = "import json, sys, parlour.cli.serve, parlour.app.web.server; print(json.dumps(sorted(sys.modules)))"
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = json.loads(finished.stdout)
    assert "parlour.app.web.server" in loaded
    assert [name for name in loaded if name.partition(".")[0] in ("fastapi", "sqlalchemy", "alembic", "mcp")] == []
    assert [name for name in loaded if name.startswith("parlour.http") and name.endswith("endpoints")] == []
    assert "parlour_sdk.protocol.platform_events" not in loaded
