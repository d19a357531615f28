"""Loads FastAPI on demand: the application with the first request that needs it, and the routes of a domain with the
first request for that domain. A start needs neither, and together they take as long as the rest of the start."""

import asyncio
import gc
from collections.abc import Callable, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

from .domain import Domain, beginning
from .limits import Receive, Send

if TYPE_CHECKING:
    from fastapi import FastAPI


class LoadedInPieces:
    def __init__(self, make: Callable[[], "FastAPI"], domains: Sequence[Domain]) -> None:
        self._make = make
        self._app: FastAPI | None = None
        self._waiting = {start: [each for each in domains if start in each.beginnings] for start in _all(domains)}
        """Domains that are not loaded yet, by path prefix."""
        self._loading = asyncio.Lock()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        start = beginning(scope["path"])
        if self._app is None or start in self._waiting:
            app = await self._load(start)
        else:
            app = self._app
        await app(scope, receive, send)

    async def _load(self, start: str) -> "FastAPI":
        """Loads the application and the routes of this prefix, in a thread so that the event loop is not blocked."""
        async with self._loading:
            if self._app is None:
                self._app = await asyncio.to_thread(self._make)
            domains = self._waiting.get(start, ())
            routers = await asyncio.to_thread(lambda: [each.routes() for each in domains])
            for domain, router in zip(domains, routers, strict=True):
                self._app.include_router(router, prefix=domain.prefix)
            self._forget(domains)
            gc.freeze()  # loaded for good: exclude it from garbage collection
            return self._app

    def _forget(self, domains: Sequence[Domain]) -> None:
        loaded = {start for domain in domains for start in domain.beginnings}
        self._waiting = {start: rest for start, rest in self._waiting.items() if start not in loaded}


def _all(domains: Sequence[Domain]) -> set[str]:
    return {start for domain in domains for start in domain.beginnings}
