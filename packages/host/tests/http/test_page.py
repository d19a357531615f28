"""Tests that browsers get the page with cache and security headers, and that other clients get the HTTP interface."""

import gzip
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from parlour.http.body_limit import Receive, Send
from parlour.http.page.static_server import PageServer

BROWSER = {"accept": "text/html,application/xhtml+xml"}
SCRIPT = b"export const answer = 42;\n" * 40


async def everything(request: object) -> JSONResponse:
    return JSONResponse({"from": "the interface"})


def client(folder: Path) -> TestClient:
    interface = Starlette(routes=[Route("/{path:path}", everything, methods=["GET", "POST"])])
    page = PageServer(folder)

    async def front(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        await ((page.response(scope) if scope["type"] == "http" else None) or interface)(scope, receive, send)

    return TestClient(front)


@pytest.fixture
def built(tmp_path: Path) -> Iterator[TestClient]:
    (tmp_path / "page" / "assets").mkdir(parents=True)
    (tmp_path / "page" / "index.html").write_text("<!doctype html><title>Parlour</title>")
    (tmp_path / "page" / "assets" / "main-abc123.js").write_bytes(SCRIPT)
    (tmp_path / "page" / "assets" / "main-abc123.js.gz").write_bytes(gzip.compress(SCRIPT))
    (tmp_path / "secret.txt").write_text("not the page's")
    with client(tmp_path / "page") as opened:
        yield opened


@pytest.mark.parametrize("path", ["/", "/chat", "/runs/01a1", "/no/such/place"])
def test_a_browser_gets_the_page_at_every_path(built: TestClient, path: str) -> None:
    answer = built.get(path, headers=BROWSER)
    assert answer.status_code == 200
    assert "<title>Parlour</title>" in answer.text
    assert answer.headers["cache-control"] == "no-cache"


def test_the_security_policy_forbids_inline_scripts_and_foreign_sources(built: TestClient) -> None:
    headers = built.get("/").headers
    policy = dict(each.split(" ", 1) for each in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert "http" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def test_a_file_with_a_hash_in_its_name_is_cached_permanently(built: TestClient) -> None:
    answer = built.get("/assets/main-abc123.js", headers={"accept-encoding": "identity"})
    assert answer.content == SCRIPT
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "content-encoding" not in answer.headers


def test_a_client_that_accepts_gzip_gets_the_compressed_file(built: TestClient) -> None:
    answer = built.get("/assets/main-abc123.js", headers={"accept-encoding": "gzip, br"})
    assert answer.headers["content-encoding"] == "gzip"
    assert int(answer.headers["content-length"]) < len(SCRIPT)
    assert answer.content == SCRIPT
    assert answer.headers["vary"] == "accept-encoding"


def test_an_unchanged_page_is_answered_with_304(built: TestClient) -> None:
    etag = built.get("/", headers=BROWSER).headers["etag"]
    answer = built.get("/", headers={**BROWSER, "if-none-match": etag})
    assert answer.status_code == 304
    assert answer.content == b""
    assert answer.headers["etag"] == etag


@pytest.mark.parametrize("path", ["/api/v1/agents", "/healthz", "/readyz", "/metrics"])
def test_paths_of_the_interface_are_not_served_as_the_page(built: TestClient, path: str) -> None:
    assert built.get(path, headers=BROWSER).json() == {"from": "the interface"}


def test_a_request_that_does_not_accept_html_gets_no_page(built: TestClient) -> None:
    assert built.get("/assets/gone-123.js").json() == {"from": "the interface"}
    assert built.post("/chat", headers=BROWSER).json() == {"from": "the interface"}


@pytest.mark.parametrize(
    "path", ["/../secret.txt", "/assets/../../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt"]
)
def test_files_outside_the_page_are_not_served(built: TestClient, path: str) -> None:
    assert "not the page's" not in built.get(path).text


def test_a_host_without_a_built_page_says_how_to_build_it(tmp_path: Path) -> None:
    with client(tmp_path / "page") as opened:
        answer = opened.get("/", headers=BROWSER)
        assert answer.status_code == 503
        assert "make web" in answer.text
        assert opened.get("/chat", headers=BROWSER).json() == {"from": "the interface"}


def test_a_page_that_is_built_while_the_host_runs_is_served_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "page"
    with client(folder) as opened:
        assert opened.get("/").status_code == 503
        (folder / "assets").mkdir(parents=True)
        (folder / "assets" / "main-new.js").write_bytes(SCRIPT)
        (folder / "index.html").write_text("<script src=/assets/main-new.js></script>")
        assert "main-new" in opened.get("/").text
        assert opened.get("/assets/main-new.js").content == SCRIPT
