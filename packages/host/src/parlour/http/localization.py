"""Translates the Host's own texts in JSON responses into the language of `Accept-Language`.

One place does this for all endpoints: error messages, and the fields that `_FIELDS` lists for a path. Content of users,
models and plugins is never changed. English responses pass unchanged.
"""

import json
import re
from collections.abc import Iterable, MutableMapping, Sequence
from functools import lru_cache
from typing import Any

from parlour.core.texts.catalogue import DEFAULT_LANGUAGE, match_language
from parlour.core.texts.translation import translate

from .body_limit import Message, Send

_Paths = tuple[tuple[str, ...], ...]


def _paths(names: str) -> _Paths:
    return tuple(tuple(name.split(".")) for name in names.split())


_ERROR_FIELDS = _paths("error.message error.details.fields.message")
_RUN_FIELDS = "status_reason error error.message"
_FIELDS: tuple[tuple[re.Pattern[str], _Paths], ...] = tuple(
    (re.compile(rf"/api/v1/{path}"), _paths(names))
    for path, names in (
        (r"bots(/[^/]+)?", "status.last_error"),
        (r"bots/[^/]+/routes/dry-run", "reasons steps.text steps.values.reason"),
        (r"mcp-servers(/[^/]+)?(/test)?", "status.last_error status.left_out last_error left_out"),
        (
            r"plugins(/.*)?",
            "reason sandbox_reason sandbox_remedy warnings permissions.words.asked.text permissions.words.granted.text"
            " permissions.words.ungranted.text",
        ),
        (r"runs(/[^/]+)?(/rerun|/cancel)?", f"{_RUN_FIELDS} deliveries.reason original.error original.error.message"),
        (r"runs/[^/]+/events", "data.error data.error.message data.message data.reason"),
        (r"runs/[^/]+/deliveries", "reason"),
        (
            r"events/[^/]+/why",
            "steps.text steps.sentences.values.reason steps.sentences.values.error steps.sentences.values.text"
            " steps.sentences.values.route steps.sentences.values.who",
        ),
        (r"events", f"reason {_RUN_FIELDS}"),
        (r"approvals(/[^/]+)?", "reason outcome.error outcome.message"),
        (r"message-policies/check", "sentences.text"),
        (r"pipelines(/[^/]+)?(/copy)?", "problem"),
        (r"pipelines/[^/]+/dry-run", "steps.reason"),
        (r"tools", "description"),
        (r"models/[^/]+/test", "message"),
        (r"agents/test", "message"),
        (r"audit", "detail detail.message detail.reason"),
    )
)
"""Fields with texts of the Host, by the path of the request; for a list, the fields of its `items`."""


def localized_send(scope: MutableMapping[str, Any], send: Send) -> Send:
    """Returns a `send` that translates JSON responses if the request asks for a language other than English."""
    if scope["type"] == "http":
        language = accepted_language(scope["headers"])
        if language != DEFAULT_LANGUAGE:
            return _TranslatingSend(send, language, scope["path"])
    return send


class _TranslatingSend:
    """Buffers a JSON response until it is complete, then sends it translated."""

    def __init__(self, send: Send, language: str, path: str) -> None:
        self._send = send
        self._language = language
        self._path = path
        self._start: Message | None = None
        self._body: list[bytes] = []

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and self._concerns(message):
            self._start = message
        elif self._start is None or message["type"] != "http.response.body":
            await self._send(message)
        else:
            self._body.append(message.get("body", b""))
            if not message.get("more_body", False):
                body = b"".join(self._body)
                await self._finish(
                    self._start, translate_body(body, self._fields(self._start["status"]), self._language)
                )

    def _concerns(self, start: Message) -> bool:
        kind = next((value for name, value in start["headers"] if name.lower() == b"content-type"), b"")
        return kind.startswith(b"application/json") and bool(self._fields(start["status"]))

    def _fields(self, status: int) -> _Paths:
        if status >= 400:
            return _ERROR_FIELDS
        return next((names for pattern, names in _FIELDS if pattern.fullmatch(self._path)), ())

    async def _finish(self, start: Message, body: bytes | None) -> None:
        self._start = None
        if body is None:
            await self._send(start)
            await self._send({"type": "http.response.body", "body": b"".join(self._body)})
            return
        headers = [(name, value) for name, value in start["headers"] if name.lower() != b"content-length"]
        headers += [
            (b"content-length", str(len(body)).encode()),
            (b"content-language", self._language.encode()),
            (b"vary", b"Accept-Language"),
        ]
        await self._send({**start, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})


def translate_body(body: bytes, fields: _Paths, language: str) -> bytes | None:
    """Returns the JSON with these fields translated; None if there is nothing to translate."""
    try:
        answer = json.loads(body)
        roots = [answer, answer.get("items")] if isinstance(answer, dict) else [answer]
        changes = [_translate_field(root, path, language) for root in roots for path in fields]
        return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode() if any(changes) else None
    except (ValueError, RecursionError):
        return None


def _translate_field(value: Any, path: Sequence[str], language: str) -> bool:
    """Translates the text or list of texts at this path, including in each item of a list; returns whether anything
    changed."""
    if isinstance(value, list):
        changes = [_translate_field(item, path, language) for item in value]
        return any(changes)
    if not isinstance(value, dict) or path[0] not in value:
        return False
    name, item = path[0], value[path[0]]
    if len(path) > 1:
        return _translate_field(item, path[1:], language)
    if isinstance(item, str):
        value[name] = translate(item, language)
    elif isinstance(item, list):
        value[name] = [translate(each, language) if isinstance(each, str) else each for each in item]
    return bool(value[name] != item)


def accepted_language(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Chooses the language by the headers of a request, whose names are in lower case; English without one."""
    header = next((value for name, value in headers if name == b"accept-language"), None)
    return DEFAULT_LANGUAGE if header is None else preferred_language(header)


@lru_cache(256)
def preferred_language(header: bytes) -> str:
    """Returns the supported language with the highest quality in an `Accept-Language` header."""
    best_quality, best_language = 0.0, DEFAULT_LANGUAGE
    for entry in header.decode("latin-1").split(","):
        tag, _, parameters = entry.strip().partition(";")
        language, quality = match_language(tag.strip()), _quality(parameters)
        if language is not None and quality > best_quality:
            best_quality, best_language = quality, language
    return best_language


def _quality(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0
