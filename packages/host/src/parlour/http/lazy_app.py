"""Loads FastAPI and all routes with the first request that needs them.

A start needs none of it, and a Host that serves a platform may get no such request for days.
"""

import asyncio
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

from pydantic import BaseModel, ConfigDict

from .body_limit import AsgiApp, Receive, Send


class LazyApp:
    """ASGI application that is built on its first request."""

    def __init__(self, build: Callable[[], AsgiApp]) -> None:
        self._build = build
        self._app: AsgiApp | None = None
        self._building = asyncio.Lock()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        await (self._app or await self._built())(scope, receive, send)

    async def _built(self) -> AsgiApp:
        """Builds the application once, in a thread so that the event loop is not blocked; a failure is tried again."""
        async with self._building:
            if self._app is None:
                self._app = await asyncio.to_thread(self._build)
            return self._app


@contextmanager
def deferred_model_build() -> Iterator[None]:
    """Builds pydantic models that are defined in the block on their first use.

    FastAPI has many models for its OpenAPI document, which a running Host never builds; building them would take as
    long as the rest of its import.
    """
    original_config = BaseModel.model_config
    BaseModel.model_config = ConfigDict(**original_config, defer_build=True)
    try:
        yield
    finally:
        BaseModel.model_config = original_config
