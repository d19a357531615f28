"""Tests the language of responses: chosen by `Accept-Language`, translated in named fields, unchanged for English."""

import json
from typing import Any

import pytest

from parlour.http.localization import localized_send, preferred_language

ENDED = "this session is over; log in again"
ENDED_IN_CHINESE = "登录已失效；请重新登录"


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("zh-CN", "zh-Hans"),
        ("zh-Hans", "zh-Hans"),
        ("de-DE, zh;q=0.8, en;q=0.5", "zh-Hans"),
        ("en-US, zh;q=0.9", "en"),
        ("zh;q=0.1, en;q=0.2", "en"),
        ("zh;q=0", "en"),
        ("zh;q=nonsense", "en"),
        ("*", "en"),
        ("", "en"),
        (";;,,q=", "en"),
    ],
)
def test_the_known_language_with_the_highest_quality_is_chosen(accepted: str, language: str) -> None:
    assert preferred_language(accepted.encode()) == language


async def localized(
    body: Any, path: str, accepted: str | None, status: int = 200, kind: bytes = b"application/json"
) -> tuple[dict[bytes, bytes], bytes]:
    written = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", kind), (b"content-length", str(len(written)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        half = len(written) // 2
        await send({"type": "http.response.body", "body": written[:half], "more_body": True})
        await send({"type": "http.response.body", "body": written[half:]})

    async def receive() -> Any:
        raise AssertionError("nothing is read")

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [] if accepted is None else [(b"accept-language", accepted.encode())]
    scope = {"type": "http", "path": path, "headers": headers}
    await app(scope, receive, localized_send(scope, send))
    return dict(sent[0]["headers"]), b"".join(message.get("body", b"") for message in sent[1:])


async def test_an_error_and_its_fields_are_translated() -> None:
    fields = [{"field": "name", "message": "Field required"}]
    error = {"code": "invalid_argument", "message": "name: Field required", "details": {"fields": fields}}

    headers, body = await localized({"error": error}, "/api/v1/agents", "zh-CN", 422)

    translated = json.loads(body)["error"]
    assert (translated["message"], translated["details"]["fields"][0]["message"]) == ("name: 必填", "必填")
    assert headers[b"content-language"] == b"zh-Hans"
    assert headers[b"vary"] == b"Accept-Language"
    assert int(headers[b"content-length"]) == len(body)


async def test_only_the_named_fields_of_a_path_are_translated() -> None:
    bot = {
        "name": ENDED,
        "adapter_config": {"last_error": ENDED},
        "status": {"state": "error", "last_error": ENDED},
    }

    _, body = await localized({"items": [bot]}, "/api/v1/bots", "zh-CN")

    translated = json.loads(body)["items"][0]
    assert translated == {**bot, "status": {"state": "error", "last_error": ENDED_IN_CHINESE}}


@pytest.mark.parametrize(
    ("path", "accepted", "kind"),
    [
        ("/api/v1/bots", None, b"application/json"),
        ("/api/v1/bots", "en-US,en;q=0.9", b"application/json"),
        ("/api/v1/bots", "zh-CN", b"text/event-stream"),
        ("/api/v1/conversations/c/transcript", "zh-CN", b"application/json"),
    ],
)
async def test_other_responses_are_unchanged(path: str, accepted: str | None, kind: bytes) -> None:
    written = json.dumps({"status": {"last_error": ENDED}, "content": ENDED}, indent=3).encode()

    headers, body = await localized(written, path, accepted, kind=kind)

    assert body == written
    assert b"content-language" not in headers


@pytest.mark.parametrize("body", [b"", b"{", b'{"error": 3}', b"[1]", b'{"error":{"message":"\\ud800 x y"}}'])
async def test_an_error_response_without_an_error_body_is_unchanged(body: bytes) -> None:
    assert (await localized(body, "/api/v1/agents", "zh-CN", 500))[1] == body
