"""Answers `POST /events`, the busiest path, without FastAPI, with identical authentication, body, responses and errors.

FastAPI's own route documents it, and a test compares the two. Routing, dependencies and middleware of FastAPI cost
about as much as everything the Host does for a message.
"""

import logging
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import HTTPConnection
from starlette.responses import Response

from ..body_limit import Receive, body_too_large, declared_bytes
from ..errors import ErrorResponses
from ..principals import Authenticator
from .schemas import EventBody, EventQuery
from .service import EventService

logger = logging.getLogger(__name__)

EVENTS_PATH = "/api/v1/events"


class EventFastPath:
    def __init__(
        self, service: EventService, authenticator: Authenticator, responses: ErrorResponses, body_bytes: int
    ) -> None:
        self._service = service
        self._authenticator = authenticator
        self._responses = responses
        self._body_bytes = body_bytes

    async def respond(self, scope: MutableMapping[str, Any], receive: Receive) -> Response:
        try:
            principal = await self._authenticator.authorize(HTTPConnection(scope), "chat")
            query = EventQuery.model_validate(dict(parse_qsl(scope["query_string"].decode("latin-1"))))
            body = EventBody.model_validate_json(await _read_body(scope, receive, self._body_bytes))
            return await self._service.handle(body, principal, query)
        except Exception as error:
            response = self._responses.build(error)
            if response.status_code == 500:
                logger.exception("POST %s failed", EVENTS_PATH)
            return response


async def _read_body(scope: MutableMapping[str, Any], receive: Receive, limit: int) -> bytes:
    """Reads the body; empty if the client disconnects before its end."""
    parts: list[bytes] = []
    size = declared_bytes(scope)
    while size <= limit:
        message = await receive()
        if message["type"] == "http.disconnect":
            return b""
        parts.append(message.get("body", b""))
        size = sum(map(len, parts))
        if size <= limit and not message.get("more_body", False):
            return b"".join(parts)
    raise body_too_large(limit)
