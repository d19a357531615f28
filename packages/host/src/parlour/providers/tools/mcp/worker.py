"""Process that talks to MCP servers for a Host: `python -m parlour.providers.tools.mcp.worker`.

Messages of servers are parsed, checked and cut to size here, and reach the Host as small frames: `connect` streams what
a server offers as long as it is connected, `ask` streams the pieces of one result. The process exits with its Host.
"""

import asyncio
import base64
import logging
import os
from collections.abc import AsyncGenerator, Coroutine
from dataclasses import asdict
from typing import Any

from parlour.core.tools.mcp import McpRequest
from parlour_sdk.wire import Peer, StdioTransport, WireError

from ..sanitize import sanitize_outcome
from .client import McpSession, open_session
from .endpoint import McpEndpoint
from .errors import LOST_ERROR_CODE, ServerLost, TransportProblem, describe_error
from .relay import Relay

PIECE_CHARACTERS = 256 * 1024


class Worker:
    """Serves the calls of the Host."""

    def __init__(self) -> None:
        self._sessions: dict[str, McpSession] = {}
        self._relays: dict[str, Relay] = {}

    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]:
        match action:
            case "connect":
                return self._connect(
                    data["session"], McpEndpoint.decode(data["target"]), data["start"], data["refresh"]
                )
            case "feed":
                return self._feed(data["session"], data)
            case "ask":
                return self._ask(data["session"], McpRequest(**data["wanted"]))
            case _:
                raise WireError("not_supported", f"there is no action '{action}'")

    async def _connect(
        self, name: str, target: McpEndpoint, start: float, refresh: float
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Streams the listings of a server.

        A separate task holds the connection, because a connection must be closed by the task that opened it.
        """
        updates: asyncio.Queue[dict[str, Any] | WireError] = asyncio.Queue()
        holding = asyncio.create_task(self._hold_connection(name, target, start, refresh, updates))
        try:
            while not isinstance(update := await updates.get(), WireError):
                yield update
            raise update
        finally:
            holding.cancel()
            await asyncio.wait([holding])

    async def _hold_connection(
        self,
        name: str,
        target: McpEndpoint,
        start: float,
        refresh: float,
        updates: asyncio.Queue[dict[str, Any] | WireError],
    ) -> None:
        problem, relay = TransportProblem(), None
        if target.sandboxed:
            relay = self._relays[name] = Relay(lambda line: updates.put_nowait({"line": line}), problem)
            updates.put_nowait({"relays": True})
        try:
            async with asyncio.timeout(start) as deadline, open_session(target, problem, relay) as session:
                deadline.reschedule(None)
                self._sessions[name] = session
                while True:
                    updates.put_nowait(await _listing_message(session, start))
                    await _change(session, refresh)
                    if problem.closed.is_set():
                        raise ServerLost(problem.message or "it closed the connection")
        except Exception as error:  # noqa: BLE001 - any error of a server or of the library is reported to the Host
            updates.put_nowait(WireError(LOST_ERROR_CODE, describe_error(error, problem)))
        finally:
            self._sessions.pop(name, None)
            self._relays.pop(name, None)

    async def _feed(self, name: str, data: dict[str, Any]) -> None:
        """Takes what a server in the Box has written, or why it ended."""
        relay = self._relays.get(name)
        if relay is not None and "ended" in data:
            await relay.end(data["ended"])
        elif relay is not None:
            await relay.feed(base64.b64decode(data["data"]))

    async def _ask(self, name: str, request: McpRequest) -> AsyncGenerator[str, None]:
        session = self._sessions.get(name)
        try:
            if session is None or session.trouble.closed.is_set():
                raise ServerLost("it is not connected any more", unsent=True)
            answer = sanitize_outcome(await session.ask(request)).model_dump_json(exclude_none=True)
        except ServerLost as error:
            raise WireError(LOST_ERROR_CODE, str(error), {"unsent": error.unsent}) from error
        for start in range(0, len(answer), PIECE_CHARACTERS):
            yield answer[start : start + PIECE_CHARACTERS]


async def _listing_message(session: McpSession, seconds: float) -> dict[str, Any]:
    session.changed.clear()
    async with asyncio.timeout(seconds):
        listing = await session.listing()
    return {"identity": asdict(session.identity), "listing": asdict(listing)}


async def _change(session: McpSession, seconds: float) -> None:
    """Waits until the connection ends, the offered tools change, or the next listing is due."""
    events = [asyncio.ensure_future(each.wait()) for each in (session.trouble.closed, session.changed)]
    await asyncio.wait(events, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for event in events:
        event.cancel()


async def serve() -> None:
    peer = Peer(StdioTransport(os.dup(0), os.dup(1)), Worker(), name="MCP worker")
    os.dup2(2, 1)  # printed output must not get between the frames
    peer.start()
    await peer.wait_closed()
    await peer.aclose()


if __name__ == "__main__":
    logging.basicConfig(level=logging.ERROR, format="%(asctime)s %(levelname)s mcp: %(message)s")
    asyncio.run(serve())
