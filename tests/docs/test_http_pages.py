"""Tests that the OpenAPI document in the Host and the reference page match the routes."""

import re
from pathlib import Path
from typing import Any

import pytest

from parlour.http import openapi
from tools.http_documents import document
from tools.http_documents.reference import page

STABLE_OPERATIONS = """
GET /healthz /readyz /metrics
GET /info /runners /tools /adapters /adapters/{} /runtimes /audit /stats /feedback /conversations
GET/PUT /settings /auth/me /bots/{}/routes
GET/POST /agents /bots /model-providers /models /mcp-servers /schedules /webhooks /budgets /users /api-keys /auth/setup
GET/PUT/DELETE /agents/{} /bots/{} /model-providers/{} /models/{} /mcp-servers/{} /schedules/{} /webhooks/{} /budgets/{}
GET/PUT/DELETE /users/{} /plugins/{}/{}
DELETE /api-keys/{} /conversations/{}
POST /bots/{}/routes/dry-run /models/{}/test /mcp-servers/{}/test /auth/login /auth/logout
GET/POST /events /approvals/{}
GET /events/{}/why /approvals
GET /runs /runs/{} /runs/{}/events
POST /runs/{}/cancel /runs/{}/rerun
GET /conversations/{}/transcript /artifacts/{} /artifacts/{}/content
POST /files
GET/DELETE /files/{}
GET /plugins /plugins/{}/{}/logs
POST /plugins/install /plugins/{}/{}/restart
GET /agents/{}/chat/{}/messages /agents/{}/chat/connections
POST /agents/{}/chat/{}/reset /agents/{}/chat/broadcast
"""
"""Methods and paths that users and scripts rely on."""
UNPREFIXED = ("/healthz", "/readyz", "/metrics")
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "http.md"


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    return document.made()


def test_the_document_of_a_host_matches_its_routes(made: dict[str, Any]) -> None:
    assert openapi.FILE.read_text(encoding="utf-8") == document.text(made), "it is old; make documents"


def test_the_reference_matches_the_document(made: dict[str, Any]) -> None:
    assert PAGE.read_text(encoding="utf-8") == page(made), "it is old; make documents"


def test_every_response_has_a_named_schema(made: dict[str, Any]) -> None:
    unnamed = [
        f"{method} {path} {status}"
        for path, methods in made["paths"].items()
        for method, operation in methods.items()
        for status, answer in operation["responses"].items()
        if "schema" in (content := answer.get("content", {}).get("application/json", {})) and _is_loose(content)
    ]

    assert unnamed == []


def test_every_operation_has_a_name_and_its_permissions(made: dict[str, Any]) -> None:
    operations = [operation for methods in made["paths"].values() for operation in methods.values()]
    names = [operation["operationId"] for operation in operations]

    assert len(names) > 100
    assert len(set(names)) == len(names)
    assert all("x-needs" in operation and operation["tags"] for operation in operations)


def test_the_page_about_http_names_every_path(made: dict[str, Any]) -> None:
    page = re.sub(r"{\w+}", "{}", (PAGE.parents[1] / "operate" / "http.md").read_text(encoding="utf-8"))
    paths = [re.sub(r"{\w+}", "{}", path.removeprefix("/api/v1")) for path in made["paths"]]

    assert [path for path in paths if path not in page] == []


def test_every_stable_operation_exists(made: dict[str, Any]) -> None:
    other_chat = {
        f"{method.upper()} {re.sub(r'{[^}]+}', '{}', path)}"
        for path, methods in made["paths"].items()
        for method in methods
    }
    promised = {
        f"{method} {path if path in UNPREFIXED else f'/api/v1{path}'}"
        for line in STABLE_OPERATIONS.strip().splitlines()
        for method in line.split()[0].split("/")
        for path in line.split()[1:]
    }

    assert promised - other_chat == set()


def _is_loose(content: dict[str, Any]) -> bool:
    schema = content["schema"]
    return "$ref" not in schema and "anyOf" not in schema
