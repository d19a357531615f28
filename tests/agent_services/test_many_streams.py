"""Tests that one plugin process holds a thousand streams at once, and that its memory stays flat."""

import asyncio
import threading
from pathlib import Path

import psutil
import pytest

from parlour_sdk.testing.services import FakeDify, RecordedRequest, ServiceReply, StreamReply
from tests.support.harness import NO_RUN_LIMITS, Host, message, processes_below, texts

STREAMS = 1000
MAX_GROWTH = 1.15
"""Memory after the third thousand, compared with that after the second."""
DIFY = "plugin:parlour/dify-agent/default"


class HoldingDify(FakeDify):
    """Begins each answer, and ends them all when the last one has begun."""

    def __init__(self) -> None:
        super().__init__()
        self.open = self.most = 0
        self.all_open = asyncio.Event()

    async def handle(self, request: RecordedRequest) -> ServiceReply:
        reply = await super().handle(request)
        if not isinstance(reply, StreamReply):
            return reply
        self.open += 1
        self.most = max(self.most, self.open)
        waiting, events = self.all_open, list(reply.events)
        if self.open == STREAMS:
            self.open, self.all_open = 0, asyncio.Event()
            waiting.set()
        return StreamReply([*events[:2], waiting, *events[2:]])


@pytest.fixture
def service() -> HoldingDify:
    ready = threading.Event()
    services: list[HoldingDify] = []

    async def serve() -> None:
        async with HoldingDify() as fake:
            assert isinstance(fake, HoldingDify)
            services.append(fake)
            ready.set()
            await asyncio.Event().wait()

    threading.Thread(target=lambda: asyncio.run(serve()), daemon=True).start()
    assert ready.wait(10)
    return services[0]


def resident(host: Host) -> int:
    """Returns the memory of the plugin's process."""
    workers = [each for each in processes_below(host.data) if "parlour_sdk.worker" in " ".join(each.cmdline())]
    return max(psutil.Process(each.pid).memory_info().rss for each in workers)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_one_process_holds_a_thousand_streams_with_flat_memory(tmp_path: Path, service: HoldingDify) -> None:
    limits = {"PARLOUR__RUNS__CONCURRENT": 2 * STREAMS, "PARLOUR__RUNS__PER_PERSON": STREAMS, **NO_RUN_LIMITS}
    host = Host(tmp_path, **limits)
    host.install(Path(__file__).parents[2] / "plugins/dify-agent", "--grant", "network")
    host.start()
    try:
        agent = host.agent(DIFY, config={"base_url": service.url, "api_key": "k", "first_event_timeout": 300})

        async def ask_all() -> list[list[str]]:
            async with host.async_http() as client:
                client.timeout = 600.0

                async def ask(number: int) -> list[str]:
                    body = message(
                        agent,
                        "hello",
                        conversation_id=f"c-{number}",
                        actor={"actor_type": "user", "actor_id": f"s-{number}"},
                    )
                    answer = await client.post("/events?wait=result", json=body)
                    assert answer.status_code == 200, answer.text
                    return texts(answer.json())

                return await asyncio.gather(*(ask(number) for number in range(STREAMS)))

        sizes = []
        for _ in range(3):
            answers = asyncio.run(ask_all())
            assert answers == [["Hello there"]] * STREAMS
            sizes.append(resident(host))
        assert service.most == STREAMS, "all streams were open at the same time"
        assert sizes[2] < sizes[1] * MAX_GROWTH, sizes
        print([f"{size / 2**20:.0f} MB" for size in sizes])  # noqa: T201
    finally:
        host.close()
