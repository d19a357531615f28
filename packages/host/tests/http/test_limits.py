"""Tests that bodies over the limit are refused before they are read completely."""

from collections.abc import MutableMapping
from typing import Annotated, Any

import pytest
from fastapi import Body, FastAPI

from parlour.core.redaction import Redactor
from parlour.http.body_limit import BodyLimit
from parlour.http.errors import ErrorResponses

LIMIT = 100
Sent = list[MutableMapping[str, Any]]

app = FastAPI()


@app.post("/")
async def measure(body: Annotated[dict[str, Any], Body()]) -> dict[str, int]:
    return {"keys": len(body)}


async def post(*chunks: bytes, declared: int | None = None) -> tuple[int, bytes, int]:
    """Returns the status, the response body, and the number of chunks that were read."""
    headers = [(b"content-type", b"application/json")]
    if declared is not None:
        headers.append((b"content-length", str(declared).encode()))
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "path": "/",
        "raw_path": b"/",
        "query_string": b"",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
        "scheme": "http",
        "root_path": "",
    }
    left = list(chunks)
    sent: Sent = []

    async def receive() -> MutableMapping[str, Any]:
        if not left:
            return {"type": "http.disconnect"}
        chunk = left.pop(0)
        return {"type": "http.request", "body": chunk, "more_body": bool(left)}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    await BodyLimit(app, ErrorResponses(Redactor()), LIMIT)(scope, receive, send)
    status = sent[0]["status"]
    return status, b"".join(message.get("body", b"") for message in sent[1:]), len(chunks) - len(left)


async def test_a_body_within_the_limit_is_accepted() -> None:
    status, body, _ = await post(b'{"a": ', b"1}", declared=8)
    assert (status, body) == (200, b'{"keys":1}')


async def test_a_declared_length_over_the_limit_is_refused_without_reading() -> None:
    status, body, read = await post(b"x" * 200, declared=200)
    assert status == 413
    assert b"payload_too_large" in body
    assert read == 0


@pytest.mark.parametrize("declared", [None, 8], ids=["undeclared", "wrongly declared"])
async def test_a_body_that_exceeds_the_limit_is_refused_with_the_limit(declared: int | None) -> None:
    status, body, read = await post(*[b"x" * 60] * 10, declared=declared)
    assert status == 413
    assert b"payload_too_large" in body
    assert str(LIMIT).encode() in body
    assert read == 2


async def test_a_body_of_exactly_the_limit_is_accepted() -> None:
    whole = b'{"a": "' + b"x" * (LIMIT - 9) + b'"}'
    assert len(whole) == LIMIT
    status, _, _ = await post(whole[:50], whole[50:])
    assert status == 200
