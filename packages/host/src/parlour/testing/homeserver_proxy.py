"""A proxy between an adapter and a real homeserver that causes planned faults: refusals, cuts, nonsense.

All other requests and answers are passed on unchanged.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import ClientSession, ClientTimeout, web
from yarl import URL

FORWARDED_HEADERS = ("Authorization", "Content-Type")
SECONDS = 120.0
WAIT_SECONDS = 60.0


@dataclass
class Fault:
    """Describes a fault of requests whose path contains `part`, for this number of `times`."""

    method: str
    part: str
    times: int
    answer: web.Response | None = None
    """The answer instead of the homeserver's; without one the connection is cut."""
    happens: bool = False
    """True if the homeserver still gets the request."""
    held: asyncio.Event | None = None
    """Set when the homeserver has given an answer that is never passed on."""


class HomeserverProxy:
    def __init__(self, homeserver: str) -> None:
        self._homeserver = homeserver
        self.url = ""
        self.requests: list[tuple[str, str]] = []
        """Method and path of each request."""
        self._faults: list[Fault] = []
        self._reports: dict[str, dict[str, Any]] = {"join": {}, "invite": {}}
        self._reported = asyncio.Event()
        self._came = asyncio.Event()
        self._open: set[asyncio.Transport] = set()
        self._session: ClientSession

    @asynccontextmanager
    async def listening(self) -> AsyncIterator["HomeserverProxy"]:
        async with ClientSession(timeout=ClientTimeout(total=SECONDS)) as self._session:
            app = web.Application(client_max_size=2**30)
            app.router.add_route("*", "/{path:.*}", self._handle)
            runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            try:
                yield self
            finally:
                await runner.cleanup()

    def refuse(self, method: str, part: str, status: int, body: Any, times: int = 1) -> None:
        self._faults.append(Fault(method, part, times, web.json_response(body, status=status)))

    def garble(self, method: str, part: str, body: bytes, times: int = 1, happens: bool = False) -> None:
        """Answers with these bytes as a success."""
        self._faults.append(Fault(method, part, times, web.Response(body=body), happens))

    def cut(self, method: str, part: str, times: int = 1, happens: bool = True) -> None:
        self._faults.append(Fault(method, part, times, happens=happens))

    def hold(self, method: str, part: str) -> asyncio.Event:
        """Keeps back the homeserver's answer for good; the waiting client may be killed before."""
        release = asyncio.Event()
        self._faults.append(Fault(method, part, 1, happens=True, held=release))
        return release

    def cut_all(self) -> None:
        """Cuts every connection that waits for an answer."""
        for transport in list(self._open):
            transport.abort()

    def report(self, room_id: str, *events: Any) -> None:
        """Adds these events to the homeserver's next sync."""
        self._reports["join"].setdefault(room_id, {"timeline": {"events": []}})["timeline"]["events"] += events
        self._reported.set()

    def report_invitation(self, room_id: str, *state: Any) -> None:
        self._reports["invite"][room_id] = {"invite_state": {"events": list(state)}}
        self._reported.set()

    @property
    def has_reports(self) -> bool:
        """Returns whether events are still to be reported."""
        return self._reported.is_set()

    def count(self, method: str, part: str) -> int:
        return sum(each == method and part in path for each, path in self.requests)

    async def changed(self) -> None:
        """Waits for the next request or report."""
        self._came.clear()
        await self._came.wait()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Waits for a condition, which is checked after each request."""
        async with asyncio.timeout(WAIT_SECONDS):
            while not condition():
                self._came.clear()
                await self._came.wait()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append((request.method, request.raw_path))
        self._came.set()
        fault = self._fault(request)
        if fault is not None and not fault.happens:
            return self._spoiled(request, fault)
        assert request.transport is not None
        transport = request.transport
        self._open.add(transport)
        try:
            answer = await self._answered(request)
        finally:
            self._open.discard(transport)
        if fault is not None and fault.held is not None:
            fault.held.set()
            await asyncio.get_running_loop().create_future()
        return answer if fault is None else self._spoiled(request, fault)

    def _fault(self, request: web.Request) -> Fault | None:
        for fault in self._faults:
            if fault.times and fault.method == request.method and fault.part in request.raw_path:
                fault.times -= 1
                return fault
        return None

    def _spoiled(self, request: web.Request, fault: Fault) -> web.Response:
        if fault.answer is None:
            _abort(request)
            return web.Response()
        return web.Response(status=fault.answer.status, body=fault.answer.body, content_type="application/json")

    async def _answered(self, request: web.Request) -> web.StreamResponse:
        """Answers a sync with the events to be reported, as soon as there are any."""
        if not request.path.endswith("/sync") or "since" not in request.query:
            return await self._handed_on(request)
        forwarded, reported = asyncio.create_task(self._handed_on(request)), asyncio.create_task(self._reported.wait())
        try:
            await asyncio.wait([forwarded, reported], return_when=asyncio.FIRST_COMPLETED)
            return self._report(request.query["since"]) if self._reported.is_set() else await forwarded
        finally:
            forwarded.cancel()
            reported.cancel()

    def _report(self, since: str) -> web.Response:
        """Answers a sync with the reports only. The homeserver's own events come with the next one."""
        reports, self._reports = self._reports, {"join": {}, "invite": {}}
        self._reported.clear()
        self._came.set()
        return web.json_response({"next_batch": since, "rooms": reports})

    async def _handed_on(self, request: web.Request) -> web.StreamResponse:
        headers = {name: request.headers[name] for name in FORWARDED_HEADERS if name in request.headers}
        url, body = self._homeserver + request.raw_path, await request.read()
        async with self._session.request(
            request.method, URL(url, encoded=True), data=body or None, headers=headers
        ) as answer:
            content = await answer.read()
            forwarded = {name: answer.headers[name] for name in FORWARDED_HEADERS if name in answer.headers}
            return web.Response(status=answer.status, body=content, headers=forwarded)


def _abort(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
