"""Loads FastAPI on demand: the application with the first request that needs it, and the routes of a domain with the
first request for that domain. A start needs neither, and together they take as long as the rest of the start."""

import asyncio
import gc
from collections.abc import Callable, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

from .body_limit import Receive, Send
from .domain import Domain, path_prefix

if TYPE_CHECKING:
    from fastapi import FastAPI


class LazyApp:
    def __init__(self, make: Callable[[], "FastAPI"], domains: Sequence[Domain]) -> None:
        self._make = make
        self._app: FastAPI | None = None
        self._unloaded = {
            start: [each for each in domains if start in each.path_prefixes] for start in _all_prefixes(domains)
        }
        """Domains that are not loaded yet, by path prefix."""
        self._loading = asyncio.Lock()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        start = path_prefix(scope["path"])
        if self._app is None or start in self._unloaded:
            app = await self._load(start)
        else:
            app = self._app
        await app(scope, receive, send)

    async def _load(self, start: str) -> "FastAPI":
        """Loads the application and the routes of this prefix, in a thread so that the event loop is not blocked."""
        async with self._loading:
            if self._app is None:
                self._app = await asyncio.to_thread(self._make)
            domains = self._unloaded.get(start, ())
            routers = await asyncio.to_thread(lambda: [each.build_router() for each in domains])
            for domain, router in zip(domains, routers, strict=True):
                self._app.include_router(router, prefix=domain.prefix)
            self._mark_loaded(domains)
            gc.freeze()  # loaded for good: exclude it from garbage collection
            return self._app

    def _mark_loaded(self, domains: Sequence[Domain]) -> None:
        loaded = {start for domain in domains for start in domain.path_prefixes}
        self._unloaded = {start: rest for start, rest in self._unloaded.items() if start not in loaded}


def _all_prefixes(domains: Sequence[Domain]) -> set[str]:
    return {start for domain in domains for start in domain.path_prefixes}
