"""Compares responses with the OpenAPI document. A response that the document does not describe fails the test."""

import json
import re
from functools import cache
from typing import Any

import httpx
import jsonschema_rs

from parlour.http import openapi

OUTDATED_HINT = "or the document is old: make documents"


@cache
def document() -> dict[str, Any]:
    return dict(json.loads(openapi.FILE.read_text(encoding="utf-8")))


@cache
def _templates() -> list[tuple[re.Pattern[str], str]]:
    """Returns the path templates, those without parameters first, because they win when both match."""
    paths = sorted(document()["paths"], key=lambda path: path.count("{"))
    return [(re.compile(re.sub(r"\{[^}]+\}", "[^/]+", path)), path) for path in paths]


@cache
def _validator(path: str, method: str, status: str) -> Any:
    content = document()["paths"][path][method]["responses"][status].get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    return jsonschema_rs.validator_for({**schema, "components": document()["components"]})


def operation_of(method: str, path: str) -> str | None:
    """Returns the operation's name in the document, such as `GET /api/v1/runs/{run_id}`."""
    for pattern, template in _templates():
        if pattern.fullmatch(path) and method.lower() in document()["paths"][template]:
            return f"{method} {template}"
    return None


def check_response(response: httpx.Response) -> None:
    """Checks a response as an httpx hook. Bodies that are not JSON are not checked."""
    operation = operation_of(response.request.method, response.request.url.path)
    if operation is None or not response.headers.get("content-type", "").startswith("application/json"):
        return
    method, path = operation.split(" ")
    responses = document()["paths"][path][method.lower()]["responses"]
    status = str(response.status_code) if str(response.status_code) in responses else "default"
    assert status != "default" or response.is_error, (
        f"{operation} answers {response.status_code}: untold, {OUTDATED_HINT}"
    )
    response.read()
    for error in _validator(path, method.lower(), status).iter_errors(response.json()):
        raise AssertionError(f"{operation} answers {status} with what is not told, {OUTDATED_HINT}: {error}")
