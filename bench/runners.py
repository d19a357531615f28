"""Measures the agents of services with fakes that answer immediately: fifty users over OneBot, against local-agent."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .environment import REPOSITORY
from .host import Host, Unmeasurable, new_key, running
from .load import Load
from .messages import Books
from .onebot import USERS, WARMING, make_bot, model_agent, model_server, users_of
from .onebot_peer import connected
from .report import Figure, Target
from .samples import percentile

MIN_RATE = 0.5
"""The rate of each agent, compared with that of local-agent and a model that answers immediately."""
SETTINGS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "dify-agent": ("base_url", "", {"api_key": "k"}),
    "n8n-agent": ("webhook_url", "/webhook/agent", {}),
    "coze-agent": ("api_base", "", {"api_key": "k", "bot_id": "bot-1"}),
    "dashscope-agent": ("base_url", "", {"api_key": "k", "app_id": "app-1"}),
    "tbox-agent": ("base_url", "", {"api_key": "k", "app_id": "app-1"}),
    "langflow-agent": ("base_url", "", {"flow_id": "flow-1"}),
    "deerflow-agent": ("api_base", "/api/langgraph", {}),
    "weknora-agent": ("base_url", "", {"api_key": "k"}),
    "a2a-agent": ("base_url", "", {}),
    "litellm-agent-platform-agent": ("base_url", "", {"api_key": "k", "agent_id": "agent-1"}),
}
"""Of each agent the setting of its address, what follows that of the fake, and further settings."""


@dataclass(frozen=True, slots=True)
class Size:
    slices: int
    slice_seconds: float


FULL = Size(slices=3, slice_seconds=4)
QUICK = Size(slices=1, slice_seconds=2)


async def measure(folder: Path, size: Size) -> list[Figure]:
    data = folder / "runners"
    key = new_key(data)
    with model_server() as model_port, fake_services() as addresses, running(data, key) as host:
        books = Books()
        baseline = await _load(host, model_agent(host, model_port), books, size)
        figures = [_rate("local-agent", baseline)]
        for name, (address, path, settings) in SETTINGS.items():
            plugin = {"source": str(REPOSITORY / "plugins" / name), "granted": ["network"]}
            host.request("POST", "/api/v1/plugins/install", plugin)
            agent = host.make_agent(name, {address: f"{addresses[name]}{path}", **settings})
            load = await _load(host, agent, books, size)
            ratio = load.rate / baseline.rate
            figures += [
                _rate(name, load),
                Figure(f"{name}: rate against local-agent", ratio, "times", Target(MIN_RATE, "at least")),
            ]
    note = "; ".join(books.wrong[:3]) or f"{len(books.sent):,} messages"
    return [*figures, Figure("lost or mismatched", len(books.wrong) + books.lost, "", Target(0), note)]


async def _load(host: Host, agent_id: str, books: Books, size: Size) -> Load:
    load = Load()
    async with connected(make_bot(host, agent_id), books) as peer:
        users = users_of(peer)
        for _ in range(WARMING):
            await users[0].say()
        for _ in range(size.slices):
            await load.run(users, size.slice_seconds, None)
    return load


def _rate(name: str, load: Load) -> Figure:
    return Figure(
        f"{name}: {USERS} users, rate", load.rate, "/s", note=f"p50 {1000 * percentile(load.latencies, 50):.1f} ms"
    )


@contextmanager
def fake_services() -> Iterator[dict[str, str]]:
    """Runs the fakes of all services, and yields the address of each."""
    child = str(Path(__file__).with_name("service_child.py"))
    with subprocess.Popen([sys.executable, child], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            announced = process.stdout.readline()
            if not announced:
                raise Unmeasurable("the fake services did not start")
            yield json.loads(announced)
        finally:
            process.kill()
