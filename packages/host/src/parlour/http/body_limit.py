"""Rejects bodies over the size limit before they are read completely."""

import contextlib
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from types import MappingProxyType
from typing import Any

from .errors import ErrorResponses, Problem

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]


def declared_bytes(scope: MutableMapping[str, Any]) -> int:
    return int(next((value for name, value in scope["headers"] if name == b"content-length"), b"0"))


def body_too_large(limit: int) -> Problem:
    return Problem(413, "payload_too_large", f"the body may have at most {limit} bytes")


class BodyTooLarge(Exception):
    """Raised when a body exceeds the limit while it is being read."""


class BodyLimit:
    def __init__(
        self, app: AsgiApp, responses: ErrorResponses, limit: int, uploads: Mapping[str, int] = MappingProxyType({})
    ) -> None:
        self._app = app
        self._responses = responses
        self._limit = limit
        self._uploads = uploads
        """Limits in bytes of paths that accept larger bodies, because they write them to disk."""

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._uploads.get(scope["path"], self._limit)
        if declared_bytes(scope) > limit:
            await self._refuse(limit, scope, receive, send)
            return
        received_bytes = 0
        started = False

        async def receive_counted() -> Message:
            nonlocal received_bytes
            message = await receive()
            received_bytes += len(message.get("body", b""))
            if received_bytes > limit:
                raise BodyTooLarge
            return message

        async def noted(message: Message) -> None:
            nonlocal started
            if received_bytes > limit and not started:
                return  # drop the application's own response to the cut-off body
            started = True
            await send(message)

        with contextlib.suppress(BodyTooLarge):
            await self._app(scope, receive_counted, noted)
        if received_bytes > limit and not started:
            await self._refuse(limit, scope, receive, send)

    async def _refuse(self, limit: int, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        response = self._responses.build(body_too_large(limit))
        await response(scope, receive, send)
