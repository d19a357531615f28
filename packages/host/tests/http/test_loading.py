"""Tests that FastAPI and its routes are loaded by the first request for them, and not at startup."""

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
    """Builds an application with one route and counts the builds."""

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


async def test_the_application_is_built_once_by_the_first_request() -> None:
    application = Application()
    async with _client(LazyApp(application.build)) as client:
        assert application.built == 0
        together = await asyncio.gather(*(client.get("/api/v1/cats") for _ in range(3)))
        assert [each.json() for each in together] == [{"path": "cats"}] * 3
        assert (await client.get("/api/v1/dogs")).status_code == 404
    assert application.built == 1


async def test_a_failed_build_is_retried_by_the_next_request() -> None:
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
async def test_the_front_controller_reports_the_same_health_as_the_framework(path: str, missing: list[str]) -> None:
    built: list[FastAPI] = []

    def build() -> FastAPI:
        app = FastAPI()
        app.include_router(health.router(lambda: missing))
        built.append(app)
        return app

    framework_app = LazyApp(build)
    front = FrontController(None, lambda: missing, None, {}, framework_app)  # type: ignore[arg-type]
    async with _client(front) as front_client, _client(framework_app) as framework:
        direct = await front_client.get(path)
        assert built == []
        answer = await framework.get(path)
        assert (direct.status_code, direct.json(), direct.headers) == (
            answer.status_code,
            answer.json(),
            answer.headers,
        )
        assert (await front_client.post(path)).status_code == 405


def test_startup_loads_no_framework_endpoints_or_platform_events() -> None:
    program = "import json, sys, parlour.cli.serve, parlour.app.web.server; print(json.dumps(sorted(sys.modules)))"
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = json.loads(finished.stdout)
    assert "parlour.app.web.server" in loaded
    assert [name for name in loaded if name.partition(".")[0] in ("fastapi", "sqlalchemy", "alembic", "mcp")] == []
    assert [name for name in loaded if name.startswith("parlour.http") and name.endswith("endpoints")] == []
    assert "parlour_sdk.protocol.platform_events" not in loaded
