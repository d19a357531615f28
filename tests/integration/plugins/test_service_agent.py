"""Tests a created service agent in a Host: its sandboxed process streams from a service and keeps its session."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from parlour_sdk.testing.services import FakeService, JsonReply, RecordedRequest, ServiceReply, StreamReply, stall
from tests.support.commands import parlour_here
from tests.support.harness import Host, eventually, texts

KEY = "key-of-the-service"


class ExampleService(FakeService):
    async def handle(self, request: RecordedRequest) -> ServiceReply:
        if request.path != "/chat":
            return JsonReply({"result": "stopped"})
        conversation = request.json.get("conversation_id") or f"c-{len(self.requests)}"
        start = {"type": "start", "task_id": "t-1", "conversation_id": conversation}
        return StreamReply([start, *({"type": "text", "text": piece} for piece in self.pieces), {"type": "end"}])

    def paths(self) -> list[str]:
        return [request.path for request in self.requests]


@pytest.fixture
def service() -> Iterator[ExampleService]:
    """Serves in a thread, since the tests of a Host don't run in an event loop."""
    ready, loop = threading.Event(), asyncio.new_event_loop()
    ended = asyncio.Event()
    services: list[ExampleService] = []

    async def serve() -> None:
        async with ExampleService() as service:
            assert isinstance(service, ExampleService)
            services.append(service)
            ready.set()
            await ended.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    assert ready.wait(10)
    yield services[0]
    loop.call_soon_threadsafe(ended.set)
    thread.join(10)
    loop.close()


def test_a_service_agent_answers_stops_and_keeps_its_session(
    tmp_path: Path, host: Host, service: ExampleService
) -> None:
    assert parlour_here("plugin", "new", "me/served", "--kind", "http-agent", "--into", tmp_path).returncode == 0
    host.install(tmp_path / "served")
    agent = host.agent("plugin:me/served/default", config={"base_url": service.url, "api_key": KEY})

    first = host.ask(agent, "hello", conversation_id="chat")
    second = host.ask(agent, "again", conversation_id="chat")

    assert texts(first) == texts(second) == ["Hello there"]
    sessions = [request.json.get("conversation_id") for request in service.requests]
    assert sessions == [None, "c-1"]
    assert service.requests[0].headers["authorization"] == f"Bearer {KEY}"

    service.fail(stall(after="there"))
    host.send(agent, "and now?", conversation_id="chat")
    run_id = host.active_run(agent)
    eventually(lambda: "there" in json.dumps(host.items(f"/runs/{run_id}/events")), "the first words of the answer")
    host.http().post(f"/runs/{run_id}/cancel").raise_for_status()
    eventually(lambda: "/chat/t-1/stop" in service.paths(), "the stop call")
    assert KEY not in host.log()
