"""FastAPI and its routes are loaded with the first request for them, once, and not by a start."""

import asyncio
import json
import subprocess
import sys

import httpx
import pytest
from fastapi import FastAPI

from parlour.http.body_limit import AsgiApp
from parlour.http.front_controller import FrontController
from parlour.http.health import endpoints as health
from parlour.http.lazy_app import LazyApp


class Application:
    """Builds an application with one route, and counts how often."""

    def __init__(self) -> None:
        self.built = 0

    def build(self) -> FastAPI:
        self.built += 1
        app = FastAPI()

        @app.get("/api/v1/cats")
        def read_cats() -> dict[str, str]:
            return {"path": "cats"}

        return app


def _client(app: AsgiApp) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://host")


async def test_the_application_is_built_by_the_first_request_and_once() -> None:
    application = Application()
    async with _client(LazyApp(application.build)) as client:
        assert application.built == 0
        together = await asyncio.gather(*(client.get("/api/v1/cats") for _ in range(3)))
        assert [each.json() for each in together] == [{"path": "cats"}] * 3
        assert (await client.get("/api/v1/dogs")).status_code == 404
    assert application.built == 1


async def test_an_application_that_could_not_be_built_is_tried_again() -> None:
    tries = iter([OSError("no more files"), FastAPI()])

    def build() -> FastAPI:
        tried = next(tries)
        if isinstance(tried, OSError):
            raise tried
        return tried

    async with _client(LazyApp(build)) as client:
        with pytest.raises(OSError, match="no more files"):
            await client.get("/api/v1/cats")
        assert (await client.get("/api/v1/cats")).status_code == 404


@pytest.mark.parametrize("missing", [[], ["plugins", "owed work"]])
@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_health_is_the_same_from_the_front_and_from_the_framework(path: str, missing: list[str]) -> None:
    built: list[FastAPI] = []

    def build() -> FastAPI:
        app = FastAPI()
        app.include_router(health.router(lambda: missing))
        built.append(app)
        return app

    behind = LazyApp(build)
    front = FrontController(None, lambda: missing, None, behind)  # type: ignore[arg-type]
    async with _client(front) as lane, _client(behind) as framework:
        ahead = await lane.get(path)
        assert built == []
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
