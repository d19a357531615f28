"""Reads a call of the Bot API: JSON, a form or multipart parts, which all have the same meaning."""

import json
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from .failures import Failed
from .native import Payload

TEXTS = frozenset(
    (
        "text", "caption", "title", "description", "name", "url", "secret_token", "parse_mode", "emoji", "action",
        "callback_query_id", "inline_message_id", "phone_number", "first_name", "last_name", "address", "question",
        "file_id", "photo", "video", "animation", "document", "audio", "voice", "sticker", "custom_title", "drop",
    )
)  # fmt: skip
"""Parameters that are texts even if they look like another type."""


@dataclass
class Call:
    method: str
    params: Payload = field(default_factory=dict)
    uploads: dict[str, tuple[str, bytes]] = field(default_factory=dict)


async def read(request: web.Request) -> Call:
    call = Call(request.match_info["method"])
    call.params.update({name: _value(name, value) for name, value in request.query.items()})
    if request.content_type == "application/json":
        body = await request.json()
        if not isinstance(body, dict):
            raise Failed(400, "Bad Request: the body must be an object")
        call.params.update(body)
        return call
    for name, value in (await request.post()).items():
        if isinstance(value, web.FileField):
            call.uploads[name] = (value.filename, value.file.read())
        else:
            call.params[name] = _value(name, value if isinstance(value, str) else bytes(value).decode())
    return call


def _value(name: str, value: str) -> Any:
    if name in TEXTS:
        return value
    try:
        return json.loads(value)
    except ValueError:
        return {"True": True, "False": False}.get(value, value)
