"""Reconnects and retried calls, against a worker with scripted failures."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, nullcontext

import pytest

from parlour.core.model.providers import ProviderFailed
from parlour.core.system import SystemClock
from parlour.core.tools.mcp import McpListing, McpRequest, McpServerIdentity, McpTool
from parlour.providers.tools.mcp.connection import McpConnection, ReconnectPolicy
from parlour.providers.tools.mcp.endpoint import McpEndpoint
from parlour.providers.tools.mcp.errors import ServerLost
from parlour.providers.tools.mcp.worker_process import WorkerProcess
from parlour.providers.tools.source import text_outcome
from parlour_sdk.protocol.tools import ToolOutcome

PATIENT = ReconnectPolicy(first_pause=3600, longest_pause=3600, patience=60)
"""Nothing happens by itself for an hour."""
ACT = McpRequest("tool", "act")


class ScriptedWorker(WorkerProcess):
    """`attempts` and `calls` are the outcomes in order: a text or an exception is a failure."""

    def __init__(self, attempts: list[str], calls: list[ServerLost | None]) -> None:
        self._attempts = deque(attempts)
        self._calls = deque(calls)
        self.lost = asyncio.Event()
        self.sessions: list[str] = []
        self._live = ""

    async def connect(
        self, session: str, target: McpEndpoint, start: float, refresh: float, process: object = None
    ) -> AsyncGenerator[tuple[McpServerIdentity, McpListing], None]:
        failure_text = self._attempts.popleft() if self._attempts else ""
        if failure_text:
            raise ServerLost(failure_text)
        self._live = session
        self.lost.clear()
        yield McpServerIdentity("2026-07-28"), McpListing((McpTool("act"),))
        await self.lost.wait()
        raise ServerLost("it went away")

    async def ask(self, session: str, wanted: McpRequest) -> ToolOutcome:
        if session != self._live:
            raise ServerLost("it is not connected any more", unsent=True)
        self.sessions.append(session)
        failure = self._calls.popleft() if self._calls else None
        if failure is not None:
            self._live = ""
            self.lost.set()
            raise failure
        return text_outcome("done")


@asynccontextmanager
async def connecting(worker: ScriptedWorker) -> AsyncIterator[McpConnection]:
    made = McpConnection(
        "server", lambda: nullcontext((McpEndpoint("http"), None)), worker, lambda: None, SystemClock(), PATIENT
    )
    yield made
    await made.close()


async def first_failure(server: McpConnection) -> None:
    while server.status.state != "failed":  # noqa: ASYNC110 - there is no notification
        await asyncio.sleep(0)


async def test_a_call_connects_at_once_after_a_failed_attempt() -> None:
    async with connecting(ScriptedWorker(["connection refused"], [])) as server, asyncio.timeout(30):
        await first_failure(server)
        assert await server.ask(ACT) == text_outcome("done")
        assert (server.status.state, server.status.last_error) == ("connected", "")


async def test_an_unreachable_server_is_a_retryable_failure() -> None:
    async with connecting(ScriptedWorker(["first", "second", "third"], [])) as server, asyncio.timeout(30):
        await first_failure(server)
        with pytest.raises(ProviderFailed, match="'server' is not connected: second") as failed:
            await server.ask(ACT)
        assert failed.value.retryable
        assert server.status.state == "failed"


async def test_an_unsent_call_is_repeated_once_over_a_new_connection() -> None:
    worker = ScriptedWorker([], [ServerLost("forgot us", unsent=True)])
    async with connecting(worker) as server, asyncio.timeout(30):
        assert await server.ask(ACT) == text_outcome("done")
    assert len(set(worker.sessions)) == 2


async def test_a_call_that_may_have_acted_is_not_repeated() -> None:
    worker = ScriptedWorker([], [ServerLost("cut off")])
    async with connecting(worker) as server, asyncio.timeout(30):
        with pytest.raises(ProviderFailed, match="whether it acted is not known: cut off") as failed:
            await server.ask(ACT)
        assert not failed.value.retryable
        assert len(worker.sessions) == 1
        assert await server.ask(ACT) == text_outcome("done")


async def test_tools_stay_listed_while_a_server_is_disconnected() -> None:
    worker = ScriptedWorker(["", "gone for good"], [ServerLost("cut off")])
    async with connecting(worker) as server, asyncio.timeout(30):
        with pytest.raises(ProviderFailed):
            await server.ask(ACT)
        with pytest.raises(ProviderFailed, match="gone for good"):
            await server.ask(ACT)
        assert [tool.name for tool in server.status.listing.tools] == ["act"]
